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

/** Starts etcd on the cluster's folder and waits until it answers. */
export async function startEtcd(world: World, supervision: Supervision, binary: string, folder: string): Promise<Etcd> {
  const socket = join(folder, "etcd.sock");
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
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      // Nobody will ever join: a socket beside the other is enough.
      "--listen-peer-urls=unix://etcd-peer.sock",
      // The data is worth nothing after the run, so the disk need not confirm it.
      "--unsafe-no-fsync",
      "--log-level=warn",
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
