/** Which target group, and which target in it: weights, turns and cookies. */
import type { ForwardActionConfig } from "@aws-sdk/client-elastic-load-balancing-v2";
import { cookieOf, type Request } from "./request.ts";

/** A target as routing sees it. */
export interface TargetView {
  readonly id: string;
  readonly port: number;
  readonly state: "healthy" | "unhealthy" | "initial" | "draining" | "unused" | "unavailable";
}

/** A target group as routing sees it. */
export interface GroupView {
  readonly arn: string;
  readonly targetType: "instance" | "ip" | "lambda" | "alb";
  readonly protocol: string | undefined;
  readonly version: string | undefined;
  /** All of them, defaults included. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly targets: readonly TargetView[];
}

/** What a choice depends on besides the request. */
export interface Choosing {
  readonly group: (arn: string) => GroupView | undefined;
  /** How many choices were made under this key before: turns are counted by whoever carries out decisions. */
  readonly turn: (key: string) => number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A target, the cookies that bind the client to it, and the keys whose turn was used. */
export interface Choice {
  readonly group: GroupView;
  readonly target: TargetView;
  readonly cookies: readonly string[];
  readonly turns: readonly string[];
}

/** A cookie of the load balancer, and its twin for requests from other sites. */
const GROUP_COOKIE = "AWSALBTG";
const TARGET_COOKIE = "AWSALB";
const APPLICATION_COOKIE = "AWSALBAPP-0";

/** Chooses for a forward action; undefined where no target can take the request. */
export function choose(config: ForwardActionConfig, key: string, request: Request, choosing: Choosing): Choice | undefined {
  const chosen = chooseGroup(config, key, request, choosing);
  const group = chosen && choosing.group(chosen.arn);
  if (chosen === undefined || group === undefined) return undefined;
  const candidates = usable(group);
  const bound = boundTarget(group, candidates, request, choosing.now);
  const target = bound ?? candidates[choosing.turn(group.arn) % Math.max(1, candidates.length)];
  if (target === undefined) return undefined;
  return {
    group,
    target,
    cookies: [...chosen.cookies, ...targetCookies(group, target, choosing.now)],
    turns: [...chosen.turns, ...(bound === undefined ? [group.arn] : [])],
  };
}

/**
 * The targets that take part: healthy ones; and where fewer are than the group demands, all that have been checked, because answering
 * badly is better than not answering. https://docs.aws.amazon.com/elasticloadbalancing/latest/application/target-group-health.html
 */
export function usable({ targets, attributes }: Pick<GroupView, "targets" | "attributes">): readonly TargetView[] {
  const serving = targets.filter(({ state }) => state === "healthy" || state === "unhealthy" || state === "unavailable");
  const healthy = serving.filter(({ state }) => state !== "unhealthy");
  const prefix = "target_group_health.unhealthy_state_routing.minimum_healthy_targets";
  const count = Number(attributes[`${prefix}.count`] ?? 1);
  const percentage = attributes[`${prefix}.percentage`];
  const share = percentage === undefined || percentage === "off" ? 0 : (Number(percentage) / 100) * serving.length;
  return healthy.length >= Math.max(count, share) ? healthy : serving;
}

/** The application's own cookie, once an answer of the target sets it, binds the client too. */
export function applicationCookies({ group, target }: Choice, setCookies: readonly string[], now: number): readonly string[] {
  const { attributes } = group;
  if (attributes["stickiness.enabled"] !== "true" || attributes["stickiness.type"] !== "app_cookie") return [];
  const name = attributes["stickiness.app_cookie.cookie_name"];
  if (!setCookies.some((line) => line.startsWith(`${name}=`))) return [];
  const seconds = Number(attributes["stickiness.app_cookie.duration_seconds"]);
  return [cookie(APPLICATION_COOKIE, `${target.id}|${target.port}|${group.arn}`, seconds, now)];
}

function chooseGroup(config: ForwardActionConfig, key: string, request: Request, { turn, now }: Choosing) {
  const groups = (config.TargetGroups ?? []).map(({ TargetGroupArn = "", Weight = 1 }) => ({ arn: TargetGroupArn, weight: Weight }));
  const { Enabled: sticky, DurationSeconds: seconds = 0 } = config.TargetGroupStickinessConfig ?? {};
  const bound = sticky ? readCookie(request, GROUP_COOKIE, now) : undefined;
  const known = groups.find(({ arn }) => arn === bound);
  if (known !== undefined) return { arn: known.arn, cookies: [], turns: [] };
  const weighed = groups.length === 1 ? groups[0] : byWeight(groups, turn(key));
  if (weighed === undefined) return undefined;
  const cookies = sticky ? twins(GROUP_COOKIE, weighed.arn, seconds, now) : [];
  return { arn: weighed.arn, cookies, turns: groups.length === 1 ? [] : [key] };
}

/** Over as many turns as the weights add up to, each group gets exactly its weight, evenly spread. */
function byWeight<T extends { readonly weight: number }>(groups: readonly T[], turn: number): T | undefined {
  const total = groups.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return undefined;
  let place = (turn * strideFor(total)) % total;
  return groups.find(({ weight }) => {
    place -= weight;
    return place < 0;
  });
}

/** A step that visits every place once before it comes back, far from the one before: near the golden section, with no common divisor. */
function strideFor(total: number): number {
  let stride = Math.max(1, Math.round(total * 0.618));
  while (divisor(stride, total) !== 1) stride++;
  return stride;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** The target that the client is bound to, while it is there and takes part. */
function boundTarget(group: GroupView, candidates: readonly TargetView[], request: Request, now: number): TargetView | undefined {
  const { attributes } = group;
  if (attributes["stickiness.enabled"] !== "true") return undefined;
  if (attributes["stickiness.type"] === "source_ip") return candidates[hash(request.sourceIp) % Math.max(1, candidates.length)];
  const name = attributes["stickiness.type"] === "app_cookie" ? APPLICATION_COOKIE : TARGET_COOKIE;
  const bound = readCookie(request, name, now);
  return candidates.find(({ id, port }) => `${id}|${port}|${group.arn}` === bound);
}

/** The load balancer's own cookie is renewed with every answer. */
function targetCookies({ arn, attributes }: GroupView, { id, port }: TargetView, now: number): readonly string[] {
  if (attributes["stickiness.enabled"] !== "true" || attributes["stickiness.type"] !== "lb_cookie") return [];
  return twins(TARGET_COOKIE, `${id}|${port}|${arn}`, Number(attributes["stickiness.lb_cookie.duration_seconds"]), now);
}

function twins(name: string, value: string, seconds: number, now: number): readonly string[] {
  return [cookie(name, value, seconds, now), `${cookie(`${name}CORS`, value, seconds, now)}; SameSite=None; Secure`];
}

function cookie(name: string, value: string, seconds: number, now: number): string {
  const until = now + seconds * 1000;
  const sealed = Buffer.from(`${until} ${value}`).toString("base64url");
  return `${name}=${sealed}; Expires=${new Date(until).toUTCString()}; Path=/`;
}

function readCookie(request: Request, name: string, now: number): string | undefined {
  const [until, value] = Buffer.from(cookieOf(request, name) ?? "", "base64url")
    .toString("utf8")
    .split(" ");
  return Number(until) > now ? value : undefined;
}

/** A number that is always the same for the same text. */
export function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return value;
}
