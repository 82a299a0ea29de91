/** The policy of the queue: EventBridge may send to it, for our rules. Pure. */
import type { SetupWish } from "./wish.ts";
import { queueArn } from "./wish.ts";

const sid = "FairleadInterruptions";

interface Policy {
  readonly Version?: string;
  readonly Statement?: unknown;
}

/** The policy with our statement in it; undefined when it has it already. Throws when there is one that cannot be read: it is not ours to replace. */
export function policyWith(current: string | undefined, wish: SetupWish): string | undefined {
  const wanted = statementOf(wish);
  if (current === undefined || current === "") return JSON.stringify({ Version: "2012-10-17", Statement: [wanted] });
  const policy = readPolicy(current, wish.name);
  const statements = [policy.Statement ?? []].flat() as readonly { readonly Sid?: string }[];
  if (statements.some((statement) => JSON.stringify(statement) === JSON.stringify(wanted))) return undefined;
  return JSON.stringify({ Version: "2012-10-17", ...policy, Statement: [...statements.filter(({ Sid }) => Sid !== sid), wanted] });
}

function statementOf(wish: SetupWish) {
  const { partition, region, account, name } = wish;
  return {
    Sid: sid,
    Effect: "Allow",
    Principal: { Service: "events.amazonaws.com" },
    Action: "sqs:SendMessage",
    Resource: queueArn(wish),
    Condition: { ArnLike: { "aws:SourceArn": `arn:${partition}:events:${region}:${account}:rule/${name}-*` } },
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
