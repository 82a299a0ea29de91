/** A plain HTTP server for what everybody may read: health and metrics of programs whose reference serves them so. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Host } from "./host.ts";
import { type RouteTable, text } from "./routes.ts";
import { CannotListen, type Serving, stopServer } from "./serving.ts";

export interface PlainServingOptions {
  /** `:8080`, `127.0.0.1:8080`, `[::1]:8080`. */
  readonly address: string;
  /** The flag that says it, for messages. */
  readonly flag: string;
  readonly routes: RouteTable;
}

/** Reads an address as Go does; undefined when it is none. */
export function parseListenAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain = "", portText = ""] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(address) ?? [];
  const port = Number(portText);
  return portText === "" || port > 65_535 ? undefined : { host: bracketed ?? plain, port };
}

/** Binds the address and serves GET. Rejects with `CannotListen`. */
export async function servePlainly(host: Host, { address, flag, routes }: PlainServingOptions): Promise<Serving> {
  const where = parseListenAddress(address);
  if (where === undefined)
    throw new CannotListen(`${flag} ${JSON.stringify(address)} is not an address: host:port, or :port for all interfaces`);
  const log = host.log.with({ logger: "serving" });
  const stopping = new AbortController();
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 30_000, maxHeaderSize: 16 * 1024 }, (request, response) => {
    answer(routes, request, response, stopping.signal).catch((error: unknown) => {
      log.error("cannot answer a request", { path: request.url, error });
      response.destroy();
    });
  });
  server.maxConnections = 256;
  try {
    const listening = once(server, "listening");
    server.listen({ port: where.port, ...(where.host !== "" && { host: where.host }) });
    await listening;
  } catch (cause) {
    throw new CannotListen(`failed to listen on ${address}: ${(cause as Error).message}; choose another ${flag}`, { cause });
  }
  const { port } = server.address() as AddressInfo;
  log.info("serving", { address, port });
  return {
    port,
    stop: (deadline) => stopServer(server, stopping, deadline),
  };
}

async function answer(routes: RouteTable, request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
  request.resume();
  const url = URL.parse(request.url ?? "/", "http://localhost");
  const route = url && routes.find(url.pathname);
  const isRead = request.method === "GET" || request.method === "HEAD";
  const reply = !route
    ? text(404, "404 page not found\n")
    : !isRead || (route.methods && !route.methods.includes("GET"))
      ? text(405, "only GET is supported here\n")
      : await route.answer({ method: "GET", path: url.pathname, query: url.searchParams, body: "", user: undefined, signal });
  response.writeHead(reply.status, { ...reply.headers });
  if (request.method !== "HEAD") {
    if (typeof reply.body === "string" || reply.body instanceof Uint8Array) response.write(reply.body);
    else for await (const chunk of reply.body) response.write(chunk);
  }
  response.end();
}
