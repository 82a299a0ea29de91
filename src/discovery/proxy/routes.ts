/** What the proxy answers: its own liveness, and what upstreams say. */

import type { Transport } from "../../runtime/http.ts";
import type { Log } from "../../runtime/log.ts";
import { type Route, type RouteAnswer, type RouteRequest, RouteTable, text } from "../../runtime/routes.ts";
import { type ProxyConfig, upstreamFor } from "./config.ts";

/** Of an answer that is passed on; the connection's own and what the body is encoded with are made anew. */
const passedOn = ["content-type", "content-encoding", "last-modified", "etag", "cache-control"];

/** Every path, by the configuration. */
export class ProxyRoutes extends RouteTable {
  readonly #config: ProxyConfig;
  readonly #send: Transport;
  readonly #log: Log;

  constructor(config: ProxyConfig, livezPath: string, send: Transport, log: Log) {
    super();
    this.#config = config;
    this.#send = send;
    this.#log = log;
    if (livezPath !== "") this.add({ path: livezPath, answer: () => text(200, "OK") });
  }

  override find(path: string): Route | undefined {
    const own = super.find(path);
    if (own !== undefined || upstreamFor(this.#config, path) === undefined) return own;
    return { path, methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], answer: (request) => this.#forward(request) };
  }

  /** The caller's token stays here: what it gives access to has been decided, and the upstream has no use for it. */
  async #forward({ method, path, query, body, signal }: RouteRequest): Promise<RouteAnswer> {
    const { upstream } = upstreamFor(this.#config, path)!;
    const url = new URL(upstream);
    url.pathname = `${upstream.pathname.replace(/\/$/, "")}${path}`;
    url.search = query.toString();
    try {
      const answer = await this.#send({ method, url, headers: { accept: "*/*" }, ...(body !== "" && { body }), signal, direct: true });
      const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => passedOn.includes(name)));
      return { status: answer.status, headers, body: answer.body };
    } catch (error) {
      signal.throwIfAborted();
      this.#log.error("the upstream does not answer", { upstream: upstream.href, error });
      return text(502, "the upstream does not answer; see the log\n");
    }
  }
}
