/** How the targets of a Service are checked. Pure. */
import type { TargetHealthCheck } from "../model.ts";
import type { Draft } from "./draft.ts";
import { ServiceFault } from "./reader.ts";
import { keyOf, type ServiceView } from "./view.ts";

const prefix = "aws-load-balancer-healthcheck-";

interface Defaults {
  readonly protocol: TargetHealthCheck["protocol"];
  readonly path: string;
  readonly timeout: number;
  readonly threshold: number;
}

const defaultsOf: { readonly [Policy in "cluster" | "local"]: Defaults } = {
  cluster: { protocol: "TCP", path: "/", timeout: 10, threshold: 3 },
  local: { protocol: "HTTP", path: "/healthz", timeout: 6, threshold: 2 },
};

const interval = 10;

/** Whether only nodes with a pod of it take traffic, and tell so on a port of their own. */
const isLocal = (targetType: string, { type, local }: ServiceView) => targetType === "instance" && type === "LoadBalancer" && local;

export function healthCheckOf({ read, settings }: Draft, targetType: "instance" | "ip", backing: ServiceView): TargetHealthCheck {
  const { healthCheckAdvanced } = settings.gates;
  const local = isLocal(targetType, backing);
  const defaults = defaultsOf[local ? "local" : "cluster"];
  const protocol = read.get(`${prefix}protocol`) ?? defaults.protocol;
  const isHttp = protocol !== "TCP";
  const given = read.get(`${prefix}port`) ?? (local ? String(backing.healthCheckNodePort) : "traffic-port");
  const path = isHttp ? (read.get(`${prefix}path`) ?? defaults.path) : undefined;
  const codes = isHttp && healthCheckAdvanced ? (read.get(`${prefix}success-codes`) ?? "200-399") : undefined;
  return {
    protocol,
    port: portOf(given, targetType, backing),
    ...(path !== undefined && { path }),
    interval: read.get(`${prefix}interval`) ?? interval,
    timeout: (healthCheckAdvanced ? read.get(`${prefix}timeout`) : undefined) ?? defaults.timeout,
    healthyThreshold: read.get(`${prefix}healthy-threshold`) ?? defaults.threshold,
    unhealthyThreshold: read.get(`${prefix}unhealthy-threshold`) ?? defaults.threshold,
    ...(codes !== undefined && { matcher: { kind: "http", codes } }),
    keepsAll: true,
  };
}

function portOf(given: string, targetType: string, service: ServiceView): string {
  if (given === "traffic-port" || /^\d+$/.test(given)) return given;
  const port = service.ports.find(({ name }) => name === given);
  if (port === undefined) {
    throw new ServiceFault(`failed to resolve healthCheckPort: unable to find port ${given} on service ${keyOf(service)}`);
  }
  if (targetType === "instance") return String(port.nodePort);
  if (typeof port.targetPort === "number") return String(port.targetPort);
  throw new ServiceFault("cannot use named healthCheckPort for IP TargetType when service's targetPort is a named port");
}
