/** Which API server, with which credentials: the flags, the kubeconfig file, the pod's service account. */
import type { World } from "../../runtime/world.ts";
import type { Access, KubeConfig } from "./access.ts";
import { KubeConfigError } from "./access.ts";
import type { RunProgram } from "./exec-plugin.ts";
import { authorityObjection, Rotated, tokenObjection } from "./rotated.ts";
import { serverUrl } from "./server-url.ts";

export interface KubeConfigOptions {
  /** `--kubeconfig`. */
  readonly kubeconfig?: string;
  /** `--master`: overrides the server of the kubeconfig file. */
  readonly master?: string;
  /** How credential plugins are run; the machine's own programs unless told otherwise. */
  readonly run?: RunProgram;
}

const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
const nothingProvided = "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/**
 * The configuration the flags ask for; with neither flag, the service account of the pod we run in. Rejects with
 * `KubeConfigError` when there is none or it cannot be used.
 */
export async function loadKubeConfig(world: World, options: KubeConfigOptions): Promise<KubeConfig> {
  if (options.kubeconfig) {
    // In a pod there is no file, and no need to load what reads and checks one: 15 MB.
    const { configFromFile } = await import("./file.ts");
    return configFromFile(world, options.kubeconfig, options);
  }
  if (options.master) return anonymous(options.master, "--master");
  return inCluster(world);
}

/** A token that was made for us. */
export interface Bearer {
  readonly token: string;
}

/** The same server and trust, but another bearer token and no client certificate, which would outrank it. */
export function withBearer(
  base: KubeConfig,
  bearers: { get(signal: AbortSignal): Promise<Bearer>; forget(bearer: unknown): void },
  origin: string,
): KubeConfig {
  return {
    server: base.server,
    origin,
    async access(signal) {
      const [{ tls }, bearer] = await Promise.all([base.access(signal), bearers.get(signal)]);
      const { cert: _cert, key: _key, ...trust } = tls;
      return { headers: { authorization: `Bearer ${bearer.token}` }, tls: trust, credential: bearer };
    },
    refused: ({ credential }) => bearers.forget(credential),
    tlsFailed: () => base.tlsFailed(),
    get concern() {
      return base.concern;
    },
  };
}

function anonymous(server: string, origin: string): KubeConfig {
  const access: Access = { headers: {}, tls: {} };
  return { server: serverUrl(server, false, origin), origin, access: async () => access, refused() {}, tlsFailed() {} };
}

async function inCluster(world: World): Promise<KubeConfig> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, KUBERNETES_MASTER: master } = world.environment;
  if (!host || !port) {
    if (master) return anonymous(master, "KUBERNETES_MASTER");
    throw new KubeConfigError(`${nothingProvided}, passing --kubeconfig, or running in a pod`);
  }
  const use = "the pod's service account";
  const token = new Rotated(world, [{ path: `${serviceAccountFolder}/token`, use }], tokenObjection);
  const ca = new Rotated(world, [{ path: `${serviceAccountFolder}/ca.crt`, use }], authorityObjection);
  try {
    await Promise.all([token.read(), ca.read()]);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown error";
    throw new KubeConfigError(`${nothingProvided} (in-cluster: ${why}; is automountServiceAccountToken off?)`, { cause });
  }
  return {
    server: new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
    origin: use,
    async access() {
      const [bearer, authority] = await Promise.all([token.text(), ca.text()]);
      return { headers: { authorization: `Bearer ${bearer.trim()}` }, tls: { ca: authority } };
    },
    refused: () => token.forget(),
    tlsFailed: () => ca.forget(),
    get concern() {
      return token.concern ?? ca.concern;
    },
  };
}
