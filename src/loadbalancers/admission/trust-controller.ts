/** Keeps the certificates of webhooks: makes them, publishes whom API servers are to trust, and replaces them in time. */
import { secrets } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { KubeObject, Stored } from "../../kube/resource.ts";
import type { Secret } from "../../kube/types.ts";
import { again, type Controller, type Outcome } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import { hostOf, mutatingWebhookConfigurations, validatingWebhookConfigurations } from "./configurations.ts";
import { planTrust, type WebhookTrust } from "./trust-plan.ts";

/** Where certificates are kept, and which configurations tell API servers about them. */
export interface TrustPlace {
  readonly namespace: string;
  readonly secret: string;
  /** The name that both configurations have. */
  readonly configuration: string;
}

export interface TrustParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly place: TrustPlace;
  /** Names of the webhooks that are ours; whatever else a configuration has is left alone. */
  readonly webhooks: readonly string[];
}

/** How often Secret and configurations are looked at. Somebody may have applied them anew. */
const lookMs = 60_000;
const key = "webhooks";

export function webhookTrustController(parts: TrustParts): Controller {
  return {
    name: "webhookTrust",
    concurrency: 1,
    backoff: { baseMs: 1_000, maxMs: lookMs },
    sources: [{ name: "start", start: async (enqueue) => enqueue(key) }],
    reconcile: (_key, signal) => keepTrust(parts, signal),
  };
}

const phases = [mutatingWebhookConfigurations, validatingWebhookConfigurations];

async function keepTrust({ host, kube, place, webhooks }: TrustParts, signal: AbortSignal): Promise<Outcome> {
  const { clock, random } = host.world;
  const { namespace, secret: name, configuration } = place;
  const configured = await Promise.all(phases.map((of) => unlessMissing(kube.get(of, { name: configuration }, { signal }))));
  const own = configured.map((found) => (found?.webhooks ?? []).filter((each) => webhooks.includes(each.name)));
  const hosts = [...new Set(own.flat().flatMap((each) => hostOf(each) ?? []))].toSorted();
  if (hosts.length === 0) return again(lookMs, `no configuration ${configuration} names a webhook of ours`);
  const secret = await kube.get(secrets, { namespace, name }, { signal });
  const present = trustIn(secret);
  const next = planTrust(present, hosts, clock.now(), random);
  const bundle = Buffer.from((next ?? present)!.authorities).toString("base64");
  // Before the certificate is served: an API server that does not know its authority would refuse it.
  for (const [i, of] of phases.entries()) {
    const stale = own[i]!.filter(({ clientConfig }) => clientConfig?.caBundle !== bundle);
    if (stale.length === 0) continue;
    const strategic = { webhooks: stale.map((each) => ({ name: each.name, clientConfig: { caBundle: bundle } })) };
    await kube.patch(of, { name: configuration }, { strategic }, { signal });
    host.log.info("published the authority of webhooks", { configuration, kind: of.kind });
  }
  if (next !== undefined) {
    const merge = { metadata: { resourceVersion: secret.metadata.resourceVersion }, data: dataOf(next) };
    await kube.patch(secrets, { namespace, name }, { merge }, { signal });
    host.log.info("replaced the certificate of webhooks", { keptIn: `${namespace}/${name}`, hosts: hosts.join(", ") });
  }
  return again(lookMs, "certificates are checked periodically");
}

/** The certificates in a Secret; undefined when they are not all there. */
export function trustIn({ data = {} }: Secret): WebhookTrust | undefined {
  const [authorities, authorityKey, cert, key] = ["ca.crt", "ca.key", "tls.crt", "tls.key"].map((each) =>
    Buffer.from(data[each] ?? "", "base64").toString("utf8"),
  );
  return authorities && authorityKey && cert && key ? { authorities, authorityKey, cert, key } : undefined;
}

function dataOf({ authorities, authorityKey, cert, key }: WebhookTrust): Readonly<Record<string, string>> {
  const texts = { "ca.crt": authorities, "ca.key": authorityKey, "tls.crt": cert, "tls.key": key };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
}

async function unlessMissing<T extends KubeObject>(asked: Promise<Stored<T>>): Promise<Stored<T> | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}
