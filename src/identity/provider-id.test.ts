import assert from "node:assert/strict";
import { test } from "node:test";
import { instanceIdOfNodeName, type ProviderId, parseProviderId, providerIdOf } from "./provider-id.ts";

const cases: readonly (readonly [text: string, expected: Partial<ProviderId>])[] = [
  ["aws:///us-east-1a/i-12345678", { kind: "instance", instanceId: "i-12345678", zone: "us-east-1a" }],
  ["aws:////i-0123456789abcdef0", { kind: "instance", instanceId: "i-0123456789abcdef0", zone: undefined }],
  ["aws://123456789012/us-east-1a/i-12345678", { kind: "instance", instanceId: "i-12345678", zone: "us-east-1a" }],
  ["aws:///us-east-1a/anything/i-12345678", { kind: "instance", instanceId: "i-12345678", zone: "us-east-1a" }],
  ["aws:///us-east-1a/i-12345678/", { kind: "instance", instanceId: "i-12345678" }],
  ["aws:///us-east-1a/i%2D12345678?x=1#y", { kind: "instance", instanceId: "i-12345678" }],
  ["i-12345678", { kind: "instance", instanceId: "i-12345678", zone: undefined }],
  ["i-0123456789abcdef0", { kind: "instance", instanceId: "i-0123456789abcdef0" }],
  ["aws:///us-east-1a/i-zzz", { kind: "instance", instanceId: "i-zzz" }],
  [
    "aws:///us-west-2c/8c0a/fargate-ip-192-168-164-88.us-west-2.compute.internal",
    { kind: "fargate", address: "192.168.164.88", zone: "us-west-2c" },
  ],
  ["aws:///us-west-2c/8c0a/fargate-192.168.164.88", { kind: "fargate", address: "192.168.164.88" }],
  ["gce://project/zone/i-foo", { kind: "foreign", scheme: "gce" }],
  ["azure:///subscriptions/x", { kind: "foreign", scheme: "azure" }],
  ["", { kind: "invalid", reason: "Invalid format for AWS instance ()" }],
  ["vol-123", { kind: "invalid", reason: "Invalid format for AWS instance (vol-123)" }],
  ["aws:///us-east-1a/vol-123", { kind: "invalid" }],
  ["aws://account/us-east-1a/vol-123", { kind: "invalid" }],
  ["aws:///us-east-1a/vol-123/suffix", { kind: "invalid" }],
  ["aws:///us-east-1a/mi-123", { kind: "invalid" }],
  ["aws://i-12345678", { kind: "invalid" }],
  ["aws:///us-east-1a/i-1%zz", { kind: "invalid", reason: "Invalid instance name (aws:///us-east-1a/i-1%zz): invalid URL escape" }],
];

for (const [text, expected] of cases) {
  test(`provider ID "${text}" is ${expected.kind}`, () => {
    const parsed = parseProviderId(text);
    assert.deepEqual({ ...parsed, ...expected }, parsed);
  });
}

test("the provider ID we write is read back", () => {
  assert.equal(providerIdOf("us-east-1a", "i-12345678"), "aws:///us-east-1a/i-12345678");
});

test("a resource-based node name holds the instance id, any other holds none", () => {
  assert.equal(instanceIdOfNodeName("i-0abc.us-west-2.compute.internal"), "i-0abc");
  assert.equal(instanceIdOfNodeName("i-0abc"), "i-0abc");
  assert.equal(instanceIdOfNodeName("ip-10-0-0-1.ec2.internal"), undefined);
});
