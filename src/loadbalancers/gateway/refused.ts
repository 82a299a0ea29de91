/**
 * Who asks AWS for what it may refuse: a rule of a route, a target group, or a port. What is refused to one is told to that one, and
 * what stands in its place stays as it is.
 */
import type { AwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import type { Clock } from "../../runtime/world.ts";
import { Refusals, refusedTo } from "../refusals.ts";
import type { GatewayDesire } from "./desire.ts";
import { type GatewayView, type RouteView, routeKeyOf } from "./view.ts";

export const ruleKey = (port: number, route: RouteView, ruleIndex: number) => `${routeKeyOf(route)} rule ${ruleIndex} on port ${port}`;
export const groupKey = (part: string) => `target group ${part}`;
export const portKey = (port: number) => `port ${port}`;
/** Where the listener of a network load balancer forwards to is its route's wish. */
export const forwardKey = (key: string) => `forward of ${key}`;

/** The id is another one every time, and a status that changes with every attempt tells nobody anything. */
export const withoutRequestId = (message: string) => message.replace(/ \[request id [^\]]*\]/, "");

/** What AWS has refused to each Gateway. One that is made again under the same name begins anew. */
export class GatewayRefusals {
  readonly #clock: Clock;
  readonly #byUid = new Map<string, Refusals<string>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of({ uid }: GatewayId, key: string, wish: string): string | undefined {
    return this.#byUid.get(uid)?.of(key, wish);
  }

  note({ uid }: GatewayId, key: string, wish: string, message: string): void {
    const known = this.#byUid.get(uid) ?? new Refusals<string>(this.#clock, (text) => text);
    this.#byUid.set(uid, known);
    known.note(key, wish, message);
  }

  /** It is gone, or nothing that it asks for is refused. */
  forget({ uid }: GatewayId): void {
    this.#byUid.delete(uid);
  }
}

type GatewayId = Pick<GatewayView, "uid">;

/** Remembers it, so that the next survey does without. False: it is nobody's own, or was to be done without already. */
export function remember(
  { step, error, message }: { readonly step: Step; readonly error: AwsError; readonly message: string },
  gateway: GatewayId,
  { asked }: Pick<GatewayDesire, "asked">,
  refusals: GatewayRefusals,
): boolean {
  const asker = refusedTo(step, error);
  if (asker === undefined) return false;
  const key = isAboutTargets(error) && asked.has(forwardKey(asker)) ? forwardKey(asker) : asker;
  const wish = asked.get(key);
  if (wish === undefined || refusals.of(gateway, key, wish) !== undefined) return false;
  refusals.note(gateway, key, wish, withoutRequestId(message));
  return true;
}

const isAboutTargets = ({ code }: AwsError) => /TargetGroup|Protocol/.test(code);
