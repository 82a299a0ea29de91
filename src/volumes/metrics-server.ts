/** The port that metrics are scraped from. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Registry } from "prom-client";
import type { Clock } from "../runtime/world.ts";

export interface MetricsServerOptions {
  /** `host:port`, where the host may be left out. */
  readonly address: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** So many scrapes a second in the long run, and so many at once. */
const ratePerSecond = 5;
const burst = 10;
const readLimitMs = 3_000;

/** Listens until closed. Rejects when the port cannot be had. */
export async function serveMetrics(registry: Registry, clock: Clock, options: MetricsServerOptions): Promise<{ close(): void }> {
  const allow = limiter(clock);
  const listener: RequestListener = (request, response) => {
    // A process that answers is alive: there is nothing else for a node to probe.
    if (request.url?.split("?")[0] === "/healthz") return void response.writeHead(200).end("ok");
    if (request.url?.split("?")[0] !== "/metrics") return void response.writeHead(404).end("404 page not found\n");
    if (!allow()) return void response.writeHead(429).end("Rate limit exceeded\n");
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
  const server =
    options.certFile === ""
      ? createServer(listener)
      : createSecureServer({ cert: await readFile(options.certFile), key: await readFile(options.keyFile) }, listener);
  server.requestTimeout = readLimitMs;
  server.headersTimeout = readLimitMs;
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(options.address) ?? [];
  if (port === "") throw new Error(`--http-endpoint ${JSON.stringify(options.address)} is not of the form host:port`);
  server.listen(Number(port), host.replace(/^\[|\]$/g, "") || undefined);
  await once(server, "listening");
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function limiter(clock: Clock): () => boolean {
  let tokens = burst;
  let at = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - at) / 1000) * ratePerSecond);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
