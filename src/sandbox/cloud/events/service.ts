/** Amazon EventBridge on the wire, over JSON: the rules of the default bus. */
import { DescribeRule$, ListRuleNamesByTarget$, ListTargetsByRule$, PutRule$, PutTargets$ } from "../../../aws/sdk/events.ts";
import type { Account } from "../account.ts";
import { json } from "../protocol/protocol.ts";
import { type Operation, read, type Service, write } from "../service.ts";
import { describeRule, listRuleNamesByTarget, listTargetsByRule, putRule, putTargets, type RuleInput } from "./bus-rules.ts";

/** Amazon EventBridge. */
export function eventsService(account: Account): Service {
  const asks = <Input>(schema: Operation["schema"], run: (account: Account, input: Input) => unknown) =>
    read<Input, unknown>(schema, (input) => run(account, input));
  return {
    name: "events",
    signingName: "events",
    address: { target: "AWSEvents" },
    region: "own",
    protocol: json("1.1"),
    operations: [
      write<RuleInput, unknown>(PutRule$, (input) => putRule(account, input), needsTagResource),
      asks(DescribeRule$, describeRule),
      write<Parameters<typeof putTargets>[1], unknown>(PutTargets$, (input) => putTargets(account, input)),
      asks(ListTargetsByRule$, listTargetsByRule),
      asks(ListRuleNamesByTarget$, listRuleNamesByTarget),
    ],
  };
}

/** A rule that is made with tags needs the permission to tag it. */
function needsTagResource({ Tags = [] }: RuleInput): readonly string[] {
  return Tags.length === 0 ? [] : ["events:TagResource"];
}
