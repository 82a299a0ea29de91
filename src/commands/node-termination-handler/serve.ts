/** Metrics and probes, on the plain ports that the reference has. */
import type { Host } from "../../runtime/host.ts";
import { servePlain } from "../../runtime/plain-http.ts";
import { json, text } from "../../runtime/routes.ts";
import type { Options } from "./flags.ts";

/** Serves what is switched on; `problem` is what readiness tells. */
export async function serve(
  options: Options,
  host: Host,
  problem: () => string | undefined,
): Promise<{ readonly close: () => Promise<void> }> {
  const routes = {
    "/metrics": async () => text(200, await host.metrics.metrics()),
    [options["probes-server-endpoint"]]: () => ({ status: 200, headers: { "content-type": "application/json" }, body: '{"health":"OK"}' }),
    "/readyz": () => {
      const wrong = problem();
      return wrong === undefined ? text(200, "ok") : json(503, { problem: wrong });
    },
  };
  const ports = [
    ...(options["enable-prometheus-server"] ? [options["prometheus-server-port"]] : []),
    ...(options["enable-probes-server"] ? [options["probes-server-port"]] : []),
  ];
  const servers = await Promise.all(ports.map((port) => servePlain(port, routes, host.log)));
  return {
    close: async () => {
      await Promise.all(servers.map((server) => server?.close()));
    },
  };
}
