/** How the targets of a backend are checked. Pure. */
import type { TargetGroup, TargetHealthCheck } from "../model.ts";
import type { ServiceView } from "../service-state.ts";
import type { TargetGroupSettings } from "./config.ts";
import { RouteFault } from "./fault.ts";
import { keyOf } from "./view.ts";

export interface Checked {
  readonly protocol: TargetGroup["protocol"];
  readonly targetType: TargetGroup["targetType"];
  readonly protocolVersion?: string;
  /** Of a load balancer that is the target. */
  readonly albPort?: number;
}

interface Defaults {
  readonly protocol: TargetHealthCheck["protocol"];
  readonly path: string;
  readonly interval: number;
  readonly timeout: number;
  readonly threshold: number;
  readonly port: string;
}

const grpcPath = "/AWS.ALB/healthcheck";

function defaultsOf(
  flavour: "alb" | "nlb",
  { protocol, targetType, protocolVersion }: Checked,
  service: ServiceView | undefined,
): Defaults {
  const usual = { path: "/", interval: 15, timeout: 5, threshold: 3, port: "traffic-port" };
  if (flavour === "alb")
    return { ...usual, protocol: protocol === "HTTPS" ? "HTTPS" : "HTTP", path: protocolVersion === "GRPC" ? grpcPath : "/" };
  // Only nodes with a pod of it take traffic, and tell so on a port of their own.
  if (targetType === "instance" && service?.local)
    return { protocol: "HTTP", path: "/healthz", interval: 10, timeout: 6, threshold: 2, port: String(service.healthCheckNodePort) };
  return { ...usual, protocol: targetType === "alb" ? "HTTP" : "TCP" };
}

export function healthCheckOf(
  flavour: "alb" | "nlb",
  { healthCheckConfig: said = {} }: TargetGroupSettings,
  checked: Checked,
  service: ServiceView | undefined,
): TargetHealthCheck {
  const defaults = defaultsOf(flavour, checked, service);
  const protocol = said.healthCheckProtocol ?? defaults.protocol;
  const isGrpc = checked.protocolVersion === "GRPC";
  const codes = isGrpc ? (said.matcher?.grpcCode ?? "12") : (said.matcher?.httpCode ?? "200-399");
  return {
    protocol,
    port: portOf(said.healthCheckPort ?? defaults.port, checked, service),
    ...(protocol !== "TCP" && { path: said.healthCheckPath ?? defaults.path, matcher: { kind: isGrpc ? "grpc" : "http", codes } }),
    interval: said.healthCheckInterval ?? defaults.interval,
    timeout: said.healthCheckTimeout ?? defaults.timeout,
    healthyThreshold: said.healthyThresholdCount ?? defaults.threshold,
    unhealthyThreshold: said.unhealthyThresholdCount ?? defaults.threshold,
    keepsAll: true,
  };
}

function portOf(given: string, { targetType, albPort }: Checked, service: ServiceView | undefined): string {
  if (given === "traffic-port" || /^\d+$/.test(given)) return given;
  if (service === undefined) return String(albPort);
  const port = service.ports.find(({ name }) => name === given);
  const fault = (message: string) => new RouteFault("UnsupportedValue", message);
  if (port === undefined) throw fault(`failed to resolve healthCheckPort: unable to find port ${given} on service ${keyOf(service)}`);
  if (targetType === "instance") return String(port.nodePort);
  if (typeof port.targetPort === "number") return String(port.targetPort);
  throw fault("cannot use named healthCheckPort for IP TargetType when service's targetPort is a named port");
}
