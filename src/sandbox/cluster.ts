/** The cluster of the sandbox: the embedded API, or a real etcd and kube-apiserver, behind one interface. */
import { stringify } from "yaml";
import type { World } from "../runtime/world.ts";
import { AssetsUnavailable, assetsAtHand, obtainAssets } from "./cluster/assets/assets.ts";
import { createEmbeddedCluster } from "./cluster/embedded/cluster.ts";
import { startCluster } from "./cluster/real/cluster.ts";
import { serveTransport } from "./serve.ts";

export interface SandboxCluster {
  readonly kind: "embedded" | "real";
  readonly server: URL;
  /** Of who holds this token, else of an administrator; `server` is what stands before the API server, if anything does. */
  kubeconfig(token?: string, server?: URL): string;
  close(): Promise<void>;
}

export interface SandboxClusterOptions {
  readonly world: World;
  /** `auto` takes the real one when its programs are at hand. */
  readonly kind: "auto" | "embedded" | "real";
  /** Where the embedded API listens; 0 takes a free port. */
  readonly port: number;
  readonly say: (line: string) => void;
}

/** Starts a cluster and waits until it serves. */
export async function startSandboxCluster(options: SandboxClusterOptions): Promise<SandboxCluster> {
  const { world, kind, say } = options;
  if (kind === "embedded") return embedded(options);
  const assets = kind === "real" ? await obtainAssets({ world, say }).catch(hint) : await assetsAtHand(world);
  if (assets === undefined) return embedded(options);
  say("a real etcd and kube-apiserver are available: starting them");
  const cluster = await startCluster({ world, assets });
  return {
    kind: "real",
    server: cluster.apiserver.url,
    kubeconfig: (token, server) => cluster.kubeconfig(token === undefined ? cluster.admin : { token }, server),
    close: () => cluster.stop(),
  };
}

function hint(error: unknown): never {
  if (!(error instanceof AssetsUnavailable)) throw error;
  throw new Error(`${error.message}\nOr do without: --cluster=embedded.`, { cause: error });
}

async function embedded({ world, port }: SandboxClusterOptions): Promise<SandboxCluster> {
  const cluster = createEmbeddedCluster({ world });
  const served = await serveTransport(cluster.send, { port });
  const url = new URL(served.url);
  return {
    kind: "embedded",
    server: url,
    kubeconfig: (token, server = url) => kubeconfig(server, token),
    async close() {
      cluster.close();
      await served.close();
    },
  };
}

function kubeconfig(server: URL, token: string | undefined): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "sandbox", cluster: { server: server.origin } }],
    users: [{ name: "user", user: token === undefined ? {} : { token } }],
    contexts: [{ name: "sandbox", context: { cluster: "sandbox", user: "user" } }],
    "current-context": "sandbox",
  });
}
