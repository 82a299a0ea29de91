/** The cloud behind a socket, for the aws command, other programs and integration tests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpRequest, HttpResponse, Transport } from "../../runtime/http.ts";
import type { Cloud } from "./cloud.ts";
import { controlTransport, isControl } from "./controls/http.ts";
import { ConnectionCut } from "./errors.ts";

/** A server that runs until it is closed. */
export interface Served {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the cloud, and its controls below `/_fairlead/`, on loopback; port 0 takes a free one. */
export function serve(cloud: Cloud, port = 0): Promise<Served> {
  const controls = controlTransport(cloud);
  return serveTransport((request) => (isControl(request.url) ? controls(request) : cloud.handle(request)), port);
}

/** Serves any transport, such as the metadata service of one instance. A rejection resets the connection. */
export async function serveTransport(transport: Transport, port = 0): Promise<Served> {
  const server = createServer((incoming, outgoing) => {
    void answer(transport, incoming, outgoing);
  });
  // Clients keep connections for as long as they like; a reset in the middle of nothing would look like a fault.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(transport: Transport, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort(new ConnectionCut()));
  try {
    const response = await transport(await requestOf(incoming, gone.signal));
    await send(response, outgoing);
  } catch {
    // What a client on the other side of a network would see of anything that went wrong here.
    incoming.socket.resetAndDestroy();
  }
}

async function requestOf(incoming: IncomingMessage, signal: AbortSignal): Promise<HttpRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]);
  return {
    method: incoming.method ?? "GET",
    url: new URL(incoming.url ?? "/", `http://${incoming.headers.host ?? "localhost"}`),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: Buffer.concat(chunks),
    signal,
  };
}

async function send(response: HttpResponse, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, { ...response.headers });
  for await (const chunk of response.body) outgoing.write(chunk);
  outgoing.end();
}
