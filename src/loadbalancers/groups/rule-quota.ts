/** How many rules a security group has room for. AWS does not say it: it follows from what is there, if the quota is the usual one. */
import type { SeenRule } from "./managed.ts";
import type { NodeRule } from "./node-rules.ts";

type AnyRule = NodeRule | SeenRule;

/** What AWS grants a group unless it was asked for more: so many rules of each address family. */
const defaultQuota = 60;

interface Crowding {
  readonly family: "IPv4" | "IPv6";
  readonly needs: number;
  readonly used: number;
}

/** Whether these can hardly stand together. Where the quota was raised they may: then it was only careful. */
export function mayExceedQuota(present: readonly AnyRule[], added: readonly AnyRule[]): boolean {
  const { needs, used } = crowding(present, added);
  return needs > 0 && needs + used > defaultQuota;
}

/** Said to whoever asked for rules that AWS has refused because there would be too many. */
export function noRoomText(group: string, present: readonly AnyRule[], lacking: readonly AnyRule[]): string {
  const { family, needs, used } = crowding(present, lacking);
  const free = defaultQuota - used;
  const room = free >= 0 && free < needs ? `with the default quota of ${defaultQuota}, ${free} are free` : `fewer than ${needs} are free`;
  return `this load balancer needs ${needs} more ${family} rules in ${group}, which has ${used}: ${room}; use fewer source ranges or ports, or have the quota of rules per security group raised`;
}

/** Whether these take as much room as others, in either family. */
export function needsAsMuch(rules: readonly AnyRule[], others: readonly AnyRule[]): boolean {
  return families.every((family) => count(family, rules) >= count(family, others));
}

const families = ["IPv4", "IPv6"] as const;
const count = (family: Crowding["family"], rules: readonly AnyRule[]) => rules.filter((rule) => countsIn(family, rule)).length;

/** Of the family that is worse off. */
function crowding(present: readonly AnyRule[], added: readonly AnyRule[]): Crowding {
  const [v4, v6] = families.map((family): Crowding => ({ family, needs: count(family, added), used: count(family, present) }));
  return v6!.needs + v6!.used > v4!.needs + v4!.used ? v6! : v4!;
}

/** A rule from a group or a prefix list counts in both families. */
function countsIn(family: "IPv4" | "IPv6", rule: AnyRule): boolean {
  const cidr = "cidr" in rule ? rule.cidr : undefined;
  return cidr === undefined || cidr.includes(":") === (family === "IPv6");
}
