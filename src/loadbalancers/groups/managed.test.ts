import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../../aws/plan.ts";
import type { ManagedGroup } from "../model.ts";
import { planGroup, type SeenGroup } from "./managed.ts";

const group: ManagedGroup = {
  name: "k8s-shop",
  description: "d",
  tags: { mark: "ours", team: "a" },
  ownership: { mark: "ours" },
  rules: [
    { protocol: "tcp", fromPort: 80, toPort: 80, cidr: "10.0.0.0/8" },
    { protocol: "tcp", fromPort: 80, toPort: 80, prefixList: "pl-1" },
  ],
};
const rules = [
  { id: "sgr-1", protocol: "tcp", fromPort: 80, toPort: 80, cidr: "10.0.0.0/8" },
  { id: "sgr-2", protocol: "tcp", fromPort: 80, toPort: 80, prefixList: "pl-1" },
];
const seen = (given: Partial<SeenGroup> = {}): SeenGroup => ({
  id: "sg-1",
  name: "k8s-shop",
  tags: group.tags,
  owned: true,
  rules,
  ...given,
});
const stepsFor = (wanted: ManagedGroup, present: SeenGroup | undefined): readonly Step[] => {
  const { open, close } = planGroup(wanted, "vpc-1", present, "Ingress");
  return [...open, ...close];
};
const calls = (steps: readonly Step[]) => steps.map(({ action, input }) => [action.name, input]);

test("clients of a prefix list are let in, and a rule for one that stands is known", () => {
  assert.deepEqual(stepsFor(group, seen()), []);
  const [, allow] = stepsFor(group, undefined);
  assert.deepEqual((allow?.input as { IpPermissions: object[] } | undefined)?.IpPermissions, [
    { IpProtocol: "tcp", FromPort: 80, ToPort: 80, IpRanges: [{ CidrIp: "10.0.0.0/8", Description: undefined }] },
    { IpProtocol: "tcp", FromPort: 80, ToPort: 80, PrefixListIds: [{ PrefixListId: "pl-1", Description: undefined }] },
  ]);
  const other = seen({ rules: [rules[0]!, { ...rules[1]!, prefixList: "pl-2" }] });
  assert.deepEqual(
    stepsFor(group, other).map(({ what }) => what),
    ["allow tcp:80 from pl-1 in security group k8s-shop", "revoke tcp:80 from pl-2 in security group k8s-shop"],
  );
});

test("without more only missing marks are put back; where all tags are kept, all but those of others are", () => {
  const tags = { team: "b", theirs: "x", old: "y", "aws:x": "z" };
  assert.deepEqual(calls(stepsFor(group, seen({ tags }))), [
    ["CreateTags", { Resources: ["sg-1"], Tags: [{ Key: "mark", Value: "ours" }] }],
  ]);
  const exact = { ...group, isForeignTag: (key: string) => key === "theirs" };
  assert.deepEqual(calls(stepsFor(exact, seen({ tags }))), [
    [
      "CreateTags",
      {
        Resources: ["sg-1"],
        Tags: [
          { Key: "mark", Value: "ours" },
          { Key: "team", Value: "a" },
        ],
      },
    ],
    ["DeleteTags", { Resources: ["sg-1"], Tags: [{ Key: "old" }] }],
  ]);
});
