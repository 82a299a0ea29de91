/** The paths every long-running process serves. */
import type { Registry } from "prom-client";
import type { HealthChecks, Probe } from "./health.ts";
import type { Logs } from "./logs.ts";
import { type Route, text } from "./routes.ts";

/** `/healthz`, `/livez`, `/readyz`. */
export function healthRoutes(health: HealthChecks): Route[] {
  return (["healthz", "livez", "readyz"] as const).map((probe: Probe) => ({
    path: `/${probe}`,
    answer({ query }) {
      const { healthy, text: body } = health.answer(probe, { verbose: query.has("verbose"), exclude: query.getAll("exclude") });
      return text(healthy ? 200 : 500, body);
    },
  }));
}

/** `/metrics` and `/metrics/slis`. */
export function metricsRoutes(metrics: Registry, slis: Registry): Route[] {
  const serve = (path: string, registry: Registry): Route => ({
    path,
    answer: async () => ({ status: 200, headers: { "content-type": registry.contentType }, body: await registry.metrics() }),
  });
  return [serve("/metrics", metrics), serve("/metrics/slis", slis)];
}

/** `/configz`: the effective configuration, each part under the name of its API group. */
export function configRoute(config: () => Readonly<Record<string, unknown>>): Route {
  return {
    path: "/configz",
    answer: () => ({ status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(config()) }),
  };
}

/** `PUT /debug/flags/v`: changes the verbosity of the log. */
export function verbosityRoute(logs: Pick<Logs, "setVerbosity">): Route {
  return {
    path: "/debug/flags/v",
    methods: ["PUT"],
    answer({ body }) {
      const level = body.trim();
      if (!/^[+-]?\d{1,9}$/.test(level))
        return text(400, `failed to set klog.logging.verbosity to ${JSON.stringify(level)}: not a number\n`);
      logs.setVerbosity(Number(level));
      return text(200, `successfully set klog.logging.verbosity to ${Number(level)}`);
    },
  };
}
