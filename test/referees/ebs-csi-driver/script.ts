/** What both drivers are asked for, and what may differ between their answers. */
import { blockCapability, createRequest, gib, mountCapability, publishRequest, sharedCapability } from "../../bed/volume-world.ts";

/** What the script knows of the world it is played in. */
export interface Stage {
  readonly zone: string;
  /** Instances; the first two are in one zone. */
  readonly nodes: readonly string[];
  /** The id of a volume or snapshot by its name. */
  id(name: string): string;
}

export interface ScriptStep {
  readonly what: string;
  readonly method: string;
  request(stage: Stage): object;
  /** The refusal of the reference where ours is another one, or none, and why that is better. */
  readonly differs?: { readonly reference: number | "done"; readonly ours: number | "done"; readonly why: string };
}

/** Codes of gRPC. */
export const codes = { invalidArgument: 3, notFound: 5, alreadyExists: 6, failedPrecondition: 9, aborted: 10, internal: 13 } as const;

const claim = {
  "csi.storage.k8s.io/pvc/name": "data-db-0",
  "csi.storage.k8s.io/pvc/namespace": "shop-eu",
  "csi.storage.k8s.io/pv/name": "pvc-1",
};
const bytes = (size: number) => ({ requiredBytes: String(size * gib), limitBytes: "0" });

const create = (
  what: string,
  name: string,
  more: object | ((stage: Stage) => object) = {},
  differs?: ScriptStep["differs"],
): ScriptStep => ({
  what,
  method: "CreateVolume",
  request: (stage) => createRequest(name, stage.zone, typeof more === "function" ? more(stage) : more),
  ...(differs && { differs }),
});

const publish = (what: string, name: string, node: number, more: object = {}, differs?: ScriptStep["differs"]): ScriptStep => ({
  what,
  method: "ControllerPublishVolume",
  request: ({ id, nodes }) => publishRequest(id(name), nodes[node]!, more),
  ...(differs && { differs }),
});

const unpublish = (what: string, name: string, node: number): ScriptStep => ({
  what,
  method: "ControllerUnpublishVolume",
  request: ({ id, nodes }) => ({ volumeId: id(name), nodeId: nodes[node]! }),
});

const snapshot = (what: string, name: string, source: string, parameters = {}, differs?: ScriptStep["differs"]): ScriptStep => ({
  what,
  method: "CreateSnapshot",
  request: ({ id }) => ({ name, sourceVolumeId: id(source), parameters }),
  ...(differs && { differs }),
});

const expand = (what: string, name: string, size: number): ScriptStep => ({
  what,
  method: "ControllerExpandVolume",
  request: ({ id }) => ({ volumeId: id(name), capacityRange: bytes(size), volumeCapability: mountCapability }),
});

const modify = (what: string, name: string, mutableParameters: object): ScriptStep => ({
  what,
  method: "ControllerModifyVolume",
  request: ({ id }) => ({ volumeId: id(name), mutableParameters }),
});

/** Makes one of everything, and asks for it twice. What stands afterwards is also what is taken over. */
export const making: readonly ScriptStep[] = [
  create("a volume for a claim, with tags of its class", "pvc-1", {
    parameters: {
      ...claim,
      tagSpecification_1: 'team={{ .PVCNamespace | field "-" 0 }}',
      tagSpecification_2: "owner={{ .PVCName | toUpper }}",
    },
  }),
  create("the same again", "pvc-1", {
    parameters: {
      ...claim,
      tagSpecification_1: 'team={{ .PVCNamespace | field "-" 0 }}',
      tagSpecification_2: "owner={{ .PVCName | toUpper }}",
    },
  }),
  create("an encrypted one with figures of its own, and options of its file system", "pvc-2", {
    capacityRange: bytes(40),
    parameters: { type: "gp3", iops: "4000", throughput: "200", encrypted: "true", blockSize: "4096", inodeSize: "512" },
  }),
  create("one with IOPS by size", "pvc-3", {
    capacityRange: bytes(20),
    parameters: { type: "io1", iopsPerGB: "5", allowAutoIOPSPerGBIncrease: "true", allowAutoIOPSIncreaseOnModify: "true" },
  }),
  create("one with more IOPS by size than its type has", "pvc-4", {
    capacityRange: bytes(10),
    parameters: { type: "io1", iopsPerGB: "100" },
  }),
  create("one for several nodes", "pvc-5", {
    volumeCapabilities: [sharedCapability],
    parameters: { type: "io2", iops: "200" },
  }),
  create("one of an old type, as a block device", "pvc-6", { volumeCapabilities: [blockCapability], parameters: { type: "gp2" } }),
  create("one with a VolumeAttributesClass", "pvc-7", {
    parameters: { type: "gp2" },
    mutableParameters: { type: "gp3", iops: "3500", throughput: "150", tagSpecification_1: "tier=gold" },
  }),
  create("one that asks for no size", "pvc-8", { capacityRange: null }),
  publish("at a node", "pvc-1", 0),
  publish("at the same node again", "pvc-1", 0),
  publish("a second one at the node", "pvc-2", 0),
  publish("a shared one at a node", "pvc-5", 0, { volumeCapability: sharedCapability }),
  publish("a shared one at another node", "pvc-5", 1, { volumeCapability: sharedCapability }),
  expand("grown", "pvc-1", 20),
  expand("grown to what it has", "pvc-1", 20),
  modify("changed by a class", "pvc-2", { iops: "5000", throughput: "250", tagSpecification_1: "tier=silver" }),
  expand("grown with its IOPS", "pvc-3", 40),
  modify("tags alone", "pvc-1", { tagSpecification_1: "stage=prod", tagDeletion_1: "owner" }),
  snapshot("a snapshot", "snapshot-1", "pvc-1", {
    "csi.storage.k8s.io/volumesnapshot/name": "before",
    "csi.storage.k8s.io/volumesnapshot/namespace": "shop-eu",
    tagSpecification_1: "of={{ .VolumeSnapshotName }}",
  }),
  snapshot("the same again", "snapshot-1", "pvc-1", {
    "csi.storage.k8s.io/volumesnapshot/name": "before",
    "csi.storage.k8s.io/volumesnapshot/namespace": "shop-eu",
    tagSpecification_1: "of={{ .VolumeSnapshotName }}",
  }),
];

/** What needs the snapshot to be complete. */
export const restoring: readonly ScriptStep[] = [
  create("from a snapshot, larger", "pvc-9", ({ id }) => ({
    capacityRange: bytes(30),
    volumeContentSource: { type: "snapshot", snapshot: { snapshotId: id("snapshot-1") } },
  })),
  create("a clone", "pvc-10", ({ id }) => ({
    capacityRange: bytes(40),
    parameters: { encrypted: "true" },
    volumeContentSource: { type: "volume", volume: { volumeId: id("pvc-2") } },
  })),
  {
    what: "snapshots of a volume",
    method: "ListSnapshots",
    request: ({ id }) => ({ maxEntries: 0, startingToken: "", sourceVolumeId: id("pvc-1"), snapshotId: "" }),
    differs: { reference: codes.internal, ours: "done", why: "0 entries stand for all of them, and EC2 refuses pages of none" },
  },
  {
    what: "a snapshot by its id",
    method: "ListSnapshots",
    request: ({ id }) => ({ maxEntries: 0, startingToken: "", sourceVolumeId: "", snapshotId: id("snapshot-1") }),
  },
  {
    what: "how a volume can be used",
    method: "ValidateVolumeCapabilities",
    request: ({ id }) => ({ volumeId: id("pvc-1"), volumeCapabilities: [mountCapability] }),
  },
];

const nowhere = "vol-00000000000000000";
const invalid = (why: string) => ({ reference: codes.aborted, ours: codes.invalidArgument, why });

/** What both refuse, or ours refuses with another code. */
export const refusing: readonly ScriptStep[] = [
  create("no name", ""),
  create("no capability", "r-1", { volumeCapabilities: [] }),
  create("a read-only mode", "r-2", {
    volumeCapabilities: [{ ...mountCapability, accessMode: { mode: "MULTI_NODE_READER_ONLY" } }],
  }),
  create("a file system for several nodes", "r-3", {
    volumeCapabilities: [{ ...mountCapability, accessMode: { mode: "MULTI_NODE_MULTI_WRITER" } }],
  }),
  create("more than it may be", "r-4", { capacityRange: { requiredBytes: String(10 * gib + 1), limitBytes: String(10 * gib + 2) } }),
  create("an unknown parameter", "r-5", { parameters: { speed: "fast" } }),
  create("IOPS that are no number", "r-6", { parameters: { iops: "many" } }),
  create("an unknown mutable parameter", "r-7", { mutableParameters: { tagDeletion_1: "x" } }),
  create("a reserved tag", "r-8", { parameters: { tagSpecification_1: "kubernetes.io/cluster=x" } }),
  create("a bad template", "r-9", { parameters: { tagSpecification_1: "a={{ .Nothing }}" } }),
  create("an option of another file system", "r-10", {
    volumeCapabilities: [{ ...mountCapability, mount: { fsType: "xfs", mountFlags: [] } }],
    parameters: { bytesPerInode: "8192" },
  }),
  create("an option of a file system for a block device", "r-11", {
    volumeCapabilities: [blockCapability],
    parameters: { blockSize: "4096" },
  }),
  create("a cluster size without bigalloc", "r-12", { parameters: { ext4ClusterSize: "16384" } }),
  create(
    "IOPS in two ways",
    "r-13",
    { parameters: { type: "io1", iops: "100", iopsPerGB: "10" } },
    invalid("nothing was made, so the provisioner need not ask again"),
  ),
  create(
    "several nodes and the wrong type",
    "r-14",
    { volumeCapabilities: [sharedCapability], parameters: { type: "gp3" } },
    invalid("nothing was made, so the provisioner need not ask again"),
  ),
  create("another size under a name that has a volume", "pvc-1", { capacityRange: bytes(99) }),
  publish("a volume that is at another node", "pvc-1", 1),
  {
    what: "a volume that is not there",
    method: "ControllerPublishVolume",
    request: ({ nodes }) => publishRequest(nowhere, nodes[0]!),
    differs: { reference: codes.internal, ours: codes.notFound, why: "the attacher is told what is missing" },
  },
  {
    what: "a node that is not there",
    method: "ControllerPublishVolume",
    request: ({ id }) => publishRequest(id("pvc-3"), "i-00000000000000000"),
    differs: { reference: codes.internal, ours: codes.notFound, why: "the reference knows what is missing only at the second call" },
  },
  {
    what: "without a node",
    method: "ControllerPublishVolume",
    request: ({ id }) => publishRequest(id("pvc-1"), ""),
  },
  snapshot("a snapshot's name for another volume", "snapshot-1", "pvc-2"),
  snapshot("a snapshot with an unknown parameter", "snapshot-2", "pvc-1", { speed: "fast" }),
  snapshot("a snapshot to restore fast in a zone that there is not", "snapshot-3", "pvc-1", {
    fastSnapshotRestoreAvailabilityZones: "us-east-1z",
  }),
  { what: "nothing to delete", method: "DeleteVolume", request: () => ({ volumeId: "" }) },
  { what: "a volume that is gone", method: "DeleteVolume", request: () => ({ volumeId: nowhere }) },
  { what: "a snapshot that is gone", method: "DeleteSnapshot", request: () => ({ snapshotId: "snap-00000000000000000" }) },
  {
    what: "no capacity to grow to",
    method: "ControllerExpandVolume",
    request: ({ id }) => ({ volumeId: id("pvc-1"), capacityRange: null, volumeCapability: null }),
  },
  modify("an unknown key", "pvc-1", { speed: "fast" }),
  modify("the driver's own tag", "pvc-1", { tagDeletion_1: "CSIVolumeName" }),
];

/** Takes everything away again. */
export const removing: readonly ScriptStep[] = [
  unpublish("from its node", "pvc-1", 0),
  unpublish("from a node that it is not at", "pvc-1", 0),
  unpublish("from one of its nodes", "pvc-5", 0),
  unpublish("from the other", "pvc-5", 1),
  unpublish("another one", "pvc-2", 0),
  { what: "the snapshot", method: "DeleteSnapshot", request: ({ id }) => ({ snapshotId: id("snapshot-1") }) },
  { what: "the snapshot again", method: "DeleteSnapshot", request: ({ id }) => ({ snapshotId: id("snapshot-1") }) },
  ...Array.from({ length: 10 }, (_, index): ScriptStep => {
    const name = `pvc-${index + 1}`;
    return { what: name, method: "DeleteVolume", request: ({ id }) => ({ volumeId: id(name) }) };
  }),
];
