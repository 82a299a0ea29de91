import assert from "node:assert/strict";
import { test } from "node:test";
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { createTargetGroup, deleteTargetGroup } from "../../aws/elbv2-actions.ts";
import { step } from "../../aws/plan.ts";
import { NewTargetGroups } from "./new-groups.ts";

const creation = step(createTargetGroup, { Name: "web" }, { what: "create target group web", why: "it is asked for" });
const made = (...groups: readonly TargetGroup[]) => ({ TargetGroups: groups });

function noted() {
  let now = 0;
  const groups = new NewTargetGroups({ monotonic: () => now } as never);
  return {
    groups,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("a target group that was made is known for five minutes, as AWS answered, until something is registered in it", () => {
  const { groups, pass } = noted();
  groups.note(creation, made({ TargetGroupArn: "arn:1", TargetType: "ip", LoadBalancerArns: [] }));
  groups.note(creation, made({ TargetGroupArn: "arn:2" }));
  assert.equal(groups.get("arn:1")?.TargetType, "ip");
  assert.equal(groups.get("arn:3"), undefined);
  groups.forget("arn:1");
  assert.equal(groups.get("arn:1"), undefined);
  pass(5 * 60_000 - 1);
  assert.ok(groups.get("arn:2"));
  pass(1);
  assert.equal(groups.get("arn:2"), undefined);
});

test("one that AWS answers with because it stands already is not taken for empty", () => {
  const { groups } = noted();
  groups.note(creation, made({ TargetGroupArn: "arn:1", LoadBalancerArns: ["arn:lb"] }));
  assert.equal(groups.get("arn:1"), undefined);
});

test("other steps, and answers without a group, are passed over", () => {
  const { groups } = noted();
  groups.note(step(deleteTargetGroup, { TargetGroupArn: "arn:1" }, { what: "", why: "" }), made({ TargetGroupArn: "arn:1" }));
  groups.note(creation, {});
  assert.equal(groups.get("arn:1"), undefined);
});
