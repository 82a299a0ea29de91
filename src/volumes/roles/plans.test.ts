import assert from "node:assert/strict";
import { test } from "node:test";
import {
  creationRequest,
  type SeenClaim,
  type SeenClass,
  type SeenVolume,
  volumeFor,
  wantsDeletion,
  wantsVolume,
} from "./provision-plan.ts";
import { growthBegun, modificationBegun, together, wantedAttributes, wantedGrowth } from "./resize-plan.ts";

const driver = "ebs.csi.aws.com";
const metadata = { name: "data", namespace: "shop", uid: "u-1", resourceVersion: "7" };
const claim = (
  more: object = {},
  annotations: Record<string, string> = { "volume.kubernetes.io/storage-provisioner": driver },
): SeenClaim => ({
  metadata: { ...metadata, annotations },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "10Gi" } },
    storageClassName: "fast",
    volumeMode: "Filesystem",
  },
  ...more,
});
const storageClass = (more: object = {}): SeenClass => ({
  metadata: { name: "fast", uid: "c-1", resourceVersion: "1" },
  provisioner: driver,
  parameters: { type: "gp3", "csi.storage.k8s.io/fstype": "xfs" },
  reclaimPolicy: "Delete",
  ...more,
});

test("a volume is wanted for a claim of ours that has none and, where its class waits, a node", () => {
  assert.equal(wantsVolume(claim(), storageClass()), true);
  assert.equal(wantsVolume(claim(), undefined), false);
  assert.equal(wantsVolume(claim(), storageClass({ provisioner: "other" })), false);
  assert.equal(wantsVolume(claim({}, {}), storageClass()), false, "nobody has said that it is ours to make");
  assert.equal(wantsVolume(claim({ spec: { volumeName: "pv" } }), storageClass()), false);
  const waiting = storageClass({ volumeBindingMode: "WaitForFirstConsumer" });
  assert.equal(wantsVolume(claim(), waiting), false);
  const chosen = { "volume.kubernetes.io/storage-provisioner": driver, "volume.kubernetes.io/selected-node": "n" };
  assert.equal(wantsVolume(claim({}, chosen), waiting), true);
});

const provisioning = {
  claim: claim(),
  storageClass: storageClass(),
  accessibility: undefined,
  source: undefined,
  attributes: {},
  defaultFsType: "ext4",
};

test("the request carries the claim's names and the parameters that are not the sidecars' own", () => {
  const { name, parameters, capacityRange, volumeCapabilities } = creationRequest(provisioning);
  assert.equal(name, "pvc-u-1");
  assert.deepEqual(parameters, {
    type: "gp3",
    "csi.storage.k8s.io/pvc/name": "data",
    "csi.storage.k8s.io/pvc/namespace": "shop",
    "csi.storage.k8s.io/pv/name": "pvc-u-1",
  });
  assert.deepEqual(capacityRange, { requiredBytes: String(10 * 2 ** 30), limitBytes: "0" });
  assert.equal(volumeCapabilities[0]?.mount?.fsType, "xfs");
  const odd = { ...provisioning, claim: claim({ spec: { resources: { requests: { storage: "much" } } } }) };
  assert.throws(() => creationRequest(odd), /asks for "much" of storage, which is not a size/);
});

test("the PersistentVolume says where the disk is, whose it is and who made it", () => {
  const made = {
    volumeId: "vol-1",
    capacityBytes: String(11 * 2 ** 30),
    volumeContext: { a: "b" },
    contentSource: null,
    accessibleTopology: [{ segments: { z: "1", a: "2" } }],
  };
  const { spec } = volumeFor({ ...provisioning, claim: claim({ spec: { ...claim().spec, volumeMode: "Block" } }) }, made, "id");
  assert.deepEqual(spec?.capacity, { storage: "11Gi" });
  assert.equal(spec?.csi?.fsType, undefined, "a block device has no file system");
  assert.deepEqual(spec?.csi?.volumeAttributes, { a: "b", "storage.kubernetes.io/csiProvisionerIdentity": "id" });
  assert.deepEqual(
    spec?.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions?.map(({ key }) => key),
    ["a", "z"],
  );
});

const volume = (more: object = {}, phase = "Released"): SeenVolume => ({
  metadata: { name: "pv", uid: "v", resourceVersion: "1", annotations: { "pv.kubernetes.io/provisioned-by": driver }, ...more },
  spec: { csi: { driver, volumeHandle: "vol-1" }, persistentVolumeReclaimPolicy: "Delete", capacity: { storage: "20Gi" } },
  status: { phase },
});

test("a disk is deleted when its volume is released, is to be deleted, and was made by us", () => {
  assert.equal(wantsDeletion(volume()), true);
  assert.equal(wantsDeletion(volume({}, "Bound")), false);
  assert.equal(wantsDeletion(volume({ annotations: {} })), false);
  assert.equal(wantsDeletion({ ...volume(), spec: { ...volume().spec, persistentVolumeReclaimPolicy: "Retain" } }), false);
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(wantsDeletion(volume(leaving)), false, "it is gone already but for others' finalizers");
  assert.equal(wantsDeletion(volume({ ...leaving, finalizers: ["external-provisioner.volume.kubernetes.io/finalizer"] })), true);
});

test("a claim wants to grow while it asks for more than it has, and the node's part is not all that is left", () => {
  const bound = (status: object) =>
    claim({ spec: { ...claim().spec, resources: { requests: { storage: "20Gi" } } }, status: { phase: "Bound", ...status } });
  assert.equal(wantedGrowth(bound({ capacity: { storage: "10Gi" } }), volume()), 20n * 2n ** 30n);
  assert.equal(wantedGrowth(bound({ capacity: { storage: "20Gi" } }), volume()), undefined);
  const pending = { capacity: { storage: "10Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } };
  assert.equal(wantedGrowth(bound(pending), volume()), undefined);
  assert.equal(wantedGrowth({ ...bound(pending), status: { ...bound(pending).status, phase: "Pending" } }, volume()), undefined);
});

test("a class of attributes is wanted until it is the current one, and both beginnings are one change of the status", () => {
  const classed = (current: string) =>
    claim({
      spec: { ...claim().spec, volumeAttributesClassName: "busy" },
      status: { phase: "Bound", currentVolumeAttributesClassName: current },
    });
  assert.equal(wantedAttributes(classed("calm")), "busy");
  assert.equal(wantedAttributes(classed("busy")), undefined);
  const begun = together([growthBegun("20Gi", "now"), modificationBegun("busy", "now")]);
  assert.deepEqual(
    begun.conditions.filter((condition) => !("$patch" in condition)).map(({ type }) => type),
    ["Resizing", "ModifyingVolume"],
  );
  assert.deepEqual([begun.allocatedResources, begun.modifyVolumeStatus?.status], [{ storage: "20Gi" }, "InProgress"]);
});
