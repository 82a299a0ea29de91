import assert from "node:assert/strict";
import { test } from "node:test";
import { policyRemedy, principalOf, principalText, type SubjectClues, subjectOf } from "./subject.ts";

const session = "arn:aws-cn:sts::123456789012:assumed-role/shop-node/i-0abc";
const user = "arn:aws:iam::123456789012:user/team/ann";
const role = "arn:aws-cn:iam::123456789012:role/clusters/shop-node";

const clues = (arn: string, more: Partial<SubjectClues> = {}): SubjectClues => ({
  caller: { arn, region: "cn-north-1" },
  roleArn: undefined,
  asControllers: false,
  instanceIds: new Set(),
  ...more,
});

for (const [what, given, kind, arn] of [
  ["somebody at a desk is not the controllers", clues(user), "person", user],
  ["in the controllers' pod whoever asks is them", clues(user, { asControllers: true }), "caller", user],
  ["a node's own role is theirs", clues(session, { instanceIds: new Set(["i-0abc"]) }), "caller", session],
  ["another machine's role is not", clues(session, { instanceIds: new Set(["i-0def"]) }), "person", session],
  ["a role that is named is asked for", clues(user, { roleArn: role }), "role", role],
  ["in a pod too, when it is another one", clues(user, { roleArn: role, asControllers: true }), "role", role],
  ["and when it is the caller's own, whatever its path, the caller is asked", clues(session, { roleArn: role }), "caller", session],
] as const) {
  test(what, () => assert.deepEqual(subjectOf(given), { kind, arn }));
}

test("the remedy fits a role, a user, and whoever has no policies", () => {
  assert.equal(principalOf(session), "arn:aws-cn:iam::123456789012:role/shop-node");
  assert.match(policyRemedy(session, "nodes"), /^aws iam put-role-policy --role-name shop-node --policy-name fairlead-nodes /);
  assert.match(policyRemedy(user, "nodes"), /^aws iam put-user-policy --user-name ann /);
  assert.match(policyRemedy("arn:aws:iam::123456789012:root", "nodes"), /^# arn:aws:iam::123456789012:root has no policies of its own/);
  assert.equal(principalText(user), "user ann");
});
