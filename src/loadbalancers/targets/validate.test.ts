import assert from "node:assert/strict";
import { test } from "node:test";
import type { BindingSpec } from "./binding.ts";
import { defaultsFor, type GroupFacts, groupProblems, isComplete, type OtherBinding, sharingProblem, specProblems } from "./validate.ts";

const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/0123456789abcdef";
const spec = (rest: Partial<BindingSpec> = {}): BindingSpec => ({ targetGroupARN: arn, serviceRef: { name: "web", port: 80 }, ...rest });
const texts = (rest: Partial<BindingSpec>) => specProblems(spec(rest)).map(({ message }) => message);

const wrong: readonly (readonly [Partial<BindingSpec>, RegExp])[] = [
  [{ targetGroupARN: "" }, /must specify these fields: either TargetGroupARN or TargetGroupName/],
  [{ serviceRef: { name: "", port: 80 } }, /serviceRef\.name must name a Service/],
  [{ targetType: "lambda" as never }, /spec\.targetType "lambda": allowed are instance, ip/],
  [{ ipAddressType: "dual" as never }, /spec\.ipAddressType "dual": allowed are ipv4, ipv6/],
  [{ targetGroupProtocol: "SCTP" }, /spec\.targetGroupProtocol "SCTP": allowed are HTTP, /],
  [{ targetType: "ip", nodeSelector: {} }, /cannot set NodeSelector when TargetType is ip/],
  [{ vpcID: "vpc-0A1B2C3D" }, /vpcID vpc-0A1B2C3D failed to satisfy constraint/],
  [{ targetType: "instance", iamRoleArnToAssume: "arn" }, /Unable to use instance target type while using assume role/],
  [{ targetType: "instance", targetGroupProtocol: "TCP_QUIC" }, /QUIC protocol is not supported for Instance/],
  [{ networking: { ingress: [{ from: [{}], ports: [] }] } }, /from\[0\]: either ipBlock or securityGroup should be specified/],
  [
    { networking: { ingress: [{ from: [{ ipBlock: { cidr: "::/0" }, securityGroup: { groupID: "sg-1" } }], ports: [] }] } },
    /a peer is one of them/,
  ],
];

for (const [rest, says] of wrong) {
  test(`a binding with ${JSON.stringify(rest)} is refused`, () => {
    const [message, ...more] = texts(rest);
    assert.match(message ?? "", says);
    assert.deepEqual(more, []);
  });
}

test("what is right is not complained about, and VPC ids of all lengths are right", () => {
  for (const length of [8, 17, 32]) assert.deepEqual(texts({ vpcID: `vpc-${"a".repeat(length)}` }), []);
  assert.deepEqual(texts({ targetGroupARN: undefined as never, targetGroupName: "web" }), []);
  assert.deepEqual(texts({ targetType: "instance", nodeSelector: { matchLabels: { a: "b" } } }), []);
});

const other = (rest: Partial<OtherBinding> = {}): OtherBinding => ({
  namespace: "shop",
  name: "a",
  uid: "a",
  createdBefore: true,
  multiCluster: false,
  ...rest,
});

test("a group is the first binding's, unless all of them share it", () => {
  const shares = { multiClusterTargetGroup: true };
  assert.equal(sharingProblem(spec(), []), undefined);
  assert.equal(sharingProblem(spec(), [other({ createdBefore: false })]), undefined);
  assert.match(
    sharingProblem(spec(), [other(), other({ name: "b" })])?.message ?? "",
    /already bound to following TargetGroupBindings \[shop\/a shop\/b\]/,
  );
  assert.ok(sharingProblem(spec(shares), [other()]), "the other does not share it");
  assert.ok(sharingProblem(spec(), [other({ multiCluster: true })]), "this one does not share it");
  assert.equal(sharingProblem(spec(shares), [other({ multiCluster: true })]), undefined);
});

const facts = (rest: Partial<GroupFacts> = {}): GroupFacts => ({
  arn,
  type: "ip",
  addressType: "ipv4",
  vpc: "vpc-1",
  protocol: "TCP",
  ...rest,
});
const reasons = (rest: Partial<BindingSpec>, group: Partial<GroupFacts> = {}) =>
  groupProblems(spec(rest), facts(group)).map(({ reason }) => reason);

test("a binding agrees with its group, or touches nothing", () => {
  assert.deepEqual(reasons({}), []);
  assert.deepEqual(reasons({ targetType: "ip", ipAddressType: "ipv4", vpcID: "vpc-1", targetGroupProtocol: "TCP" }), []);
  for (const type of ["lambda", "alb"]) assert.deepEqual(reasons({}, { type }), ["UnsupportedTargetType"]);
  assert.deepEqual(reasons({}, { addressType: "odd" }), ["UnsupportedTargetType"]);
  const others: readonly Partial<BindingSpec>[] = [
    { targetType: "instance" },
    { ipAddressType: "ipv6" },
    { vpcID: "vpc-2" },
    { targetGroupProtocol: "HTTP" },
  ];
  for (const rest of others) assert.deepEqual(reasons(rest), ["TargetGroupMismatch"], JSON.stringify(rest));
});

test("what is left out comes from the group, and nothing that was said is changed", () => {
  const whole = { targetType: "ip", ipAddressType: "ipv4", vpcID: "vpc-1", targetGroupProtocol: "TCP" } as const;
  assert.deepEqual(defaultsFor(spec(), facts()), whole);
  assert.deepEqual(defaultsFor(spec({ ...whole, targetGroupARN: "" }), facts()), { targetGroupARN: arn });
  assert.equal(isComplete(spec()), false);
  assert.equal(isComplete(spec(whole)), true);
});
