/** What EventBridge has to pass on so that interruptions of instances are heard: one rule per kind. */
import type { EventPattern } from "./event-pattern.ts";

interface Heard {
  readonly source: string;
  /** Where AWS documents two spellings, both. */
  readonly types: readonly string[];
  readonly detail?: Readonly<Record<string, readonly string[]>>;
  /** In the rule's description. */
  readonly what: string;
}

const table = {
  spot: { source: "aws.ec2", types: ["EC2 Spot Instance Interruption Warning"], what: "spot instances that are about to be interrupted" },
  reservation: {
    source: "aws.ec2",
    types: [
      "EC2 Capacity Reservation Instance Interruption Warning",
      "EC2 Interruptible Capacity Reservation Instance Interruption Warning",
    ],
    what: "instances whose capacity reservation is about to be taken back",
  },
  "capacity-block": {
    source: "aws.ec2",
    types: ["Capacity Block Reservation Expiration Warning", "Capacity Block Expiration Warning"],
    what: "capacity blocks that are about to end",
  },
  rebalance: {
    source: "aws.ec2",
    types: ["EC2 Instance Rebalance Recommendation"],
    what: "spot instances at a higher risk of interruption",
  },
  maintenance: {
    source: "aws.health",
    types: ["AWS Health Event"],
    detail: { service: ["EC2"], eventTypeCategory: ["scheduledChange"] },
    what: "scheduled maintenance of instances",
  },
  "state-change": {
    source: "aws.ec2",
    types: ["EC2 Instance State-change Notification"],
    detail: { state: ["stopping", "stopped", "shutting-down", "terminated"] },
    what: "instances that stop or terminate",
  },
  termination: {
    source: "aws.autoscaling",
    types: ["EC2 Instance-terminate Lifecycle Action"],
    what: "instances that Auto Scaling is about to terminate",
  },
  launch: {
    source: "aws.autoscaling",
    types: ["EC2 Instance-launch Lifecycle Action"],
    what: "instances that Auto Scaling has launched and holds until they are ready",
  },
} as const satisfies Readonly<Record<string, Heard>>;

/** A kind of notice that a rule passes on. */
export type HeardKind = keyof typeof table;

export const heardKinds = Object.keys(table) as readonly HeardKind[];

/** What the rule of a kind is about. */
export function aboutKind(kind: HeardKind): string {
  return table[kind].what;
}

/** The pattern of the rule of a kind. */
export function patternOf(kind: HeardKind): EventPattern {
  const { source, types, detail }: Heard = table[kind];
  return { source: [source], "detail-type": types, ...(detail && { detail }) };
}

/** Events of a kind, with just what patterns ask about: one for every spelling and every value that counts. */
export function samplesOf(kind: HeardKind): readonly Readonly<Record<string, unknown>>[] {
  const { source, types, detail = {} }: Heard = table[kind];
  let details: readonly Readonly<Record<string, string>>[] = [{}];
  for (const [field, values] of Object.entries(detail)) {
    details = details.flatMap((each) => values.map((value) => ({ ...each, [field]: value })));
  }
  return types.flatMap((type) => details.map((each) => ({ source, "detail-type": type, detail: each })));
}
