/** The definition of TargetGroupBinding on a real API server: its rules say what the reference leaves to a webhook. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isApiError } from "../../src/kube/errors.ts";
import { resource } from "../../src/kube/resource.ts";
import { type BindingSpec, type TargetGroupBinding, targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import { bed } from "../bed/bed.ts";
import { eventually } from "../bed/eventually.ts";

const definitions = resource<typeof targetGroupBindingDefinition>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});

const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/0123456789abcdef";
const serviceRef = { name: "web", port: 80 };

const refused: readonly (readonly [string, Partial<BindingSpec>, RegExp])[] = [
  ["no group", {}, /must provide either TargetGroupARN or TargetGroupName/],
  ["an unknown type", { targetGroupARN: arn, targetType: "lambda" as never }, /Unsupported value: "lambda"/],
  ["nodes of pods", { targetGroupARN: arn, targetType: "ip", nodeSelector: {} }, /cannot set NodeSelector when TargetType is ip/],
  [
    "a role for instances",
    { targetGroupARN: arn, targetType: "instance", iamRoleArnToAssume: "arn:x" },
    /instance target type while using assume role/,
  ],
  ["QUIC to instances", { targetGroupARN: arn, targetType: "instance", targetGroupProtocol: "QUIC" }, /QUIC protocol is not supported/],
  ["a VPC that is none", { targetGroupARN: arn, vpcID: "vpc-XYZ" }, /vpcID/],
  [
    "a peer that is two",
    {
      targetGroupARN: arn,
      networking: { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" }, securityGroup: { groupID: "sg-1" } }], ports: [] }] },
    },
    /either ipBlock or securityGroup should be specified/,
  ],
];

test("mistakes in a TargetGroupBinding are refused by the API server, and what was said once stays", async (t) => {
  const { cluster } = await bed(t);
  const client = cluster.admin;
  await client.create(definitions, targetGroupBindingDefinition);
  await eventually(async () => assert.ok(await client.list(targetGroupBindings)));
  const create = (name: string, spec: Partial<BindingSpec>) =>
    client.create(targetGroupBindings, { metadata: { namespace: "default", name }, spec: { serviceRef, ...spec } });

  for (const [i, [what, spec, says]] of refused.entries()) {
    await assert.rejects(create(`bad-${i}`, spec), (error: unknown) => isApiError(error, "invalid") && says.test(error.message), what);
  }

  await create("web", { targetGroupName: "web" });
  const edit = (spec: Partial<BindingSpec>) =>
    client.patch(targetGroupBindings, { namespace: "default", name: "web" }, { merge: { spec } });
  await edit({ targetGroupARN: arn, targetType: "ip", ipAddressType: "ipv6", vpcID: "vpc-0a1b2c3d", targetGroupProtocol: "TCP" });
  for (const change of [{ targetGroupARN: `${arn}0` }, { targetType: "instance" }, { ipAddressType: "ipv4" }, { vpcID: "vpc-0a1b2c3e" }])
    await assert.rejects(edit(change as Partial<BindingSpec>), /may not change these immutable fields: spec\./, JSON.stringify(change));
  await edit({ serviceRef: { name: "other", port: "http" } });

  const status = { observedGeneration: 3, targets: { wanted: 1, registered: 1, healthy: 1, draining: 0 } };
  await client.patch(targetGroupBindings, { namespace: "default", name: "web", subresource: "status" }, { merge: { status } });
  const stored: TargetGroupBinding = await client.get(targetGroupBindings, { namespace: "default", name: "web" });
  assert.deepEqual(stored.status, status, "nothing of it is pruned");
});
