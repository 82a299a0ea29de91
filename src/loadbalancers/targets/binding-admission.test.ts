import assert from "node:assert/strict";
import { test } from "node:test";
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Cloud } from "../../aws/cloud.ts";
import type { AdmissionRequest, Verdict } from "../admission/review.ts";
import type { BindingSpec } from "./binding.ts";
import { type BindingAdmissionParts, defaultBinding, validateBinding } from "./binding-admission.ts";
import type { OtherBinding } from "./validate.ts";

const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/0123456789abcdef";
const vpc = "vpc-0a1b2c3d";
const ownVpc = "vpc-0000aaaa";
const group: TargetGroup = {
  TargetGroupArn: arn,
  TargetGroupName: "web",
  TargetType: "ip",
  IpAddressType: "ipv4",
  VpcId: vpc,
  Protocol: "TCP",
};
const whole = { targetGroupARN: arn, targetType: "ip", ipAddressType: "ipv4", vpcID: vpc, targetGroupProtocol: "TCP" } as const;

interface Bed {
  readonly group?: TargetGroup | Error | undefined;
  readonly others?: readonly OtherBinding[];
}

function bed({ others = [], ...rest }: Bed) {
  const asked: string[] = [];
  const look = async (by: string) => {
    asked.push(by);
    const found = "group" in rest ? rest.group : group;
    if (found instanceof Error) throw found;
    return found;
  };
  const cloud = { loadBalancers: { targetGroupAt: look, targetGroup: look } } as unknown as Cloud;
  const parts: BindingAdmissionParts = { cloudOf: () => cloud, others: () => others, vpc: ownVpc };
  return { asked, parts };
}

const { signal } = new AbortController();
const serviceRef = { name: "web", port: 80 };
const request = (spec: Partial<BindingSpec>, oldSpec?: Partial<BindingSpec>): AdmissionRequest => ({
  operation: oldSpec ? "UPDATE" : "CREATE",
  namespace: "shop",
  name: "web",
  object: { metadata: { uid: "u-1" }, spec: { serviceRef, ...spec } },
  oldObject: oldSpec && { metadata: { uid: "u-1" }, spec: { serviceRef, ...oldSpec } },
});

async function defaulted(spec: Partial<BindingSpec>, world: Bed = {}, operation: "CREATE" | "UPDATE" = "CREATE") {
  const { asked, parts } = bed(world);
  const verdict = await defaultBinding({ ...request(spec), operation }, parts, signal);
  return { verdict, asked };
}

const filled = (verdict: Verdict) =>
  verdict.kind === "allow"
    ? Object.fromEntries((verdict.patch ?? []).map((each) => [each.path.slice(6), "value" in each && each.value]))
    : verdict;

test("a binding that says everything is left alone, and nothing is asked of AWS; an update neither", async () => {
  for (const operation of ["CREATE", "UPDATE"] as const) {
    const { verdict, asked } = await defaulted(operation === "CREATE" ? whole : {}, {}, operation);
    assert.deepEqual([filled(verdict), asked], [{}, []]);
  }
});

for (const field of ["targetType", "ipAddressType", "vpcID", "targetGroupProtocol"] as const) {
  test(`${field} is taken from the target group, with one call`, async () => {
    const { [field]: value, ...rest } = whole;
    const { verdict, asked } = await defaulted(rest);
    assert.deepEqual([filled(verdict), asked], [{ [field]: value }, [arn]]);
  });
}

test("a name is resolved, and everything else with it; an empty address type is ipv4", async () => {
  const { verdict, asked } = await defaulted({ targetGroupName: "web" }, { group: { ...group, IpAddressType: undefined } });
  assert.deepEqual([filled(verdict), asked], [whole, ["web"]]);
});

const without = (field: keyof typeof whole): Partial<BindingSpec> => ({ ...whole, [field]: undefined });

const undefaulted: readonly (readonly [string, Partial<BindingSpec>, Bed, Verdict["kind"], string, RegExp])[] = [
  ["neither ARN nor name", {}, {}, "deny", "checkTargetGroupArnOrName", /^must provide either TargetGroupARN or TargetGroupName$/],
  ["a name of nothing", { targetGroupName: "x" }, { group: undefined }, "deny", "getArnFromNameIfNeeded", /query \[x\] but got 0/],
  [
    "a function's group",
    { targetGroupARN: arn },
    { group: { ...group, TargetType: "lambda" } },
    "deny",
    "defaultingTargetType",
    /unsupported TargetType: lambda/,
  ],
  [
    "an unknown family",
    { targetGroupARN: arn },
    { group: { ...group, IpAddressType: "ipv5" as never } },
    "deny",
    "defaultingIPAddressType",
    /unsupported IPAddressType: ipv5/,
  ],
  ["AWS failing", { targetGroupName: "web" }, { group: new Error("Throttling") }, "pass", "getArnFromNameIfNeeded", /Throttling/],
  ["AWS failing", { targetGroupARN: arn }, { group: new Error("AccessDenied") }, "pass", "defaultingTargetType", /AccessDenied/],
  ["AWS failing", without("ipAddressType"), { group: new Error("Throttling") }, "pass", "defaultingIPAddressType", /Throttling/],
  ["AWS failing", without("vpcID"), { group: new Error("Throttling") }, "pass", "defaultingVpcID", /Throttling/],
  [
    "AWS failing",
    without("targetGroupProtocol"),
    { group: new Error("Throttling") },
    "pass",
    "defaultingTargetGroupProtocol",
    /Throttling/,
  ],
];

for (const [what, spec, world, kind, category, says] of undefaulted) {
  test(`with ${what} (${category}) a new binding gets: ${kind}`, async () => {
    const { verdict } = await defaulted(spec, world);
    assert.equal(verdict.kind, kind);
    assert.equal("category" in verdict && verdict.category, category);
    assert.match(verdict.kind === "deny" ? verdict.message : verdict.kind === "pass" ? verdict.why : "", says);
  });
}

const other = (multiCluster: boolean, name = "b"): OtherBinding => ({
  namespace: "shop",
  name,
  uid: name,
  createdBefore: true,
  multiCluster,
});

async function judged(spec: Partial<BindingSpec>, world: Bed = {}, old?: Partial<BindingSpec>) {
  const { asked, parts } = bed(world);
  const verdict = await validateBinding(request(spec, old), parts, signal);
  return {
    asked,
    text: verdict.kind === "allow" ? "allow" : verdict.kind === "deny" ? `${verdict.category}: ${verdict.message}` : verdict.kind,
  };
}

const instances = { ...group, TargetType: "instance" as const };
const creations: readonly (readonly [string, Partial<BindingSpec>, Bed, RegExp])[] = [
  ["all is right", whole, {}, /^allow$/],
  ["it has a name alone, AWS having failed before", { targetGroupName: "web" }, {}, /^allow$/],
  ["it says no type, AWS having failed before", { targetGroupARN: arn }, {}, /^allow$/],
  ...["vpc-0a1b2c3d", "vpc-0123456789abcdef0", `vpc-${"0a1b".repeat(8)}`].map(
    (vpcID) => [`its VPC is ${vpcID}`, { ...whole, vpcID }, { group: { ...group, VpcId: vpcID } }, /^allow$/] as const,
  ),
  ["there is neither ARN nor name", { targetType: "ip" }, {}, /^checkRequiredFields: .*either TargetGroupARN or TargetGroupName/],
  ["it chooses nodes for addresses", { ...whole, nodeSelector: {} }, {}, /^checkNodeSelector: .*cannot set NodeSelector/],
  [
    "another has the group",
    whole,
    { others: [other(false)] },
    /^checkExistingTargetGroups: .*already bound to following TargetGroupBindings \[shop\/b\]/,
  ],
  ["only the other shares", whole, { others: [other(true)] }, /^checkExistingTargetGroups/],
  [
    "only it shares",
    { ...whole, multiClusterTargetGroup: true },
    { others: [other(false), other(true, "c")] },
    /^checkExistingTargetGroups.*\[shop\/b shop\/c\]/,
  ],
  ["all share", { ...whole, multiClusterTargetGroup: true }, { others: [other(true)] }, /^allow$/],
  ["its family differs", { ...whole, ipAddressType: "ipv6" }, {}, /^checkTargetGroupIPAddressType: invalid IP address type ipv4 for/],
  [
    "it says no family and the group is of IPv6",
    { targetGroupARN: arn, targetType: "ip" },
    { group: { ...group, IpAddressType: "ipv6" } },
    /^checkTargetGroupIPAddressType: invalid IP address type ipv6 for/,
  ],
  ["its VPC is none", { ...whole, vpcID: "pvc-0a1b2c3d" }, {}, /^checkTargetGroupVpcID: ValidationError: vpcID pvc-0a1b2c3d failed/],
  ["its VPC has wrong letters", { ...whole, vpcID: "vpc-0a1b2c3g" }, {}, /^checkTargetGroupVpcID: ValidationError/],
  ["its VPC is another", { ...whole, vpcID: "vpc-0a1b2c3e" }, {}, /^checkTargetGroupVpcID: invalid VpcID vpc-0a1b2c3e doesnt match/],
  ["the group does not exist", whole, { group: undefined }, /but got 0/],
  ["AWS fails", whole, { group: new Error("Throttling") }, /^pass$/],
  [
    "it takes a role for instances",
    { ...whole, targetType: "instance", iamRoleArnToAssume: "arn" },
    { group: instances },
    /^checkAssumeRoleConfig: Unable to use instance target type/,
  ],
  [
    "its protocol differs",
    { ...whole, targetGroupProtocol: "UDP" },
    {},
    /^checkTargetGroupProtocol: .*protocol differs \(got UDP, expected TCP\)/,
  ],
  [
    "it wants QUIC for instances",
    { ...whole, targetType: "instance", targetGroupProtocol: "QUIC" },
    { group: instances },
    /^checkTargetGroupProtocol: QUIC/,
  ],
  [
    "a peer is nobody",
    { ...whole, networking: { ingress: [{ from: [{}], ports: [] }] } },
    {},
    /^checkNetworking: .*either ipBlock or securityGroup/,
  ],
];

for (const [what, spec, world, says] of creations) {
  test(`a new binding is judged: ${what}`, async () => {
    assert.match((await judged(spec, world)).text, says);
  });
}

const base = { targetGroupARN: arn, targetType: "ip" } as const;
const updates: readonly (readonly [string, Partial<BindingSpec>, Partial<BindingSpec>, Bed, RegExp])[] = [
  ["another ARN", whole, { ...whole, targetGroupARN: `${arn}0` }, {}, /^checkImmutableFields: .*: spec\.targetGroupARN$/],
  ["no ARN", whole, { ...whole, targetGroupARN: "", targetGroupName: "web" }, {}, /spec\.targetGroupARN$/],
  ["another type", whole, { ...whole, targetType: "instance" }, {}, /spec\.targetType$/],
  ["another family", whole, { ...whole, ipAddressType: "ipv6" }, {}, /spec\.ipAddressType$/],
  ["no family", { ...whole, ipAddressType: "ipv6" }, { ...whole, ipAddressType: undefined }, {}, /spec\.ipAddressType$/],
  ["no type", whole, { ...whole, targetType: undefined }, {}, /spec\.targetType$/],
  ["no VPC", whole, { ...whole, vpcID: undefined }, {}, /spec\.vpcID$/],
  ["a type where none was said", { targetGroupARN: arn }, { targetGroupARN: arn, targetType: "ip" }, {}, /^allow$/],
  ["another VPC", whole, { ...whole, vpcID: "vpc-0a1b2c3e" }, {}, /spec\.vpcID$/],
  [
    "all of them",
    whole,
    { ...whole, targetGroupARN: `${arn}0`, targetType: "instance", vpcID: "vpc-0a1b2c3e" },
    {},
    /ARN,spec\.targetType,spec\.vpcID$/,
  ],
  ["ipv4 where nothing was said", base, { ...base, ipAddressType: "ipv4" }, { group: new Error("never asked") }, /^allow$/],
  ["ipv6 where nothing was said", base, { ...base, ipAddressType: "ipv6" }, {}, /^checkImmutableFields: .*spec\.ipAddressType$/],
  ["the cluster's VPC where none was said", base, { ...base, vpcID: ownVpc }, { group: new Error("never asked") }, /^allow$/],
  ["the group's VPC where none was said", base, { ...base, vpcID: vpc }, {}, /^allow$/],
  ["a VPC that is not the group's where none was said", base, { ...base, vpcID: "vpc-0a1b2c3e" }, {}, /spec\.vpcID$/],
  ["the ARN of its name", { targetGroupName: "web" }, { targetGroupName: "web", targetGroupARN: arn }, {}, /^allow$/],
  ["the ARN of another", { targetGroupName: "api" }, { targetGroupName: "api", targetGroupARN: arn }, {}, /spec\.targetGroupARN$/],
  ["a Service's other port", whole, { ...whole, serviceRef: { name: "web", port: 81 } }, { group: new Error("never asked") }, /^allow$/],
  ["nodes for addresses", whole, { ...whole, nodeSelector: {} }, {}, /^checkNodeSelector/],
  [
    "a role for instances",
    { ...whole, targetType: "instance" },
    { ...whole, targetType: "instance", iamRoleArnToAssume: "a" },
    {},
    /^checkAssumeRoleConfig/,
  ],
  ["a group shared no more", { ...whole, multiClusterTargetGroup: true }, whole, { others: [other(true)] }, /^checkExistingTargetGroups/],
];

for (const [what, old, spec, world, says] of updates) {
  test(`a change of a binding is judged: ${what}`, async () => {
    assert.match((await judged(spec, world, old)).text, says);
  });
}

test("a binding whose spec stays as it is may always be written, whatever is wrong with it: finalizers and checkpoints are", async () => {
  const wrong = { ...whole, nodeSelector: {} };
  assert.deepEqual(await judged(wrong, { others: [other(false)], group: undefined }, wrong), { asked: [], text: "allow" });
});
