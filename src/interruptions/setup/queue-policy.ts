/** The policy of the queue: EventBridge may send to it, for our rules. Pure. */
import { canonical, queueArn, type SetupWish } from "./wish.ts";

const sid = "FairleadInterruptions";

interface Policy {
  readonly Version?: string;
  readonly Statement?: unknown;
}

interface Statement {
  readonly Sid?: string;
  readonly Condition?: { readonly ArnLike?: Readonly<Record<string, unknown>> };
}

/**
 * The policy with our statement in it, which lets our rules and these others send; undefined when it has it already. Throws when there is
 * one that cannot be read: it is not ours to replace.
 */
export function policyWith(
  current: string | undefined,
  wish: SetupWish,
  others: readonly string[] = [],
  queue = wish.name,
): string | undefined {
  const sources = [`${wish.name}-*`, ...others].map((rule) => ruleArn(wish, rule));
  if (current === undefined || current === "")
    return JSON.stringify({ Version: "2012-10-17", Statement: [statementOf(queueArn(wish, queue), sources)] });
  const policy = readPolicy(current, queue);
  const statements = [policy.Statement ?? []].flat() as readonly Statement[];
  const own = statements.find(({ Sid }) => Sid === sid);
  // Somebody may have let further rules send.
  const allowed = [own?.Condition?.ArnLike?.["aws:SourceArn"] ?? []].flat() as unknown as readonly string[];
  const wanted = statementOf(queueArn(wish, queue), [...new Set([...allowed, ...sources])]);
  if (own !== undefined && canonical(listed(own, allowed)) === canonical(wanted)) return undefined;
  return JSON.stringify({ Version: "2012-10-17", ...policy, Statement: [...statements.filter((each) => each !== own), wanted] });
}

/** One source and a list of one are the same. */
function listed(statement: Statement, sources: readonly string[]): Statement {
  const { Condition } = statement;
  return { ...statement, ...(Condition && { Condition: { ...Condition, ArnLike: { ...Condition.ArnLike, "aws:SourceArn": sources } } }) };
}

function ruleArn({ partition, region, account }: SetupWish, rule: string): string {
  return `arn:${partition}:events:${region}:${account}:rule/${rule}`;
}

function statementOf(resource: string, sources: readonly string[]) {
  return {
    Sid: sid,
    Effect: "Allow",
    Principal: { Service: "events.amazonaws.com" },
    Action: "sqs:SendMessage",
    Resource: resource,
    Condition: { ArnLike: { "aws:SourceArn": sources } },
  };
}

function readPolicy(text: string, queue: string): Policy {
  try {
    const policy: unknown = JSON.parse(text);
    if (typeof policy === "object" && policy !== null) return policy;
  } catch {
    // Falls through: what is no object is no policy either.
  }
  throw new Error(`the policy of queue ${queue} cannot be read; look at it before anything is added`);
}
