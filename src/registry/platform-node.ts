/** Node, when the plugin runs as a command of `fairlead`. */
import { createHash, createHmac } from "node:crypto";
import { read } from "node:fs";
import { socketTransport } from "../runtime/http.ts";
import type { Platform } from "./platform.ts";

/** Sends by a connection of its own: a run makes two or three requests, each to another host. */
const connect: Platform["connect"] = (request, { proxy, ca }) => {
  const egress = { proxyFor: () => (proxy === undefined ? undefined : new URL(proxy)), roots: async () => ca };
  return socketTransport({ connectTimeoutMs: 10_000, egress }).send(request);
};

/** The platform of the command. */
export const nodePlatform: Platform = {
  connect,
  hashing: {
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    hmac: (key, text) => createHmac("sha256", key).update(text).digest(),
  },
};

/** Standard input to its end, or as much as `limit` bytes and some. Read by descriptor: a stream would hold the process. */
export async function readStdin(limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length <= limit) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = await new Promise<number>((resolve, reject) => {
      read(0, chunk, 0, chunk.length, null, (error, bytes) => (error && error.code !== "EOF" ? reject(error) : resolve(bytes ?? 0)));
    });
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    length += count;
  }
  return Buffer.concat(chunks);
}
