/** Health check settings of target groups, checked against AWS's ranges. */
import type { CreateTargetGroupInput, ModifyTargetGroupInput } from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import type { GroupHealthCheck, TargetGroup } from "./state.ts";

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

/** What the checks of a group depend on. */
export type CheckedGroup = Pick<TargetGroup, "targetType" | "protocol" | "version">;

/** What sets the checks of one kind of group apart. */
interface Rules {
  readonly protocols: readonly GroupHealthCheck["protocol"][];
  readonly codes: string;
  /** The highest code that counts as an answer. */
  readonly maxCode: number;
  readonly timeout: (protocol: GroupHealthCheck["protocol"]) => number;
  readonly interval: number;
  readonly unhealthyThreshold: number;
  readonly path: string;
  /** Whether the timeout must be smaller than the interval, or may be as long. */
  readonly strict: boolean;
}

const NETWORK: Rules = {
  protocols: ["TCP", "HTTP", "HTTPS"],
  codes: "200-399",
  maxCode: 599,
  timeout: (protocol) => (protocol === "HTTP" ? 6 : 10),
  interval: 30,
  unhealthyThreshold: 2,
  path: "/",
  strict: false,
};
/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/target-group-health-checks.html */
const APPLICATION: Rules = { ...NETWORK, protocols: ["HTTP", "HTTPS"], codes: "200", maxCode: 499, timeout: () => 5, strict: true };
const GRPC: Rules = { ...APPLICATION, codes: "12", maxCode: 99, path: "/AWS.ALB/healthcheck" };
const FUNCTION: Rules = { ...APPLICATION, timeout: () => 30, interval: 35, unhealthyThreshold: 5 };
/** Behind a network load balancer an application load balancer is asked as a client would. */
const BALANCER: Rules = { ...NETWORK, protocols: ["HTTP", "HTTPS"] };

function rulesFor({ targetType, version }: CheckedGroup): Rules {
  if (targetType === "lambda") return FUNCTION;
  if (targetType === "alb") return BALANCER;
  if (version === "GRPC") return GRPC;
  return version === undefined ? NETWORK : APPLICATION;
}

/** The check of a new group: https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateTargetGroup.html */
export function newCheck(group: CheckedGroup, input: Input): GroupHealthCheck {
  const rules = rulesFor(group);
  const protocol = protocolAsked(rules, input) ?? rules.protocols[0]!;
  const interval = input.HealthCheckIntervalSeconds ?? rules.interval;
  const usual = {
    enabled: group.targetType !== "lambda",
    protocol,
    port: "traffic-port",
    path: undefined,
    interval,
    timeout: Math.min(rules.timeout(protocol), rules.strict ? interval - 1 : interval),
    healthyThreshold: 5,
    unhealthyThreshold: rules.unhealthyThreshold,
    codes: undefined,
  };
  return changedCheck(group, usual, input);
}

/** The check with some of its settings replaced. */
export function changedCheck(group: CheckedGroup, present: GroupHealthCheck, input: Input): GroupHealthCheck {
  const rules = rulesFor(group);
  if (input.HealthCheckEnabled === false && group.targetType !== "lambda")
    throw invalidConfiguration("Health checks cannot be disabled for target groups with this target type");
  const protocol = protocolAsked(rules, input) ?? present.protocol;
  const web = protocol !== "TCP";
  if (!web && input.HealthCheckPath !== undefined)
    throw invalidConfiguration("A health check path cannot be specified for TCP health checks");
  if (!web && input.Matcher?.HttpCode !== undefined) throw invalidConfiguration("A matcher cannot be specified for TCP health checks");
  const check: GroupHealthCheck = {
    enabled: input.HealthCheckEnabled ?? present.enabled,
    protocol,
    port: portAsked(input) ?? present.port,
    path: web ? (pathAsked(input) ?? present.path ?? rules.path) : undefined,
    interval: inRange("interval", input.HealthCheckIntervalSeconds, 5, 300) ?? present.interval,
    timeout: inRange("timeout", input.HealthCheckTimeoutSeconds, 2, 120) ?? present.timeout,
    healthyThreshold: inRange("healthy threshold count", input.HealthyThresholdCount, 2, 10) ?? present.healthyThreshold,
    unhealthyThreshold: inRange("unhealthy threshold count", input.UnhealthyThresholdCount, 2, 10) ?? present.unhealthyThreshold,
    codes: web ? (codesAsked(group, rules, input) ?? present.codes ?? rules.codes) : undefined,
  };
  if (check.timeout > check.interval || (rules.strict && check.timeout === check.interval)) {
    const bound = rules.strict ? "smaller than" : "smaller than or equal to";
    throw new ServiceError("ValidationError", `Health check timeout must be ${bound} the interval`);
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

function protocolAsked({ protocols }: Rules, { HealthCheckProtocol: asked }: Input): GroupHealthCheck["protocol"] | undefined {
  const found = protocols.find((protocol) => protocol === asked);
  if (asked === undefined || found !== undefined) return found;
  throw invalidConfiguration(`Health check protocol '${asked}' is not supported for this target group`);
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

function codesAsked({ version }: CheckedGroup, { maxCode }: Rules, { Matcher: matcher }: Input): string | undefined {
  const [asked, other] = version === "GRPC" ? [matcher?.GrpcCode, matcher?.HttpCode] : [matcher?.HttpCode, matcher?.GrpcCode];
  const kind = version === "GRPC" ? "gRPC" : "HTTP";
  if (other !== undefined) throw invalidConfiguration(`Only ${kind} codes can be matched for this target group`);
  if (asked === undefined) return undefined;
  const minCode = version === "GRPC" ? 0 : 200;
  const valid = asked.split(",").every((part) => {
    const bounds = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(part)?.slice(1).filter(Boolean).map(Number) ?? [];
    return bounds.length > 0 && bounds.every((code) => code >= minCode && code <= maxCode) && bounds[0]! <= bounds.at(-1)!;
  });
  if (!valid)
    throw new ServiceError("ValidationError", `Health check matcher ${kind} code '${asked}' must be within '${minCode}-${maxCode}'`);
  return asked;
}

function inRange(what: string, value: number | undefined, from: number, to: number): number | undefined {
  if (value !== undefined && (!Number.isInteger(value) || value < from || value > to)) {
    throw new ServiceError("ValidationError", `Health check ${what} must be between ${from} and ${to}, not ${value}`);
  }
  return value;
}
