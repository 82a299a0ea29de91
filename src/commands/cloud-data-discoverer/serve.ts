/** The plain listener of the discoverer. */
import { goDuration } from "../../runtime/flags-go.ts";
import type { Host } from "../../runtime/host.ts";
import { servePlainly } from "../../runtime/plain-serving.ts";
import { type Route, RouteTable, text } from "../../runtime/routes.ts";
import type { Serving } from "../../runtime/serving.ts";
import type { Options } from "./flags.ts";

/** Serves metrics and probes; every other path is a page that says what this is. */
export function serve(options: Options, host: Host, problem: () => string | undefined): Promise<Serving> {
  return servePlainly(host, { address: options["listen-address"], flag: "--listen-address", routes: routesOf(options, host, problem) });
}

/** What is served, apart from the socket. */
export function routesOf(options: Options, { metrics, log }: Host, problem: () => string | undefined): RouteTable {
  const routes = new WithPage(options["discovery-period"]);
  routes.add(
    {
      path: "/metrics",
      answer: async () => ({ status: 200, headers: { "content-type": metrics.contentType }, body: await metrics.metrics() }),
    },
    {
      path: "/healthz",
      answer() {
        const wrong = problem();
        if (wrong === undefined) return text(200, "ok");
        log.error("the probe fails", { problem: wrong });
        return text(503, "false");
      },
    },
    // For a liveness probe: a new process would find the API server as it is.
    { path: "/healthz/live", answer: () => text(200, "ok") },
  );
  return routes;
}

class WithPage extends RouteTable {
  readonly #page: Route;

  constructor(periodMs: number) {
    super();
    const body = `<!doctype html>\n<title>Cloud data discoverer</title>\n<h1>Cloud data discoverer</h1>\n<p>Discovers every ${goDuration(periodMs)}. <a href="/metrics">Metrics</a></p>\n`;
    this.#page = { path: "/", answer: () => ({ status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body }) };
  }

  override find(path: string): Route {
    return super.find(path) ?? this.#page;
  }
}
