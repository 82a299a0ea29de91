/** A small HTTP server without TLS, for probes and scrapers inside the cluster. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "./log.ts";
import type { RouteAnswer } from "./routes.ts";

export interface PlainServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves these paths on all interfaces. A port that cannot be had is said and done without, as the reference does. */
export async function servePlain(
  port: number,
  routes: Readonly<Record<string, () => RouteAnswer | Promise<RouteAnswer>>>,
  log: Log,
): Promise<PlainServer | undefined> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const answer = Object.hasOwn(routes, path) ? routes[path]!() : { status: 404, headers: {}, body: "404 page not found\n" };
    void Promise.resolve(answer).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(typeof body === "string" ? body : ""),
      () => response.writeHead(500).end(),
    );
    request.resume();
  });
  server.headersTimeout = 5_000;
  server.requestTimeout = 5_000;
  try {
    server.listen(port);
    await once(server, "listening");
  } catch (error) {
    log.error("Failed to listen and serve http server", { port, error });
    return undefined;
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
