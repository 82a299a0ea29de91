/** One etcd member for one cluster, on a unix socket in the cluster's folder: no port to fight over, nobody else can read it. */
import { request } from "node:http";
import { join } from "node:path";
import type { World } from "../../../runtime/world.ts";
import { startServer } from "./server-process.ts";
import type { Supervision } from "./supervision.ts";

export interface Etcd {
  /** As `--etcd-servers` wants it. */
  readonly url: string;
  /** Forgets every revision but the newest: whoever asks for an older one gets "gone". */
  compact(): Promise<void>;
}

/** The data is worth nothing after the run, so the disk need not confirm it. */
const sparingTheDisk: readonly string[] = ["--unsafe-no-fsync"];

/** Starts etcd on the cluster's folder and waits until it answers. */
export async function startEtcd(
  world: World,
  supervision: Supervision,
  binary: string,
  folder: string,
  flags: readonly string[] = sparingTheDisk,
): Promise<Etcd> {
  // Of the form host:port, which etcd before 3.5 wants of sockets too; listened on in its working folder.
  const name = "etcd:0";
  const socket = join(folder, name);
  const url = `unix://${socket}`;
  const ask = (path: string, body?: unknown) => askSocket(socket, path, body);
  await startServer({
    world,
    supervision,
    name: "etcd",
    command: binary,
    args: [
      "--name=default",
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=unix://${name}`,
      `--advertise-client-urls=unix://${name}`,
      // Nobody will ever join: a socket beside the other is enough.
      "--listen-peer-urls=unix://etcd-peer:0",
      "--log-level=warn",
      ...flags,
    ],
    folder,
    ready: async () => ((await ask("/health")) as { health?: string }).health === "true",
  });
  return {
    url,
    async compact() {
      const { header } = (await ask("/v3/kv/range", { key: "AA==" })) as { header: { revision: string } };
      await ask("/v3/kv/compaction", { revision: header.revision, physical: true });
    },
  };
}

/** etcd's JSON gateway: GET without a body, POST with one. */
function askSocket(socketPath: string, path: string, body?: unknown): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const call = request({ socketPath, path, method: body ? "POST" : "GET", agent: false }, async (response) => {
    try {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      if (response.statusCode !== 200) throw new Error(`etcd ${path}: ${response.statusCode} ${text}`);
      resolve(JSON.parse(text));
    } catch (error) {
      reject(error);
    }
  });
  call.once("error", reject);
  call.end(body ? JSON.stringify(body) : undefined);
  return promise;
}
