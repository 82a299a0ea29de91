import assert from "node:assert/strict";
import { test } from "node:test";
import { CsiError } from "./csi/errors.ts";
import { readVolumeParameters } from "./parameters.ts";
import { isMarked, modificationTags, reservedTag, snapshotTags, type TagSettings, volumeTags } from "./tags.ts";

const settings: TagSettings = { extraTags: {}, clusterId: undefined, warnOnInvalid: false };
const quiet = () => {};
const parameters = (given: Readonly<Record<string, string>>) => readVolumeParameters(given);

test("extra tags give way to the StorageClass, and that to the VolumeAttributesClass", () => {
  const tags = volumeTags(
    "pvc-1",
    parameters({ tagSpecification_1: "b=class", tagSpecification_2: "c=class" }),
    { tagSpecification_9: "c=attributes" },
    { ...settings, extraTags: { a: "extra", b: "extra", c: "extra" } },
    quiet,
  );
  assert.partialDeepStrictEqual(tags, { a: "extra", b: "class", c: "attributes" });
});

test("a user's Name goes before the cluster's", () => {
  const tags = volumeTags("pvc-1", parameters({ tagSpecification_1: "Name=mine" }), {}, { ...settings, clusterId: "prod" }, quiet);
  assert.equal(tags.Name, "mine");
  assert.equal(tags["kubernetes.io/cluster/prod"], "owned");
});

test("the parameters that later changes need are kept as tags", () => {
  const tags = volumeTags("pvc-1", parameters({ iopsPerGB: "50", allowAutoIOPSIncreaseOnModify: "yes" }), {}, settings, quiet);
  assert.equal(tags["ebs.csi.aws.com/IOPSPerGb"], "50");
  assert.equal(tags["ebs.csi.aws.com/AllowAutoIOPSIncreaseOnModify"], "false");
});

test("a bad tag refuses the volume, or is left out with a warning", () => {
  const bad = parameters({ tagSpecification_1: "CSIVolumeName=x", tagSpecification_2: "a={{ .Nope }}", tagSpecification_3: "good=yes" });
  assert.throws(() => volumeTags("pvc-1", bad, {}, settings, quiet), CsiError);
  const warnings: string[] = [];
  const tags = volumeTags("pvc-1", bad, {}, { ...settings, warnOnInvalid: true }, (message) => warnings.push(message));
  assert.equal(warnings.length, 2);
  assert.equal(tags.good, "yes");
  assert.equal(tags.CSIVolumeName, "pvc-1");
});

test("a tag specification without = is refused even where bad tags are left out", () => {
  const bad = parameters({ tagSpecification_1: "nothing" });
  assert.throws(() => volumeTags("pvc-1", bad, {}, { ...settings, warnOnInvalid: true }, quiet), /not of the form key=value/);
  assert.throws(() => modificationTags({ tagSpecification_1: "nothing" }, bad.names), /not of the form key=value/);
});

test("an empty value is a value", () => {
  assert.equal(volumeTags("pvc-1", parameters({ tagSpecification_1: "a=" }), {}, settings, quiet).a, "");
});

test("snapshots have no tag KubernetesCluster, and their extra tags are templates too", () => {
  const data = { VolumeSnapshotName: "s", VolumeSnapshotNamespace: "n", VolumeSnapshotContentName: "c" };
  const tags = snapshotTags("snap", {}, data, { ...settings, clusterId: "prod", extraTags: { of: "{{ .VolumeSnapshotName }}" } }, quiet);
  assert.equal(tags.KubernetesCluster, undefined);
  assert.equal(tags.of, "s");
});

test("keys of ours and of Kubernetes are reserved, others are not", () => {
  for (const key of ["CSIVolumeName", "CSIVolumeSnapshotName", "ebs.csi.aws.com/cluster-name", "ebs.csi.aws.com/x", "kubernetes.io/x"]) {
    assert.ok(reservedTag(key), key);
  }
  for (const key of ["Name", "KubernetesCluster", "team", "example.org/kubernetes.io"]) assert.equal(reservedTag(key), undefined, key);
});

test("a mark is the driver's, the claim's, or this cluster's, and no other cluster's", () => {
  assert.ok(isMarked({ "ebs.csi.aws.com/cluster": "true" }, undefined));
  assert.ok(isMarked({ "kubernetes.io/cluster/prod": "owned" }, "prod"));
  assert.ok(!isMarked({ "kubernetes.io/cluster/prod": "owned" }, "test"));
  assert.ok(!isMarked({ "kubernetes.io/cluster/prod": "shared" }, "prod"));
  assert.ok(!isMarked({ "ebs.csi.aws.com/cluster": "false", Name: "x" }, undefined));
});
