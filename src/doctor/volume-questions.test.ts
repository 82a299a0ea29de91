import assert from "node:assert/strict";
import { test } from "node:test";
import type { Picture } from "./picture.ts";
import { checkVolumes, type VolumeFacts } from "./volume-questions.ts";

const facts: VolumeFacts = {
  isInstalled: true,
  nodes: [{ name: "a", isRegistered: true, limit: 25, attached: 3 }],
  classes: [{ name: "fast", kmsKeyId: "arn:aws:kms:eu-west-1:123456789012:key/k", problem: undefined }],
};
const caller = { known: true, value: { arn: "", region: "eu-west-1" } };
const told = (change: Partial<VolumeFacts>) =>
  checkVolumes({ caller, volumes: { known: true, value: { ...facts, ...change } } } as unknown as Picture).map(
    ({ level, what }) => `${level} ${what}`,
  );

test("a driver that is registered everywhere is all that volumes take", () => {
  assert.deepEqual(told({}), ["ok the driver is registered on 1 of 1 nodes"]);
  assert.deepEqual(checkVolumes({} as Picture), [], "nobody asked");
});

test("a driver that is not installed, nodes without it, nodes that are full or say no limit", () => {
  assert.deepEqual(told({ isInstalled: false, classes: [] }), [], "nobody asks for volumes");
  assert.match(told({ isInstalled: false, nodes: [] }).join(), /^problem there is no CSIDriver ebs\.csi\.aws\.com/);
  const nodes = [
    { name: "a", isRegistered: false, limit: undefined, attached: 0 },
    { name: "b", isRegistered: true, limit: 3, attached: 3 },
    { name: "c", isRegistered: true, limit: undefined, attached: 0 },
  ];
  assert.deepEqual(told({ nodes }), [
    "warning the driver is not registered on a: pods with volumes cannot start there",
    "warning c say no limit: the scheduler puts more volumes there than fit",
    "warning b have as many volumes as fit: no pod with another one can start there",
  ]);
});

test("a class that the driver refuses, and a key of another region", () => {
  const classes = [
    { name: "typo", kmsKeyId: undefined, problem: "Invalid parameter key typ for CreateVolume" },
    { name: "far", kmsKeyId: "arn:aws:kms:us-east-1:123456789012:key/k", problem: undefined },
  ];
  assert.deepEqual(told({ classes }), [
    "problem StorageClass typo: Invalid parameter key typ for CreateVolume",
    "problem StorageClass far names a key of us-east-1, and volumes are made in eu-west-1: EC2 makes them and removes them again",
  ]);
});
