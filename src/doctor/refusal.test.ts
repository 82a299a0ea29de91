import assert from "node:assert/strict";
import { test } from "node:test";
import { isMendedByPolicy, refusalIn, refusalOf } from "./refusal.ts";

const user = "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: ec2:CreateTags on resource: *";

for (const [message, explicit, by] of [
  [`${user} because no identity-based policy allows the ec2:CreateTags action`, false, "identity-based policy"],
  [`${user} because no permissions boundary allows the ec2:CreateTags action`, false, "permissions boundary"],
  [`${user} because no service control policy allows the ec2:CreateTags action`, false, "service control policy"],
  [`${user} with an explicit deny in an identity-based policy`, true, "identity-based policy"],
  [
    `You are not authorized to perform this operation. ${user} with an explicit deny in a service control policy. Encoded`,
    true,
    "service control policy",
  ],
  [`${user} with an explicit deny in a resource-based policy: arn`, true, "resource-based policy"],
  [`${user} with an explicit deny`, true, "policy"],
  ["You are not authorized to perform this operation.", false, "identity-based policy"],
] as const) {
  test(`the reason of a refusal is read: ${by}, ${explicit ? "explicit" : "implicit"} (${message.slice(-40)})`, () => {
    assert.deepEqual(refusalIn(message), { explicit, by });
  });
}

test("the simulator's answer tells the organisation's and the boundary's refusals from the policy's own", () => {
  assert.deepEqual(refusalOf({ EvalDecision: "explicitDeny" }), { explicit: true, by: "identity-based policy" });
  const organisation = refusalOf({ EvalDecision: "implicitDeny", OrganizationsDecisionDetail: { AllowedByOrganizations: false } });
  assert.deepEqual(organisation, { explicit: false, by: "service control policy" });
  const boundary = refusalOf({
    EvalDecision: "implicitDeny",
    PermissionsBoundaryDecisionDetail: { AllowedByPermissionsBoundary: false },
  });
  assert.equal(boundary.by, "permissions boundary");
  assert.deepEqual([organisation, boundary].map(isMendedByPolicy), [false, false]);
  assert.equal(isMendedByPolicy(refusalOf({ EvalDecision: "implicitDeny" })), true);
});
