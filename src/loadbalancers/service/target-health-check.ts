/** How a network load balancer checks its targets. */
import type { Problem, TargetHealthCheck } from "../model.ts";
import { parseInteger } from "../values.ts";
import { annotationKey } from "./annotations.ts";
import type { Wish } from "./wish.ts";

const protocols = ["TCP", "HTTP", "HTTPS"] as const;

/** The one health check of all target groups of a Service, and what is wrong with what was asked for. */
export function targetHealthCheck(wish: Wish): { readonly check: TargetHealthCheck; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const { healthCheck } = wish.options;
  const base = baseCheck(wish);

  const asked = healthCheck.protocol?.toUpperCase() ?? base.protocol;
  const protocol = protocols.find((known) => known === asked);
  if (protocol === undefined) {
    const message = `Unsupported health check protocol ${asked} (takes ${protocols.join(", ")})`;
    problems.push({ annotation: annotationKey("healthcheck-protocol"), message });
  }
  const port = healthCheck.port ?? base.port;
  if (port !== "traffic-port" && parseInteger(port) === undefined) {
    problems.push({ annotation: annotationKey("healthcheck-port"), message: `Invalid health check port '${port}'` });
  }
  const path = protocol === "TCP" ? undefined : (healthCheck.path ?? base.path);
  // A shared probe asks the node itself, so what a Service says about its own probe does not apply.
  const shared = wish.settings.sharedProbe && !wish.service.local ? wish.settings.sharedProbe : undefined;
  const where = shared
    ? ({ protocol: "HTTP", port: String(shared.port), path: shared.path } as const)
    : { protocol: protocol ?? "TCP", port, path };
  return {
    problems,
    check: {
      ...where,
      interval: healthCheck.interval ?? base.interval,
      healthyThreshold: healthCheck.healthyThreshold ?? base.threshold,
      unhealthyThreshold: healthCheck.unhealthyThreshold ?? base.threshold,
      timeout: healthCheck.timeout,
    },
  };
}

function baseCheck({ service }: Wish) {
  if (!service.local) return { protocol: "TCP", port: "traffic-port", path: "/", interval: 30, threshold: 3 };
  const path = service.healthCheckNodePort === 0 ? "" : "/healthz";
  return { protocol: "HTTP", port: String(service.healthCheckNodePort), path, interval: 10, threshold: 2 };
}
