/** Rules of EventBridge: made, given targets, found by them, changed. */
import {
  DescribeRuleCommand,
  ListRuleNamesByTargetCommand,
  ListTargetsByRuleCommand,
  PutRuleCommand,
  PutTargetsCommand,
} from "../../../../src/aws/sdk/events.ts";
import { asker, type Exchange } from "../script.ts";

const ask = asker("events");
const EventPattern = JSON.stringify({ source: ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"] });
const queue = "arn:aws:sqs:us-east-1:123456789012:notices";

export const ruleExchanges: readonly Exchange[] = [
  ask("an event rule with a pattern and tags", PutRuleCommand, { Name: "spot", EventPattern, Tags: [{ Key: "team", Value: "nodes" }] }),
  ask("an event rule without a pattern", PutRuleCommand, { Name: "nothing" }),
  ask("an event rule whose pattern is none", PutRuleCommand, { Name: "bad", EventPattern: "{" }),
  ask("an event rule whose name has a blank", PutRuleCommand, { Name: "a b", EventPattern }),
  ask("an event rule by name", DescribeRuleCommand, { Name: "spot" }),
  ask("an event rule that does not exist", DescribeRuleCommand, { Name: "none" }),
  ask("a target of an event rule", PutTargetsCommand, { Rule: "spot", Targets: [{ Id: "queue", Arn: queue }] }),
  ask("a target of an event rule that does not exist", PutTargetsCommand, { Rule: "none", Targets: [{ Id: "queue", Arn: queue }] }),
  ask("the targets of an event rule", ListTargetsByRuleCommand, { Rule: "spot" }),
  ask("the targets of an event rule that does not exist", ListTargetsByRuleCommand, { Rule: "none" }),
  ask("event rules by their target", ListRuleNamesByTargetCommand, { TargetArn: queue }),
  ask("event rules of a target that none has", ListRuleNamesByTargetCommand, { TargetArn: `${queue}-other` }),
  ask("the same event rule, disabled", PutRuleCommand, { Name: "spot", EventPattern, State: "DISABLED" }),
  ask("an event rule that was disabled keeps its targets", ListTargetsByRuleCommand, { Rule: "spot" }),
  ask("an event rule that was disabled", DescribeRuleCommand, { Name: "spot" }),
];
