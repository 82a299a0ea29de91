import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import type { SeenNode } from "../../../identity/node-view.ts";
import type { KubeObject, Stored } from "../../../kube/resource.ts";
import { exampleFile } from "../testing.ts";
import { classProblems, consumersOf, statusChange } from "./class-status.ts";
import { contains, difference } from "./difference.ts";
import { hostAddressStep } from "./host-addresses.ts";
import { uninitialisedMasters } from "./masters.ts";
import { planObject } from "./plan.ts";
import type { InstanceClass, NodeGroup } from "./resources.ts";
import { mayLackSizes, withRootDisks } from "./root-disks.ts";
import { isSpotNotified, spotMarks } from "./spot-nodes.ts";

const labels = { heritage: "deckhouse", module: "cloud-provider-aws" };
const stored = (object: object) => ({ ...object, metadata: { name: "it", uid: "1", resourceVersion: "1", labels } }) as Stored<KubeObject>;
const group = (name: string, instanceClass: string, more: object = {}): NodeGroup => ({
  metadata: { name },
  spec: { nodeType: "CloudEphemeral", cloudInstances: { classReference: { kind: "AWSInstanceClass", name: instanceClass }, ...more } },
});

test("maps may have more, lists may not", () => {
  assert.ok(contains({ a: 1, b: 2 }, { a: 1 }));
  assert.ok(contains({ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] }));
  assert.ok(!contains({ a: [1, 2] }, { a: [1] }));
  assert.ok(!contains({}, { a: null }));
  assert.ok(contains({}, { a: undefined }));
});

test("a Secret loses keys that nobody wants; other objects keep what others have added", () => {
  const wanted = { kind: "Secret", metadata: { name: "it", labels }, data: { a: "1" } };
  assert.equal(difference(stored({ data: { a: "1" } }), wanted), undefined);
  assert.deepEqual(difference(stored({ data: { a: "2", b: "3" } }), wanted), { data: { a: "1", b: null }, metadata: { labels } });
  const definition = { kind: "CustomResourceDefinition", metadata: { name: "it", labels }, spec: { scope: "Cluster" } };
  assert.equal(difference(stored({ spec: { scope: "Cluster", conversion: { strategy: "Webhook" } } }), definition), undefined);
});

test("a storage class is replaced for what cannot be changed, patched for the rest, and left to another provisioner", () => {
  const wanted = {
    kind: "StorageClass",
    metadata: { name: "it", labels },
    provisioner: "a",
    parameters: { type: "gp3" },
    allowVolumeExpansion: true,
  };
  const step = (change: object) => planObject(wanted, stored({ ...wanted, ...change }))?.do;
  assert.equal(step({}), undefined);
  assert.equal(step({ allowVolumeExpansion: false }), "patch");
  assert.equal(step({ parameters: { type: "gp2" } }), "replace");
  assert.equal(step({ parameters: { type: "gp3", iops: "1" } }), "replace", "a parameter that is not wanted any more");
  assert.equal(step({ provisioner: "b" }), "leave");
});

test("consumers: ephemeral groups of the class, in the order of their names; any order in the status is as good", () => {
  const groups = [group("b", "x"), group("a", "x"), group("c", "y"), { ...group("d", "x"), spec: { nodeType: "Static" } }];
  const consumers = consumersOf(groups).get("x")!;
  assert.deepEqual(statusChange({}, consumers), { nodeGroupConsumers: ["a", "b"] });
  assert.equal(statusChange({ status: { nodeGroupConsumers: ["b", "a"] } }, consumers), undefined);
  assert.deepEqual(statusChange({}, []), { nodeGroupConsumers: [] });
  assert.equal(statusChange({ status: { nodeGroupConsumers: [] } }, []), undefined);
  assert.deepEqual(statusChange({ status: { nodeGroupConsumers: null } } as unknown as InstanceClass, []), { nodeGroupConsumers: [] });
});

test("classes from which no machine can be made, each problem in words that name it", () => {
  const provider = exampleFile.discoveryData as Parameters<typeof classProblems>[2];
  const problems = (spec: object, zones?: readonly string[], discovered = {}) =>
    classProblems({ instanceType: "m5.large", ...spec }, [group("a", "x", { zones })], provider, discovered).join();
  assert.equal(problems({}), "");
  assert.match(problems({ diskType: "io2" }), /spec\.diskType: io2 is none of .* gp3, gp2, io1/);
  assert.match(problems({ diskType: "io1" }), /io1 needs spec\.iops/);
  assert.match(problems({ iops: "many" }), /spec\.iops: many is not a number/);
  assert.match(problems({ instanceType: "" }), /spec\.instanceType is empty/);
  assert.match(problems({}, ["eu-central-1z"]), /zone eu-central-1z of a NodeGroup has no subnet/);
  assert.match(problems({}, undefined, { instanceTypeZones: { "m5.large": [] } }), /m5\.large is not offered in zone eu-central-1a/);
  assert.equal(problems({ diskType: null, iops: null, additionalSecurityGroups: null }), "");
  assert.match(problems({ instanceType: null }), /spec\.instanceType is empty/);
  const bare = { ...provider, instances: { ...provider.instances, additionalSecurityGroups: [] } };
  assert.match(classProblems({ instanceType: "m5.large" }, [], bare, undefined).join(), /no security group/);
});

test("spot: what is missing, and nothing for a node that is marked, drained or clean", () => {
  const label = { "node.deckhouse.io/termination-in-progress": "true" };
  const draining = { "update.node.deckhouse.io/draining": "aws-node-termination-handler" };
  assert.deepEqual(spotMarks({}), { labels: label, annotations: draining });
  assert.deepEqual(spotMarks({ labels: label }), { annotations: draining });
  assert.equal(spotMarks({ labels: label, annotations: { "update.node.deckhouse.io/drained": "x" } }), undefined);
  assert.equal(isSpotNotified({ taints: [{ key: "aws-node-termination-handler/rebalance-recommendation" }] }), false);
});

test("host addresses: remembered, kept, changed, and not there yet", () => {
  const step = (hostIP: string, initial?: string) =>
    hostAddressStep({
      metadata: { name: "a", uid: "1", resourceVersion: "1", annotations: initial ? { "node.deckhouse.io/initial-host-ip": initial } : {} },
      hostIP,
    });
  assert.deepEqual(
    [step(""), step("1"), step("1", "1"), step("2", "1"), step("", "1")],
    ["nothing", "remember", "nothing", "delete", "nothing"],
  );
});

test("root disks: sizes are written where they are missing, and comments and order stay", () => {
  const text = [
    "kind: AWSClusterConfiguration # ours",
    "masterNodeGroup:",
    "  instanceClass: {ami: ami-1, instanceType: m5.large}",
    "nodeGroups:",
    "  # the first",
    "  - name: a",
    "    instanceClass:",
    "      instanceType: m5.large",
    "  - name: b",
    "    instanceClass: {instanceType: m5.large, diskSizeGb: 50}",
    "",
  ].join("\n");
  const written = withRootDisks(text)!;
  assert.deepEqual(parse(written).masterNodeGroup.instanceClass, { ami: "ami-1", instanceType: "m5.large", diskSizeGb: 20 });
  assert.deepEqual(
    (parse(written).nodeGroups as { instanceClass: { diskSizeGb: number } }[]).map(({ instanceClass }) => instanceClass.diskSizeGb),
    [20, 50],
  );
  assert.match(written, /# ours\n.*# the first\n/s);
  assert.equal(withRootDisks(written), undefined, "the second time there is nothing to do");
  assert.equal(withRootDisks("masterNodeGroup: {instanceClass: {diskSizeGb: 30}}"), undefined);
  assert.throws(
    () => withRootDisks("x: &c {a: 1}\nmasterNodeGroup:\n  instanceClass: *c\n"),
    /masterNodeGroup\.instanceClass: has an alias in it; write diskSizeGb by hand/,
  );
  assert.throws(() => withRootDisks("x: &c {diskSizeGb: 1}\nmasterNodeGroup:\n  instanceClass:\n    <<: *c\n"), /has an alias in it/);
  for (const elsewhere of [
    "x: &g {name: a, instanceClass: {ami: b}}\nnodeGroups: [*g]\n",
    "x: &g [{name: a, instanceClass: {ami: b}}]\nnodeGroups: *g\n",
    "x: &g {instanceClass: {ami: b}}\nmasterNodeGroup: *g\n",
    "x: &g {instanceClass: {ami: b}}\nnodeGroups: [{<<: *g, name: a}]\n",
  ]) {
    assert.throws(() => withRootDisks(elsewhere), /has an alias in it/, elsewhere);
  }
});

test("root disks: clusters of before release 1.63, and those of which nobody knows the release", () => {
  const rows: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, true],
    ["v1.62.4", true],
    ["1.9.0", true],
    ["v0.99.0", true],
    ["v1.63.0", false],
    ["v1.63.0-rc.1", false],
    ["v1.70.1+a", false],
    ["v2.0.0", false],
    ["dev", false],
  ];
  for (const [version, expected] of rows) assert.equal(mayLackSizes(version), expected, `${version}`);
  for (const version of ["", "main", "1.62"]) assert.throws(() => mayLackSizes(version), /install-data: version: ".*" is no version/);
});

test("masters: those of the control plane with the taint, by name", () => {
  const node = (name: string, labels: Record<string, string>, ...keys: string[]) =>
    ({ metadata: { name, labels }, taints: keys.map((key) => ({ key, effect: "NoSchedule" })) }) as unknown as SeenNode;
  const [master, taint] = [{ "node-role.kubernetes.io/control-plane": "" }, "node.cloudprovider.kubernetes.io/uninitialized"];
  const late = uninitialisedMasters([node("b", master, taint), node("c", {}, taint), node("d", master, "other"), node("a", master, taint)]);
  assert.deepEqual(
    late.map(({ metadata }) => metadata.name),
    ["a", "b"],
  );
});
