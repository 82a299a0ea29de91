/** Any transport behind a socket: the embedded cluster, the simulated cloud, one machine's metadata service. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { HttpRequest, HttpResponse, Transport } from "../runtime/http.ts";

export interface ServeOptions {
  /** 0 picks a free port. */
  readonly port?: number;
  readonly host?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A server that runs until it is closed. */
export interface Served {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

/** Listens, and answers through the transport until closed. A rejection resets the connection. */
export async function serveTransport(transport: Transport, options: ServeOptions = {}): Promise<Served> {
  const { host = "127.0.0.1", port = 0, tls } = options;
  const listener: RequestListener = (incoming, outgoing) => void answer(transport, incoming, outgoing);
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  // Clients keep connections for as long as they like; one that is closed under a new request looks like a fault.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const at = (server.address() as AddressInfo).port;
  return {
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${at}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(transport: Transport, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort(new Error("the client went away")));
  try {
    await send(await transport(await requestOf(incoming, gone.signal)), outgoing, gone.signal);
  } catch {
    // What a client on the other side of a network would see of anything that went wrong here.
    incoming.socket.resetAndDestroy();
  }
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<HttpRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]);
  return {
    method: incoming.method ?? "GET",
    url: new URL(incoming.url ?? "/", `http://${incoming.headers.host ?? "localhost"}`),
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(body.length > 0 && { body }),
    signal,
  };
}

async function send(response: HttpResponse, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  // Node decides on the framing of what it sends.
  const { "transfer-encoding": _, ...headers } = response.headers;
  outgoing.writeHead(response.status, headers);
  outgoing.flushHeaders();
  for await (const chunk of response.body) {
    if (!outgoing.write(chunk)) await drained(outgoing, gone);
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.once("drain", resolve);
    gone.addEventListener("abort", () => reject(gone.reason), { once: true });
  });
}
