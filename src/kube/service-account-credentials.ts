/** A service account of its own for each controller, so that each has only its own rights and its own name in audits. */
import { openGate } from "../runtime/gate.ts";
import { jittered, sleep } from "../runtime/world.ts";
import { namespaces, serviceAccounts } from "./builtin.ts";
import type { KubeClient } from "./client.ts";
import { Renewed } from "./config/access.ts";
import { type Bearer, withBearer } from "./config/load.ts";
import { isApiError } from "./errors.ts";
import type { TokenRequest } from "./types.ts";

export interface ServiceAccountOptions {
  readonly namespace: string;
  readonly name: string;
  readonly userAgent: string;
}

const tokenLastsSeconds = 3_600;
/** Against clocks that disagree: a token is taken to last at least this long. */
const shortestLifeMs = 600_000;
const triesAtMost = 5;
const firstPauseMs = 500;

/** The name a service account goes by in audits, and its client in user agents. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/**
 * A client that speaks as a service account, made if it does not exist yet, with tokens that are fetched when needed
 * and renewed when a fifth of their life is left.
 */
export function asServiceAccount(base: KubeClient, options: ServiceAccountOptions): KubeClient {
  const { clock } = base.host.world;
  const bearers = new Renewed<Bearer>(clock, async (signal) => {
    const askedAt = clock.now();
    const { status } = await patiently(base, signal, () => requestToken(base, options, signal));
    if (!status?.token) throw new Error(`the API server gave no token for service account ${options.namespace}/${options.name}`);
    const lifeMs = Math.max(shortestLifeMs, Date.parse(status.expirationTimestamp ?? "") - askedAt || 0);
    return { value: { token: status.token }, expiresAtMs: askedAt + lifeMs * 0.8 };
  });
  const user = serviceAccountUser(options.namespace, options.name);
  return base.as({ config: withBearer(base.config, bearers, `a token of ${user}`), userAgent: options.userAgent });
}

async function requestToken(base: KubeClient, { namespace, name }: ServiceAccountOptions, signal: AbortSignal): Promise<TokenRequest> {
  await ensureServiceAccount(base, namespace, name, signal);
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences: [], expirationSeconds: tokenLastsSeconds },
  };
  // Asking for a token changes nothing in the cluster: who may not write may still read under this name.
  return base.as({ gate: openGate() }).createSubresource(serviceAccounts, { namespace, name, subresource: "token" }, request, { signal });
}

async function ensureServiceAccount(base: KubeClient, namespace: string, name: string, signal: AbortSignal): Promise<void> {
  try {
    await base.get(serviceAccounts, { namespace, name }, { signal });
    return;
  } catch (error) {
    if (!isApiError(error, "not-found")) throw error;
  }
  const account = () => createUnlessThere(base.create(serviceAccounts, { metadata: { namespace, name } }, { signal }));
  try {
    await account();
  } catch (error) {
    // Creating says "not found" of the namespace alone. Only then is it made: as a rule it exists, and is not ours to make.
    if (!isApiError(error, "not-found")) throw error;
    await createUnlessThere(base.create(namespaces, { metadata: { name: namespace } }, { signal }));
    await account();
  }
}

async function createUnlessThere(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isApiError(error, "already-exists")) throw error;
  }
}

/** Tries again after refusals that may pass, a few times. */
async function patiently<T>(base: KubeClient, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { clock, random } = base.host.world;
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (!isApiError(error) || tried >= triesAtMost) throw error;
      await sleep(clock, jittered(random, firstPauseMs * 2 ** (tried - 1), 0.1), signal);
    }
  }
}
