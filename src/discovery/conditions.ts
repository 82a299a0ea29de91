/** What the account must allow: two probes, and what their answers say. */
import { isAwsError } from "../aws/errors.ts";

/** An entry of the list that the platform reads. */
export interface CloudCondition {
  readonly name: string;
  readonly message: string;
  readonly ok: boolean;
}

/** What is probed, in the order of the list. */
export const probes = ["DescribeAddressesAttribute", "DescribeInstanceTopology"] as const;
export type Probe = (typeof probes)[number];

/** What an answer says. `unknown` says nothing about permissions: throttling, the network, credentials. */
export type Verdict = "allowed" | "denied" | "unsupported" | "unknown";

export type Verdicts = Readonly<Record<Probe, Verdict>>;

const name = "INSUFFICIENT_AWS_SA_PERMISSIONS";

/** Regions that lack the API: nothing can be allowed there, and nothing needs to be. */
const mayBeMissing: readonly Probe[] = ["DescribeInstanceTopology"];

/** What the outcome of a dry run says; `undefined` stands for a call that was carried out. */
export function verdictOf(probe: Probe, error: unknown): Verdict {
  if (error === undefined) return "allowed";
  if (!isAwsError(error)) return "unknown";
  if (error.code === "DryRunOperation") return "allowed";
  if (error.class === "unsupported" && mayBeMissing.includes(probe)) return "unsupported";
  return /^(UnauthorizedOperation|AccessDenied)/.test(error.code) ? "denied" : "unknown";
}

/** The conditions that are not met. What is unknown stays as it was. */
export function unmetConditions(verdicts: Verdicts, before: readonly CloudCondition[]): readonly CloudCondition[] {
  return probes.map(conditionOf).filter(({ message }, index) => {
    const verdict = verdicts[probes[index]!];
    return verdict === "unknown" ? before.some((known) => !known.ok && known.message === message) : verdict === "denied";
  });
}

function conditionOf(probe: Probe): CloudCondition {
  return { name, message: `${probe} is not allowed`, ok: false };
}

/** What is published; nothing amiss is an empty list. */
export function conditionsText(conditions: readonly CloudCondition[]): string {
  return JSON.stringify(conditions);
}

/** What was published before; undefined when it cannot be read. The reference writes `null` for an empty list. */
export function readConditions(text: string | undefined): readonly CloudCondition[] | undefined {
  if (text === undefined) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    if (read === null) return [];
    return Array.isArray(read) && read.every(isCondition) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isCondition(value: unknown): value is CloudCondition {
  const { name, message, ok } = (value ?? {}) as Partial<Record<keyof CloudCondition, unknown>>;
  return typeof name === "string" && typeof message === "string" && typeof ok === "boolean";
}

/** Whether any condition is not met, as the node manager reads the key: what it cannot read makes it fail. */
export function hasUnmetConditions(text: string | undefined): boolean {
  return (readConditions(text) ?? []).some(({ ok }) => !ok);
}
