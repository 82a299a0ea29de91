import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clouds } from "../aws/cloud.ts";
import { simulate } from "./policy-simulator.ts";
import type { Samples } from "./probes.ts";

const samples = { clusterId: "shop", region: "eu-central-1", vpc: "vpc-1", account: "123456789012", instance: "i-1" } as Samples;

test("IAM's simulator is told the region that AWS would see: for a service without regions that is its home", async () => {
  const seen = new Map<string, string>();
  const call = async (_: unknown, input: { ActionNames: readonly string[]; ContextEntries: readonly Record<string, unknown>[] }) => {
    const entry = input.ContextEntries.find(({ ContextKeyName }) => ContextKeyName === "aws:RequestedRegion");
    for (const action of input.ActionNames) seen.set(action, String(entry?.ContextKeyValues));
    return {};
  };
  const clouds = { in: () => ({ call }) } as unknown as Clouds;
  const actions = ["ec2:CreateVolume", "iam:CreateServiceLinkedRole", "route53:ChangeResourceRecordSets", "shield:CreateProtection"];
  const questions = actions.map((action) => ({ action, grant: { sid: "It", why: "", calls: [], resources: ["*"] } }));
  await simulate(clouds, "arn:aws:iam::123456789012:role/shop", questions, samples, {
    cause: "test",
    signal: new AbortController().signal,
  });
  assert.deepEqual(Object.fromEntries(seen), {
    "ec2:CreateVolume": "eu-central-1",
    "iam:CreateServiceLinkedRole": "us-east-1",
    "route53:ChangeResourceRecordSets": "us-east-1",
    "shield:CreateProtection": "us-east-1",
  });
});
