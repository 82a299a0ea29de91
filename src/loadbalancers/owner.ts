/** Whose a load balancer is: what every door brings of the object it works for, so that the core knows no such object. */
import type { Found, LoadBalancerKind } from "./kind.ts";
import type { Tags } from "./model.ts";

export interface LoadBalancerOwner {
  /** The door it came in by, as claims and their answers go by it. */
  readonly door: string;
  /** `namespace/name`: by it the owner is woken, and what is written for it is noted. */
  readonly key: string;
  readonly uid: string;
  /** What it is, as reasons name it: `Service`. */
  readonly noun: string;
  /** The kinds of load balancer that it may have; looked for in this order. */
  readonly kinds: readonly LoadBalancerKind[];
  /** The name that nobody else gives: what has it is the owner's without further marks. */
  readonly ownName: string;
  /** A name of the user's choice: what has it is the owner's only with its marks. */
  readonly chosenName?: string;
  /** Names that were chosen before, as they were written down. */
  readonly earlierNames: readonly string[];
  /** The published host name; empty while there is none. */
  readonly hostname: string;
  /** The security group that is made for it, by kinds that name groups after their owner. */
  readonly securityGroupName: string;
  /** Whether a target group of this name is its own by the name alone, or only if its users and marks say so. */
  claimsTargetGroup(name: string): "certainly" | "perhaps" | "no";
  /** Whether these are tags of something that was made for it. */
  hasMarks(tags: Tags): boolean;
  /** Set where its things are known by their tags alone, whatever their names. */
  readonly marks?: OwnerMarks;
}

/** What the tags of an owner's things say. */
export interface OwnerMarks {
  /** Which part of the owner something with these tags is; undefined where they do not tell. */
  partOf(tags: Tags): string | undefined;
  /** The part that its own security group is. */
  readonly securityGroupPart: string;
  /** Tags that somebody else keeps on what is the owner's. */
  isForeign(key: string): boolean;
}

/** Every name that its load balancers have or may have had. */
export function namesOf({ ownName, chosenName, earlierNames }: LoadBalancerOwner): readonly string[] {
  return [...new Set([ownName, ...(chosenName ? [chosenName] : []), ...earlierNames])];
}

/** The one place where a kind is looked up by its name. */
export function kindOf({ kind }: Pick<Found, "kind">, { kinds, key }: LoadBalancerOwner): LoadBalancerKind {
  const found = kinds.find(({ name }) => name === kind);
  if (found === undefined) throw new Error(`${key} has no load balancers of kind ${kind}`);
  return found;
}
