/** Health check settings of target groups of network load balancers, checked against AWS's ranges. */
import type { CreateTargetGroupInput, ModifyTargetGroupInput } from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import type { GroupHealthCheck } from "./state.ts";

type Input = Pick<
  CreateTargetGroupInput & ModifyTargetGroupInput,
  | "HealthCheckProtocol"
  | "HealthCheckPort"
  | "HealthCheckPath"
  | "HealthCheckEnabled"
  | "HealthCheckIntervalSeconds"
  | "HealthCheckTimeoutSeconds"
  | "HealthyThresholdCount"
  | "UnhealthyThresholdCount"
  | "Matcher"
>;

/** The check of a new group: https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateTargetGroup.html */
export function newCheck(input: Input): GroupHealthCheck {
  const protocol = protocolAsked(input) ?? "TCP";
  const interval = input.HealthCheckIntervalSeconds ?? 30;
  const usual = {
    protocol,
    port: "traffic-port",
    path: undefined,
    interval,
    timeout: Math.min(protocol === "HTTP" ? 6 : 10, interval),
    healthyThreshold: 5,
    unhealthyThreshold: 2,
    codes: undefined,
  };
  return changedCheck(usual, input);
}

/** The check with some of its settings replaced. */
export function changedCheck(present: GroupHealthCheck, input: Input): GroupHealthCheck {
  if (input.HealthCheckEnabled === false)
    throw invalidConfiguration("Health checks cannot be disabled for target groups with this target type");
  const protocol = protocolAsked(input) ?? present.protocol;
  const web = protocol !== "TCP";
  if (!web && input.HealthCheckPath !== undefined)
    throw invalidConfiguration("A health check path cannot be specified for TCP health checks");
  if (!web && input.Matcher?.HttpCode !== undefined) throw invalidConfiguration("A matcher cannot be specified for TCP health checks");
  const check: GroupHealthCheck = {
    protocol,
    port: portAsked(input) ?? present.port,
    path: web ? (pathAsked(input) ?? present.path ?? "/") : undefined,
    interval: inRange("interval", input.HealthCheckIntervalSeconds, 5, 300) ?? present.interval,
    timeout: inRange("timeout", input.HealthCheckTimeoutSeconds, 2, 120) ?? present.timeout,
    healthyThreshold: inRange("healthy threshold count", input.HealthyThresholdCount, 2, 10) ?? present.healthyThreshold,
    unhealthyThreshold: inRange("unhealthy threshold count", input.UnhealthyThresholdCount, 2, 10) ?? present.unhealthyThreshold,
    codes: web ? (codesAsked(input) ?? present.codes ?? "200-399") : undefined,
  };
  if (check.timeout > check.interval) {
    throw new ServiceError("ValidationError", "Health check timeout must be smaller than or equal to the interval");
  }
  return check;
}

/** Whether an HTTP status is among codes such as `200,300-399`. */
export function acceptsStatus(codes: string | undefined, status: number): boolean {
  return (codes ?? "").split(",").some((part) => {
    const [from, to = from] = part.split("-").map(Number);
    return status >= from! && status <= to!;
  });
}

function protocolAsked({ HealthCheckProtocol: asked }: Input): GroupHealthCheck["protocol"] | undefined {
  if (asked === undefined || asked === "TCP" || asked === "HTTP" || asked === "HTTPS") return asked;
  throw invalidConfiguration(`Health check protocol '${asked}' is not supported`);
}

function portAsked({ HealthCheckPort: asked }: Input): string | undefined {
  if (asked === undefined || asked === "traffic-port") return asked;
  const port = Number(asked);
  if (!/^\d+$/.test(asked) || port < 1 || port > 65_535) {
    throw new ServiceError("ValidationError", `Health check port '${asked}' must be 'traffic-port' or between 1 and 65535`);
  }
  return asked;
}

function pathAsked({ HealthCheckPath: asked }: Input): string | undefined {
  if (asked !== undefined && (!asked.startsWith("/") || asked.length > 1024)) {
    throw new ServiceError(
      "ValidationError",
      `Health check path '${asked}' must begin with a '/' character and have at most 1024 characters`,
    );
  }
  return asked;
}

function codesAsked({ Matcher: matcher }: Input): string | undefined {
  const asked = matcher?.HttpCode;
  if (asked === undefined) return undefined;
  const valid = asked.split(",").every((part) => {
    const bounds = /^(\d{3})(?:-(\d{3}))?$/.exec(part)?.slice(1).filter(Boolean).map(Number) ?? [];
    return bounds.length > 0 && bounds.every((code) => code >= 200 && code <= 599) && bounds[0]! <= bounds.at(-1)!;
  });
  if (!valid) throw new ServiceError("ValidationError", `Health check matcher HTTP code '${asked}' must be within '200-599'`);
  return asked;
}

function inRange(what: string, value: number | undefined, from: number, to: number): number | undefined {
  if (value !== undefined && (!Number.isInteger(value) || value < from || value > to)) {
    throw new ServiceError("ValidationError", `Health check ${what} must be between ${from} and ${to}, not ${value}`);
  }
  return value;
}
