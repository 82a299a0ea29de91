import assert from "node:assert/strict";
import { test } from "node:test";
import { type CheckedResource, judge, type Statement } from "./policy.ts";

const me = "arn:aws:sts::123456789012:assumed-role/node/i-1";
const group = (id: string, team?: string): CheckedResource => ({
  arn: `arn:aws:ec2:us-east-1:123456789012:security-group/${id}`,
  context: { "aws:RequestedRegion": "us-east-1", ...(team && { "aws:ResourceTag/team": team }) },
});
const verdict = (policy: readonly Statement[], ...resources: readonly CheckedResource[]) =>
  judge(policy, me, "ec2:DeleteSecurityGroup", () => resources);

const ours: Statement = {
  effect: "allow",
  actions: ["ec2:Delete*"],
  resources: ["arn:aws:ec2:*:*:security-group/*"],
  condition: { StringEquals: { "aws:ResourceTag/team": ["a", "b"] } },
};

test("a statement holds for its resources under its conditions, and a key that is not there meets none", () => {
  assert.equal(verdict([ours], group("sg-1", "b")), "allowed");
  assert.equal(verdict([ours], group("sg-1", "c")), "implicitly denied");
  assert.equal(verdict([ours], group("sg-1")), "implicitly denied");
  assert.equal(verdict([ours], { arn: "*", context: { "aws:ResourceTag/team": "a" } }), "implicitly denied");
});

test("every resource of a call must be allowed, by whichever statement; a deny on one refuses the call", () => {
  const all: Statement = { effect: "allow", actions: ["*"], condition: { StringLike: { "aws:RequestedRegion": "us-*" } } };
  const never: Statement = { effect: "deny", actions: ["*"], resources: ["*/sg-2"] };
  assert.equal(verdict([ours], group("sg-1", "a"), group("sg-2")), "implicitly denied");
  assert.equal(verdict([ours, all], group("sg-1", "a"), group("sg-2")), "allowed");
  assert.equal(verdict([ours, all, never], group("sg-1", "a"), group("sg-2")), "explicitly denied");
});

test("an operator that is not modelled is an error, not a yes or a no", () => {
  const dated: Statement = { effect: "allow", actions: ["*"], condition: { DateLessThan: { "aws:CurrentTime": "2027-01-01" } } };
  assert.throws(() => verdict([dated], group("sg-1")), /does not model the condition operator DateLessThan/);
});
