/**
 * Who asks AWS for what it may refuse: a rule of a route, a target group, or a port. What is refused to one is told to that one, and
 * what stands in its place stays as it is.
 */
import type { AwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import { type Refusals, refusedTo } from "../refusals.ts";
import type { GatewayDesire } from "./desire.ts";
import { keyOf, type ObjectName, type RouteView, routeKeyOf } from "./view.ts";

export const ruleKey = (port: number, route: RouteView, ruleIndex: number) => `${routeKeyOf(route)} rule ${ruleIndex} on port ${port}`;
export const groupKey = (part: string) => `target group ${part}`;
export const portKey = (port: number) => `port ${port}`;
/** Where the listener of a network load balancer forwards to is its route's wish. */
export const forwardKey = (key: string) => `forward of ${key}`;

/** The id is another one every time, and a status that changes with every attempt tells nobody anything. */
export const withoutRequestId = (message: string) => message.replace(/ \[request id [^\]]*\]/, "");

/** By which what is refused to one of them is remembered. */
export const refusalKey = (gateway: ObjectName, key: string) => `${keyOf(gateway)} ${key}`;

/** Remembers it, so that the next survey does without. False: it is nobody's own, or was to be done without already. */
export function remember(
  { step, error, message }: { readonly step: Step; readonly error: AwsError; readonly message: string },
  gateway: ObjectName,
  { asked }: Pick<GatewayDesire, "asked">,
  refusals: Refusals<string>,
): boolean {
  const asker = refusedTo(step, error);
  if (asker === undefined) return false;
  const key = isAboutTargets(error) && asked.has(forwardKey(asker)) ? forwardKey(asker) : asker;
  const wish = asked.get(key);
  if (wish === undefined || refusals.of(refusalKey(gateway, key), wish) !== undefined) return false;
  refusals.note(refusalKey(gateway, key), wish, withoutRequestId(message));
  return true;
}

const isAboutTargets = ({ code }: AwsError) => /TargetGroup|Protocol/.test(code);
