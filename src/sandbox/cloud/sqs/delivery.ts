/** Whether a queue takes messages of another service of AWS: its own policy decides. */
import { judge, type Statement } from "../access/policy.ts";
import { queueOfArn } from "./queues.ts";
import type { Sqs } from "./state.ts";

/** Whether the policy of a queue lets this service send to it, in the name of this resource (`aws:SourceArn`). */
export function mayDeliver(sqs: Sqs, queueArn: string, service: string, sourceArn: string): boolean {
  const queue = queueOfArn(sqs, queueArn);
  const policy = queue?.settings.policy;
  if (policy === undefined) return false;
  const context = { "aws:SourceArn": sourceArn, "aws:SourceAccount": sqs.account.id };
  const statements = statementsOf(policy).filter(({ Principal }) =>
    principalsOf(Principal).some((each) => each === service || each === "*"),
  );
  return judge(statements.map(readStatement), service, "sqs:SendMessage", () => [{ arn: queueArn, context }]) === "allowed";
}

interface PolicyStatement {
  readonly Effect: "Allow" | "Deny";
  readonly Principal?: string | Readonly<Record<string, string | readonly string[]>>;
  readonly Action: string | readonly string[];
  readonly Resource?: string | readonly string[];
  readonly Condition?: Statement["condition"];
}

function statementsOf(policy: string): readonly PolicyStatement[] {
  const { Statement: given = [] } = JSON.parse(policy) as { readonly Statement?: PolicyStatement | readonly PolicyStatement[] };
  return [given].flat() as readonly PolicyStatement[];
}

function principalsOf(principal: PolicyStatement["Principal"]): readonly string[] {
  return typeof principal === "object" ? Object.values(principal).flat() : [principal ?? ""];
}

function readStatement({ Effect, Action, Resource, Condition }: PolicyStatement): Statement {
  return {
    effect: Effect === "Deny" ? "deny" : "allow",
    actions: [Action].flat(),
    ...(Resource !== undefined && { resources: [Resource].flat() }),
    ...(Condition && { condition: Condition }),
  };
}
