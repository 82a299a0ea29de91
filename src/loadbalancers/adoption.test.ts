import assert from "node:assert/strict";
import { test } from "node:test";
import { planText } from "../aws/plan.ts";
import { planAdoption } from "./adoption.ts";

const marks = { "elbv2.k8s.aws/cluster": "test", "service.k8s.aws/stack": "shop/web" };
const thing = { what: "load balancer a1", arn: "arn:lb", tags: { "kubernetes.io/service-name": "shop/web" }, marks };
const rule = (id: string, fromPort: number, description: string) => ({
  id,
  protocol: "tcp",
  fromPort,
  toPort: fromPort,
  cidr: "0.0.0.0/0",
  description,
});
const client = "kubernetes.io/rule/nlb/client=a1";
const wanted = [{ protocol: "tcp", fromPort: 31000, toPort: 31000, source: { kind: "cidr", cidr: "0.0.0.0/0" } }] as const;
const adoption = {
  things: [thing],
  formerMark: "kubernetes.io/service-name",
  nodeGroups: [
    { id: "sg-1", name: "nodes", rules: [rule("sgr-1", 31000, client), rule("sgr-2", 31001, client), rule("sgr-3", 31000, "mine")] },
  ],
  formerDescriptions: [client],
  wanted,
};

test("marks of the new owner come first, those of the former go last, and of rules only those that both want change hands", () => {
  assert.deepEqual(planText(planAdoption(adoption)).split("\n"), [
    "tag load balancer a1 with elbv2.k8s.aws/cluster=test, service.k8s.aws/stack=shop/web  (the load balancer controller takes it over)",
    "describe sgr-1 in security group nodes as elbv2.k8s.aws/targetGroupBinding=shared  (both controllers let this in, and it stays)",
    "remove tag kubernetes.io/service-name of load balancer a1  (the controller manager deletes what carries it)",
  ]);
});

test("what was done already is not done again", () => {
  const done = { ...thing, tags: marks };
  assert.deepEqual(planAdoption({ ...adoption, things: [done], nodeGroups: [] }), []);
});
