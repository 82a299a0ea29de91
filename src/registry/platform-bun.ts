/** Bun, inside the single executable: its built-in `fetch` and hashes need no module to be loaded. */
import type { HttpResponse } from "../runtime/http.ts";
import type { Platform } from "./platform.ts";
import type { Streams } from "./program.ts";

/** Of Bun's own functions, those used here. */
declare const Bun: {
  readonly stdin: { stream(): AsyncIterable<Uint8Array> };
  readonly stdout: object;
  write(to: object, text: string): Promise<number>;
  readonly CryptoHasher: new (
    algorithm: "sha256",
    key?: string | Uint8Array,
  ) => { update(text: string): { digest(): Uint8Array; digest(encoding: "hex"): string } };
};

/** What Bun's `fetch` understands beyond the standard. */
interface BunRequestInit extends RequestInit {
  /** A URL, or `false` to pass no proxy whatever the environment says. */
  readonly proxy: string | false;
  readonly tls: { readonly rejectUnauthorized: true; readonly ca?: string };
}

/** With nothing left for Bun to take from the environment. */
const connect: Platform["connect"] = async (request, route) => {
  const init: BunRequestInit = {
    method: request.method,
    headers: request.headers,
    redirect: "manual",
    proxy: route.proxy ?? false,
    tls: { rejectUnauthorized: true, ...(route.ca === undefined ? {} : { ca: route.ca }) },
    ...(request.body === undefined ? {} : { body: request.body as string }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  };
  const response = await fetch(request.url, init);
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    headers[name] = value;
  });
  return { status: response.status, headers, body: bodyOf(response) } satisfies HttpResponse;
};

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body !== null) yield* response.body;
}

/** The platform of the single executable. */
export const bunPlatform: Platform = {
  connect,
  hashing: {
    sha256: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    hmac: (key, text) => new Bun.CryptoHasher("sha256", key).update(text).digest(),
  },
};

/** The standard streams, without `node:fs` and `process.stdout`, which would double the time to the first request. */
export const bunStreams: Streams = {
  async readStdin(limit) {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of Bun.stdin.stream()) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) break;
    }
    return Buffer.concat(chunks);
  },
  async writeStdout(text) {
    await Bun.write(Bun.stdout, text);
  },
  writeStderr: (text) => console.error(text.trimEnd()),
};
