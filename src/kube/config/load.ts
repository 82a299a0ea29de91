/** Which API server, with which credentials: the flags, the kubeconfig file, the pod's service account. */
import { delimiter, join } from "node:path";
import type { World } from "../../runtime/world.ts";
import type { Access, KubeConfig } from "./access.ts";
import { KubeConfigError } from "./access.ts";
import type { RunProgram } from "./exec-plugin.ts";
import { authorityObjection, Rotated, tokenObjection } from "./rotated.ts";
import { serverUrl } from "./server-url.ts";

export interface KubeConfigOptions {
  /** `--kubeconfig`. */
  readonly kubeconfig?: string;
  /** `--context`: in place of the current one. */
  readonly context?: string;
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
    const { configFromFiles } = await import("./file.ts");
    return (await configFromFiles(world, { paths: [options.kubeconfig], missing: "refused" }, options))!;
  }
  return withoutFile(world, options);
}

/**
 * The configuration that kubectl would use, for the commands of people: the file asked for; else those of `$KUBECONFIG`,
 * merged; else `~/.kube/config`; and where there is nothing in them the service account of the pod.
 */
export async function discoverKubeConfig(world: World, options: KubeConfigOptions): Promise<KubeConfig> {
  if (options.kubeconfig) return loadKubeConfig(world, options);
  const paths = defaultPaths(world.environment);
  const { configFromFiles } = await import("./file.ts");
  const config = await configFromFiles(world, { paths, missing: "skipped" }, options);
  if (config !== undefined) return config;
  if (options.context) throw new KubeConfigError(`--context names "${options.context}", and there is no kubeconfig: ${lookedAt(paths)}`);
  return withoutFile(world, options, { namespace: await podNamespace(world), tried: `; ${lookedAt(paths)}` });
}

/** Where kubectl looks, in the order of precedence. */
function defaultPaths({ KUBECONFIG, HOME }: World["environment"]): readonly string[] {
  if (KUBECONFIG) return [...new Set(KUBECONFIG.split(delimiter).filter((path) => path !== ""))];
  return HOME ? [join(HOME, ".kube", "config")] : [];
}

function lookedAt(paths: readonly string[]): string {
  return paths.length > 0 ? `there is nothing in ${paths.join(", ")}` : "neither KUBECONFIG nor HOME is set";
}

/** What is known besides where commands of people look. */
interface Discovery {
  readonly namespace?: string | undefined;
  /** For the message when there is nothing. */
  readonly tried?: string;
}

function withoutFile(world: World, { master }: KubeConfigOptions, discovery: Discovery = {}): Promise<KubeConfig> | KubeConfig {
  return master ? anonymous(master, "--master") : inCluster(world, discovery);
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

async function inCluster(world: World, { namespace, tried = "" }: Discovery): Promise<KubeConfig> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, KUBERNETES_MASTER: master } = world.environment;
  if (!host || !port) {
    if (master) return anonymous(master, "KUBERNETES_MASTER");
    throw new KubeConfigError(`${nothingProvided}, passing --kubeconfig, or running in a pod${tried}`);
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
    namespace,
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

/** As kubectl finds it in a pod. */
async function podNamespace({ environment, files }: World): Promise<string | undefined> {
  if (environment.POD_NAMESPACE) return environment.POD_NAMESPACE;
  const content = await files.read(`${serviceAccountFolder}/namespace`).catch(() => new Uint8Array());
  return Buffer.from(content).toString("utf8").trim() || undefined;
}
