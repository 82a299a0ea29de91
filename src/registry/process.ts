/** This process, as the program sees it. */
import { read, writeSync } from "node:fs";
import { realWorld } from "../runtime/world.ts";
import type { Platform } from "./platform.ts";
import type { Process } from "./program.ts";

/** The real standard streams and the real world. */
export function thisProcess(platform: Platform, version: string): Process {
  return {
    world: realWorld(),
    platform,
    version,
    pid: process.pid,
    readStdin,
    writeStdout: (text) => writeAll(1, text),
    writeStderr: (text) => writeAll(2, text),
  };
}

/** Standard input to its end, or as much as `limit` bytes and some. Reads by descriptor: `process.stdin` costs more to set up than the whole read. */
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

/** Writes everything before it returns, so that ending the process right after loses nothing. */
function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      // A pipe that is full for the moment. Kubelet reads on; nothing else is left to do here anyway.
      if ((error as { readonly code?: unknown }).code !== "EAGAIN") return;
    }
  }
}
