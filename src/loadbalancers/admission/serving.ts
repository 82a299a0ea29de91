/** The port of the webhooks: open on every replica as soon as there is a certificate to serve. */
import { secrets } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Certificates, loadCertificates, type ServingCertificate } from "../../runtime/certificates.ts";
import { certifiedClient, parseAuthorities } from "../../runtime/client-certificate.ts";
import type { AccessRequest, Decision } from "../../runtime/delegated-auth.ts";
import type { HealthChecks } from "../../runtime/health.ts";
import type { Host } from "../../runtime/host.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { RouteTable } from "../../runtime/routes.ts";
import { type Serving, serve } from "../../runtime/serving.ts";
import { nodeTlsOptions } from "../../runtime/tls-options.ts";
import { sleep } from "../../runtime/world.ts";
import type { TrustPlace } from "./trust-controller.ts";
import { trustIn } from "./trust-controller.ts";
import { owns } from "./trust-plan.ts";
import { type Webhook, webhookRoutes } from "./webhook.ts";

/** Where the certificate comes from: files that somebody else keeps, or the Secret that the leader writes. */
export type CertificateSource =
  | { readonly kind: "files"; readonly certFile: string; readonly keyFile: string }
  | { readonly kind: "secret"; readonly place: Pick<TrustPlace, "namespace" | "secret"> };

export interface WebhookServingOptions {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly health: HealthChecks;
  readonly port: number;
  readonly source: CertificateSource;
  /** Authorities of API servers, in PEM: only whom they vouch for is answered. Undefined: everybody is. */
  readonly clientAuthorities?: string;
  readonly webhooks: readonly Webhook[];
  /** Of the counters of what could not be judged; the load balancer controller's where it is not given. */
  readonly metricPrefix?: string;
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
}

/** The largest object, old and new, with what comes around them. */
const bodyLimit = 8 * 1024 * 1024;
/** Only suites that encrypt and authenticate in one. */
const tls = nodeTlsOptions({
  cipherSuites: [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  ],
});

/** Begins to serve in its own time: nothing of the process waits for it. */
export async function serveWebhooks(options: WebhookServingOptions): Promise<Pick<Serving, "stop">> {
  const { host, health, webhooks, metricPrefix, port, signal } = options;
  const routes = new RouteTable();
  routes.add(...webhookRoutes(webhooks, host, metricPrefix));
  let problem: string | undefined = "no certificate yet";
  health.add({ name: "ready-webhook", probes: ["readyz"], problem: () => problem });
  const start = async (): Promise<Serving> => {
    const decide = async (request: AccessRequest) => decision(request, options);
    for (;;) {
      try {
        const certificates = await open(options, (why) => {
          problem = why;
        });
        const serving = await serve(host, { bindAddress: "", port, certificates, tls, routes, decide, bodyLimit });
        problem = undefined;
        return serving;
      } catch (error) {
        signal.throwIfAborted();
        const why = messageOf(error);
        if (problem !== why) host.log.error("webhooks are not served; retrying", { error, retryInMs: waitMs });
        problem = why;
        await sleep(host.world.clock, waitMs, signal);
      }
    }
  };
  const opening = start();
  // Rejects when the process ends.
  opening.catch(() => {});
  return {
    async stop(deadline) {
      const serving = await Promise.race([opening.catch(() => undefined), aborted(deadline)]);
      await serving?.stop(deadline);
    },
  };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

async function open({ host, kube, source, signal }: WebhookServingOptions, say: (problem: string) => void): Promise<Certificates> {
  if (source.kind === "files") return loadCertificates(host, { files: source });
  const { clock } = host.world;
  for (let told = ""; ; ) {
    const found = await certificateIn(kube, source.place, signal).catch(messageOf);
    if (typeof found !== "string") return secretCertificates(host, kube, source.place, found);
    say(found);
    if (told !== found) host.log.info("webhooks wait for their certificate", { why: found });
    told = found;
    await sleep(clock, waitMs, signal);
  }
}

const waitMs = 5_000;
const refreshMs = 60_000;

/** Taken up again whenever the leader has replaced them. */
function secretCertificates(
  host: Host,
  kube: KubeClient,
  place: Pick<TrustPlace, "namespace" | "secret">,
  first: ServingCertificate,
): Certificates {
  let current = first;
  const follow = async (onChange: () => void, signal: AbortSignal) => {
    for (;;) {
      await sleep(host.world.clock, refreshMs, signal);
      const found = await certificateIn(kube, place, signal).catch(messageOf);
      if (typeof found === "string") host.log.v(2)?.warn("the certificate of webhooks cannot be read; the old one stays", { why: found });
      else if (found.cert !== current.cert) {
        current = found;
        onChange();
        host.log.info("serving certificate of webhooks was replaced");
      }
    }
  };
  return {
    fallback: () => current,
    named: () => [],
    watch: (onChange, signal) => void follow(onChange, signal).catch(() => {}),
  };
}

/** The certificate, or why there is none. */
async function certificateIn(
  kube: KubeClient,
  { namespace, secret: name }: Pick<TrustPlace, "namespace" | "secret">,
  signal: AbortSignal,
): Promise<ServingCertificate | string> {
  const trust = trustIn(await kube.get(secrets, { namespace, name }, { signal }));
  if (trust === undefined) return `Secret ${namespace}/${name} has no certificate yet: the leader makes it`;
  const [certificate] = parseAuthorities(trust.cert);
  if (certificate === undefined || !owns(certificate, trust.key)) return `Secret ${namespace}/${name} has no certificate with its key`;
  return { cert: trust.cert, key: trust.key, names: [] };
}

/** Whoever can reach the port may ask, unless authorities are given: an answer tells nothing of the cluster. */
function decision({ certificate }: AccessRequest, { host, clientAuthorities }: WebhookServingOptions): Decision {
  const client = { name: "webhook client", groups: [] };
  if (clientAuthorities === undefined) return { kind: "allowed", user: client };
  const known = certificate && certifiedClient(certificate, parseAuthorities(clientAuthorities), host.world.clock.now());
  return known ? { kind: "allowed", user: { name: known.commonName, groups: known.organizations } } : { kind: "unauthorized" };
}
