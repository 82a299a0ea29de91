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

test("the file system is named by either key of the class, in any case, but not by both", () => {
  const of = (parameters: Record<string, string>) =>
    creationRequest({ ...provisioning, storageClass: storageClass({ parameters }) }).volumeCapabilities[0]?.mount?.fsType;
  assert.deepEqual([of({}), of({ fsType: "xfs" }), of({ "csi.storage.k8s.io/fstype": "ext3" })], ["ext4", "xfs", "ext3"]);
  assert.throws(() => of({ fstype: "xfs", "csi.storage.k8s.io/fstype": "xfs" }), /names the file system more than once/);
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

const bytes = (size: number | undefined) => (size === undefined ? undefined : BigInt(size) * 2n ** 30n);

for (const [what, requested, status, disk, expected, isRefused] of [
  ["a claim that asks for more than it has", 20, {}, 10, 20],
  ["a claim that has what it asks for", 10, {}, 10, undefined],
  ["a claim that is not bound", 20, { phase: "Pending" }, 10, undefined],
  ["a node that has its part to do", 20, { word: "NodeResizePending", begun: 20 }, 20, undefined],
  ["a node that does its part, and a claim that grew again meanwhile", 30, { word: "NodeResizeInProgress", begun: 20 }, 20, undefined],
  ["the same claim when the node has finished", 30, { begun: 20, has: 20 }, 20, 30],
  ["a node's part that began before the disk had grown", 30, { word: "NodeResizePending", begun: 20 }, 10, 20],
  ["a server that keeps no words, only conditions", 20, { condition: "FileSystemResizePending" }, 20, undefined],
  ["a node that cannot grow the file system: it is told again", 30, { word: "NodeResizeInfeasible", begun: 20 }, 20, 20],
  ["a growth of uncertain end, and a claim that was made smaller", 50, { word: "ControllerResizeInProgress", begun: 100 }, 10, 100],
  ["the same claim when the growth had no effect", 50, { word: "ControllerResizeInProgress", begun: 100 }, 10, 50, true],
  ["a growth in vain, and a claim that was made smaller", 50, { word: "ControllerResizeInfeasible", begun: 100 }, 10, 50],
  ["a growth in vain, and a claim smaller than its disk", 15, { word: "ControllerResizeInfeasible", begun: 100 }, 20, 20],
] as const satisfies readonly (readonly [
  string,
  number,
  { readonly phase?: string; readonly word?: string; readonly begun?: number; readonly has?: number; readonly condition?: string },
  number,
  number | undefined,
  boolean?,
])[]) {
  test(`what is asked of the driver for ${what}`, () => {
    const { phase = "Bound", word, begun, has = 10, condition } = status as { [key: string]: never } & typeof status;
    const seen = claim({
      spec: { ...claim().spec, resources: { requests: { storage: `${requested}Gi` } } },
      status: {
        phase,
        capacity: { storage: `${has}Gi` },
        ...(word && { allocatedResourceStatuses: { storage: word } }),
        ...(begun && { allocatedResources: { storage: `${begun}Gi` } }),
        ...(condition && { conditions: [{ type: condition, status: "True" }] }),
      },
    });
    const of = { ...volume(), spec: { ...volume().spec, capacity: { storage: `${disk}Gi` } } };
    assert.equal(wantedGrowth(seen, of, isRefused), bytes(expected));
  });
}

test("a class of attributes is wanted until it is the current one, and both beginnings are one change of the status", () => {
  const classed = (current: string, begun?: string) =>
    claim({
      spec: { ...claim().spec, volumeAttributesClassName: "busy" },
      status: {
        phase: "Bound",
        currentVolumeAttributesClassName: current,
        ...(begun && { modifyVolumeStatus: { targetVolumeAttributesClassName: begun, status: "InProgress" } }),
      },
    });
  assert.equal(wantedAttributes(classed("calm")), "busy");
  assert.equal(wantedAttributes(classed("busy")), undefined);
  assert.equal(wantedAttributes(classed("busy", "calm")), "busy");
  const begun = together([growthBegun("20Gi", "now"), modificationBegun("busy", "now")]);
  assert.deepEqual(
    begun.conditions.filter((condition) => !("$patch" in condition)).map(({ type }) => type),
    ["Resizing", "ModifyingVolume"],
  );
  assert.deepEqual([begun.allocatedResources, begun.modifyVolumeStatus?.status], [{ storage: "20Gi" }, "InProgress"]);
});
