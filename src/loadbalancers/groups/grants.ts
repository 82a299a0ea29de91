/**
 * Lets into a node security group what its owners lack: in one call where AWS takes it, else owner by owner, so that what
 * AWS refuses to one of them is kept from none of the others.
 */
import { type Applied, apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { type AwsError, type ErrorClass, isAwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import { distinct, grant, keyOfRule, type NodeGroup, type NodeRule } from "./node-rules.ts";
import { needsAsMuch, noRoomText } from "./rule-quota.ts";

export interface Granted {
  /** What AWS refused, by the owner whom alone it concerns. */
  readonly refused: ReadonlyMap<string, Refusal>;
  /** Owners for whom what we saw of the group was old. */
  readonly waiting: ReadonlySet<string>;
}

/** An owner asks for what AWS does not give it. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** There is no room for its rules: they may fit when others have gone. */
  readonly noRoom: boolean;

  constructor(message: string, noRoom: boolean, options: ErrorOptions) {
    super(message, options);
    this.noRoom = noRoom;
  }
}

/** Failures that are about AWS or about us, and not about what was asked for: everybody would meet them. */
const everybodys: readonly ErrorClass[] = ["throttled", "denied", "transient", "clock-skew", "credentials", "expired-credentials"];

type Missing = readonly (readonly [owner: string, rules: readonly NodeRule[]])[];

export interface GrantOptions {
  readonly cloud: Pick<Cloud, "call">;
  readonly ask: Ask;
  readonly onStep: (step: Step) => void;
}

/** Those who ask for least come first: so most are served where there is not room for all. */
export async function grantAll(
  group: NodeGroup,
  missing: ReadonlyMap<string, readonly NodeRule[]>,
  options: GrantOptions,
): Promise<Granted> {
  const owners: Missing = [...missing].toSorted(([, a], [, b]) => a.length - b.length);
  const all = distinct(owners.flatMap(([, rules]) => rules));
  const waiting = new Set<string>();
  const refused = new Map<string, Refusal>();
  if (all.length === 0) return { refused, waiting };
  if (owners.length > 1) {
    const together = await tryGrant(group, all, options);
    if (!isAwsError(together) && together.kind === "done") return { refused, waiting };
  }
  const granted = new Map<string, NodeRule>();
  const tooMuch: { readonly rules: readonly NodeRule[]; readonly error: AwsError }[] = [];
  for (const [owner, rules] of owners) {
    const lacking = rules.filter((rule) => !granted.has(keyOfRule(rule)));
    if (lacking.length === 0) continue;
    // The group only gets fuller: where less did not fit, this is not even tried.
    const result = tooMuch.find((less) => needsAsMuch(lacking, less.rules))?.error ?? (await tryGrant(group, lacking, options));
    if (isAwsError(result, "limit-exceeded")) tooMuch.push({ rules: lacking, error: result });
    if (isAwsError(result)) refused.set(owner, refusal(group, lacking, [...granted.values()], result));
    else if (result.kind === "waiting") waiting.add(owner);
    else for (const rule of lacking) granted.set(keyOfRule(rule), rule);
  }
  return { refused, waiting };
}

async function tryGrant(group: NodeGroup, rules: readonly NodeRule[], { cloud, ask, onStep }: GrantOptions): Promise<Applied | AwsError> {
  try {
    return await apply([grant(group, rules)], cloud, { ...ask, onStep });
  } catch (error) {
    if (!isAwsError(error) || isAwsError(error, ...everybodys)) throw error;
    return error;
  }
}

function refusal({ id, name, rules }: NodeGroup, lacking: readonly NodeRule[], granted: readonly NodeRule[], error: AwsError): Refusal {
  if (error.class !== "limit-exceeded") return new Refusal(error.message, false, { cause: error });
  const text = noRoomText(`node security group ${name} (${id})`, [...rules, ...granted], lacking);
  return new Refusal(`${text}: ${error.message}`, true, { cause: error });
}
