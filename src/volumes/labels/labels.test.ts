import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "../../aws/instance.ts";
import { labelsFor } from "./node-labels.ts";
import { labelsWanted } from "./volume-labels-plan.ts";

const place = { zone: "eu-west-1b", region: "eu-west-1" };
const both = { "topology.kubernetes.io/zone": "eu-west-1b", "topology.kubernetes.io/region": "eu-west-1" };
const source = { awsElasticBlockStore: { volumeID: "vol-1" } };
const affinity = (key: string, value: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: [value] }] }] } },
});

test("a volume from before CSI that says nothing is given labels and a node affinity", () => {
  const wanted = labelsWanted({ metadata: { name: "pv" }, spec: source }, place);
  assert.deepEqual(wanted?.labels, both);
  assert.deepEqual(wanted?.spec?.nodeAffinity?.required?.nodeSelectorTerms, [
    {
      matchExpressions: [
        { key: "topology.kubernetes.io/zone", operator: "In", values: ["eu-west-1b"] },
        { key: "topology.kubernetes.io/region", operator: "In", values: ["eu-west-1"] },
      ],
    },
  ]);
});

test("what is there is not changed", () => {
  const labels = { "topology.kubernetes.io/zone": "somewhere" };
  const placed = { ...source, ...affinity("disk", "fast") };
  assert.deepEqual(labelsWanted({ metadata: { name: "pv", labels }, spec: placed }, place), {
    labels: { "topology.kubernetes.io/region": "eu-west-1" },
  });
  assert.equal(labelsWanted({ metadata: { name: "pv", labels: both }, spec: placed }, place), undefined);
});

test("a volume of the driver is labelled only where nothing says where it is", () => {
  const csi = { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" };
  assert.equal(labelsWanted({ spec: { csi, ...affinity("topology.kubernetes.io/zone", "eu-west-1a") } }, place), undefined);
  assert.deepEqual(labelsWanted({ spec: { csi } }, place)?.labels, both);
  assert.equal(labelsWanted({ spec: { hostPath: { path: "/" } } }, place), undefined);
  assert.equal(labelsWanted({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, spec: { csi } }, place), undefined);
});

const disk = (name: string, volumeId: string) => ({ name, volumeId, card: undefined, attachTime: undefined });

test("of an instance's disks neither the root nor those of claims are counted", () => {
  const disks = [disk("/dev/xvda", "vol-root"), disk("/dev/xvdb", "vol-own"), disk("/dev/xvdaa", "vol-claim")];
  const instance = { disks, rootDevice: "/dev/xvda", interfaces: [{}, {}, {}] } as unknown as Instance;
  assert.deepEqual(
    labelsFor(instance, (id) => id === "vol-claim"),
    { "ebs.csi.aws.com/enis-count": "3", "ebs.csi.aws.com/non-csi-ebs-volumes-count": "1" },
  );
  assert.equal(labelsFor({ ...instance, interfaces: [] }, () => true)["ebs.csi.aws.com/enis-count"], "1");
});
