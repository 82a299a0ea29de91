/** The embedded API over a socket, for kubectl and everybody else who speaks HTTP. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Transport } from "../../../runtime/http.ts";

export interface ServeOptions {
  /** 0 picks a free port. */
  readonly port?: number;
  readonly host?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens, and answers through the transport until closed. */
export async function serve(send: Transport, options: ServeOptions = {}): Promise<Served> {
  const host = options.host ?? "127.0.0.1";
  const listener: RequestListener = (request, response) => void exchange(send, request, response);
  const server = options.tls === undefined ? createServer(listener) : createSecureServer(options.tls, listener);
  // Clients keep connections for as long as they like; one that is closed under a new request looks like a fault.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function exchange(send: Transport, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client went away")));
  try {
    const body = await read(request);
    const answer = await send({
      method: request.method ?? "GET",
      url: new URL(request.url ?? "/", "http://embedded"),
      headers: flat(request),
      ...(body.length === 0 ? {} : { body }),
      signal: gone.signal,
    });
    const { "transfer-encoding": _, ...headers } = answer.headers;
    response.writeHead(answer.status, headers);
    response.flushHeaders();
    for await (const chunk of answer.body) {
      if (!response.write(chunk)) await drained(response, gone.signal);
    }
    response.end();
  } catch {
    // Whatever went wrong, to a client it is a connection that broke.
    response.destroy();
  }
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function flat(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    response.once("drain", resolve);
    gone.addEventListener("abort", () => reject(gone.reason), { once: true });
  });
}
