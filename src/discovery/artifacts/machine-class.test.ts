import assert from "node:assert/strict";
import { test } from "node:test";
import type { InstanceClassSpec } from "./input.ts";
import { machineClass, machineClassChecksum, machineClassName } from "./machine-class.ts";
import { plainYaml } from "./plain-yaml.ts";
import { exampleFile, exampleInput } from "./testing.ts";

test("names: every vector of the platform", () => {
  const uuid = "f49dd1c3-a63a-4565-a06c-625e35587eab";
  assert.equal(machineClassName("worker", "aaaa-bbbb", "eu-central-1a"), "worker-5d62b9b2");
  assert.equal(machineClassName("worker", uuid, "zonea"), "worker-02320933");
  assert.equal(machineClassName("worker", uuid, "zoneb"), "worker-6bdb5b0d");
});

test("checksums: every vector of the platform", () => {
  const full = { ami: "myami", diskSizeGb: 50, diskType: "gp2", iops: 42, instanceType: "t2.medium" };
  const rows: readonly (readonly [InstanceClassSpec, string, string])[] = [
    [full, "", "21b7f37222f1cbad6c644c0aa4eef85aa309b874ec725dc0cdc087ca06fc6c19"],
    [full, "test", "7b787b33650a0f9166b6eacfdaff5d7c1e0cc508d2831d392ca938e47b7460f6"],
    [{ instanceType: "m5.large" }, "", "4abe09d678acba9e38e29ee7926625af67e4e414ddf8246fb0368e7734ec7ab8"],
    [{ instanceType: "m5.large", diskSizeGb: 20 }, "", "4abe09d678acba9e38e29ee7926625af67e4e414ddf8246fb0368e7734ec7ab8"],
    [{ spot: false, additionalTags: {} }, "", "aac113b58af656b614d46eb38fc205f611333e69a89c453f2e0148215dee5adc"],
    [{ diskType: "io1", instanceType: "m5.large", iops: "500" }, "", "a64e5641c43f8f4617865be0ba35a01f96eba250761bdaffc004fa3b09fcc8f1"],
    [
      { instanceType: "t3.large", additionalSecurityGroups: ["sg-1", "sg-2"], additionalTags: { a: "b" } },
      "",
      "83c0ea65eef87d6f2e54c732e02163ffa28ab1a7fa3cc9f46121707862560265",
    ],
  ];
  for (const [spec, rollout, checksum] of rows) assert.equal(machineClassChecksum(spec, rollout), checksum, JSON.stringify(spec));
});

test("what is hashed is written as Go's library writes it", () => {
  assert.equal(plainYaml({}), "{}\n");
  const value = { b: { y: "", x: "yes", w: "a: b", v: "it's" }, a: ["1", "sg-1"], c: null, d: 50, e: true, f: [], "x: y": "2026-01-01" };
  assert.equal(
    plainYaml(value),
    `a:\n- "1"\n- sg-1\nb:\n  v: it's\n  w: 'a: b'\n  x: "yes"\n  "y": ""\nc: null\nd: 50\ne: true\nf: []\n'x: y': "2026-01-01"\n`,
  );
});

test("a class has the provider's image, groups and tags, overlaid by its own", () => {
  const group = { name: "worker", instanceClass: { instanceType: "m5.large", additionalSecurityGroups: ["sg-extra", "sg-base"] } };
  assert.deepEqual(machineClass(exampleInput(), group, "eu-central-1a"), {
    apiVersion: "machine.sapcloud.io/v1alpha1",
    kind: "AWSMachineClass",
    metadata: {
      name: "worker-5d62b9b2",
      namespace: "d8-cloud-instance-manager",
      labels: { heritage: "deckhouse", module: "node-manager", "node-group": "worker" },
    },
    spec: {
      ami: "ami-default",
      region: "eu-central-1",
      machineType: "m5.large",
      iam: { name: "demo-node" },
      keyName: "demo",
      sourceDestCheck: false,
      networkInterfaces: [
        { subnetID: "subnet-aaa", associatePublicIPAddress: true, deleteOnTermination: true, securityGroupIDs: ["sg-base", "sg-extra"] },
      ],
      useMachineNameAsNodeName: true,
      tags: { "kubernetes.io/cluster/aaaa-bbbb": "1", "kubernetes.io/role/aaaa-bbbb": "1", env: "prod" },
      blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp2" } }],
      secretRef: { namespace: "d8-cloud-instance-manager", name: "worker-5d62b9b2" },
    },
  });
  const own = {
    instanceType: "m5.large",
    ami: "ami-1",
    spot: true,
    diskType: "io1",
    iops: "500",
    diskSizeGb: 50,
    additionalTags: { env: "dev" },
  };
  const { spec } = machineClass(exampleInput(), { name: "worker", instanceClass: own }, "eu-central-1a") as {
    spec: Record<string, unknown>;
  };
  assert.deepEqual([spec.ami, spec.spotPrice, (spec.tags as { env: string }).env], ["ami-1", "", "dev"]);
  assert.deepEqual(spec.blockDevices, [{ ebs: { volumeSize: 50, volumeType: "io1", iops: 500 } }]);
});

test("a zone without a subnet, and a class without any security group, are told before a machine is made", () => {
  const group = { name: "worker", instanceClass: { instanceType: "m5.large" } };
  assert.deepEqual(machineClass(exampleInput(), group, "eu-central-1z"), {
    problem: "zone eu-central-1z: no subnet; there are: eu-central-1a",
  });
  const instances = { ...exampleFile.discoveryData.instances, additionalSecurityGroups: [] };
  const disabled = exampleInput({ discoveryData: { ...exampleFile.discoveryData, instances } });
  assert.match((machineClass(disabled, group, "eu-central-1a") as { problem: string }).problem, /no security group/);
});
