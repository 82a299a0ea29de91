/** What a cluster needs in AWS so that its termination handler hears of interruptions, and what of it is there. */
import type { EventPattern } from "../../aws/event-pattern.ts";
import type { EventRule } from "../../aws/event-rules.ts";
import { type HeardKind, patternOf } from "../../aws/interruption-rules.ts";
import type { Step } from "../../aws/plan.ts";

export interface SetupWish {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  /** The name of the queue, and what the names of rules begin with. */
  readonly name: string;
  readonly kinds: readonly HeardKind[];
  /** On the queue and the rules that are made. */
  readonly tags: Readonly<Record<string, string>>;
  /** The tag without which the handler leaves an instance alone; empty: it asks for none. */
  readonly managedTag: string;
  /** How long a hook that is made holds an instance without a heartbeat. */
  readonly hookSeconds: number;
  /** A queue for what cannot be delivered or handled: with a queue that is made, also for one that is there, or none. */
  readonly deadLetters: DeadLetters;
  /** The role of the handler; undefined: none is made. */
  readonly role: RoleWish | undefined;
}

export const deadLetterChoices = ["new", "always", "never"] as const;

export type DeadLetters = (typeof deadLetterChoices)[number];

/** A role: who may act under it, and what is allowed then. Both are policy documents. */
export interface RoleWish {
  readonly name: string;
  readonly trust: object;
  readonly policy: object;
}

export interface SetupSeen {
  readonly queue: SeenQueue | undefined;
  /** Rules that deliver to the queue, whatever their names. */
  readonly rules: readonly EventRule[];
  /** Rules that have our names, whatever they deliver to. */
  readonly named: ReadonlyMap<string, EventRule>;
  /** The groups that are to be set up. */
  readonly groups: readonly SeenGroup[];
  /** The dead-letter queue of our name. */
  readonly deadLetters: SeenQueue | undefined;
  readonly role: SeenRole | undefined;
}

export interface SeenQueue {
  readonly url: string;
  readonly policy: string | undefined;
  readonly retentionSeconds: number;
  /** Where it hands over what is received again and again: the ARN of a queue. */
  readonly handsOverTo: string | undefined;
}

/** A role as IAM has it. */
export interface SeenRole {
  readonly trust: unknown;
  /** The policy of our name in it. */
  readonly policy: unknown;
}

export interface SeenGroup {
  readonly name: string;
  readonly hooks: readonly SeenHook[];
  /** It gives its new instances the managed tag. */
  readonly tagged: boolean;
  /** The value that the managed tag has on it, or is to have. */
  readonly tagValue: string;
  /** Instances of it without that tag. */
  readonly untagged: readonly string[];
}

export interface SeenHook {
  readonly name: string;
  readonly transition: string;
}

/** From what is there to what is wished for. */
export interface SetupPlan {
  readonly steps: readonly Step[];
  /** What is there and stays as it is, though it is not what would be made. */
  readonly kept: readonly string[];
}

export const transitions = {
  termination: "autoscaling:EC2_INSTANCE_TERMINATING",
  launch: "autoscaling:EC2_INSTANCE_LAUNCHING",
} as const;

export function queueArn(
  { partition, region, account, name }: Pick<SetupWish, "partition" | "region" | "account" | "name">,
  queue = name,
): string {
  return `arn:${partition}:sqs:${region}:${account}:${queue}`;
}

/** The name of the dead-letter queue. */
export function deadLetterName({ name }: Pick<SetupWish, "name">): string {
  return `${name}-dead`;
}

/** The name of our policy in the role: clusters may share one, in several regions, and each has its own policy in it. */
export function rolePolicyName({ name, region }: Pick<SetupWish, "name" | "region">): string {
  return `${name}-${region}`;
}

/** The name of the rule of a kind. */
export function ruleName({ name }: Pick<SetupWish, "name">, kind: HeardKind): string {
  return `${name}-${kind}`;
}

/** Patterns are compared by what they say, not by how they are written. */
export function samePattern(a: EventPattern | undefined, kind: HeardKind): boolean {
  return a !== undefined && canonical(a) === canonical(patternOf(kind));
}

/** What says the same reads the same, whatever the order of fields and lists. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`);
  return `{${entries.sort().join()}}`;
}
