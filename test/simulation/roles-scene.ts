/** Where the histories of the built-in roles take place: claims, their disks and snapshots, and what must be true of them at every moment. */
import { isDeepStrictEqual } from "node:util";
import { bodyText, type HttpRequest, type HttpResponse, type Transport } from "../../src/runtime/http.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { Volume } from "../../src/sandbox/cloud/ec2/volumes/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { actionOf, isRead } from "./aws-requests.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { LeaseRule } from "./lease-rule.ts";
import { type AttachmentObject, type ClaimObject, RolesObjects, type VolumeObject } from "./roles-objects.ts";
import { attributesClasses, type ClaimWish, isServable, type SnapshotWish } from "./roles-wish.ts";
import { streamedListsOf } from "./streamed-lists.ts";

/** Compiled once: they are the same in every history. */
const shapes = new Shapes();
/** Somebody's own finalizer. */
export const hold = "example.com/hold";
/** Reads lag by less than the driver reckons with. */
const staleness = { maxAgeMs: 4_000, probability: 0.3 };

export class RolesScene {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  readonly lease: LeaseRule;
  readonly objects: RolesObjects;
  /** Two in each of three zones. */
  readonly machines: readonly Instance[];
  readonly claims = new Map<string, ClaimWish>();
  readonly snapshots = new Map<string, SnapshotWish>();
  /** Disks that somebody has said are to be retained. */
  readonly kept = new Set<string>();
  /** Objects with somebody's own finalizer, `persistentvolumes/NAME`. */
  readonly held = new Set<string>();
  /** Whether the first claim may come: what is said before is no part of the history. */
  isOpen = false;
  /** When a replica last changed something, in virtual milliseconds. */
  lastChangeAt = 0;
  /** Called after everything by which a replica changed something. */
  onWrite: () => void = () => {};
  /** Snapshots that have been ready under each name. */
  readonly #ready = new Map<string, Set<string>>();
  /** The disk of each claim, by UID. */
  readonly #disks = new Map<string, string>();
  readonly #foreign = new Map<string, Volume>();
  readonly #told = new Set<string>();

  constructor(seed: number) {
    this.world = virtualWorld(seed);
    this.history = new History(this.world.clock);
    this.chance = chanceOf(this.world.random);
    this.cluster = createEmbeddedCluster({ world: this.world, historyLimit: 500, streamedLists: streamedListsOf(Math.floor(seed / 2)) });
    this.lease = new LeaseRule(this, "ebs-csi-aws-com");
    this.cloud = createCloud({
      world: this.world,
      seed,
      shapes,
      settings: { staleness, keys: ["*"], quotas: { volumeModifications: 50 } },
    });
    this.network = standardNetwork(this.cloud, { clusterId: "simulated" });
    this.machines = launchNodes(this.cloud, this.network, 6).map(({ id }) => this.run(id));
    this.objects = new RolesObjects(this.cluster);
  }

  run(id: string): Instance {
    return this.cloud.account.ec2.instances.update(id, { state: "running" });
  }

  /** From now on everything counts. */
  open(foreign: readonly string[]): void {
    for (const id of foreign) this.#foreign.set(id, this.cloud.account.ec2.volumes.get(id)!);
    this.isOpen = true;
  }

  /** The API server as replicas reach it. */
  readonly serve: Transport = async (request) => {
    const before = this.#attachmentIn(request);
    const answer = await this.cluster.send(request);
    if (request.method === "GET" || /\/(leases|events)(\/|$)/.test(request.url.pathname)) return answer;
    this.#judgeAttachment(before, request);
    this.#changed(`${request.method} ${request.url.pathname}`);
    return answer;
  };

  /** AWS as replicas reach it. */
  readonly serveAws: Transport = async (request) => {
    try {
      return await this.cloud.handle(request);
    } finally {
      if (!isRead(request)) this.#changed(actionOf(request));
    }
  };

  async say(who: string, method: string, path: string, body?: object): Promise<HttpResponse> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const answer = await this.cluster.send({
      method,
      url: new URL(path, "http://cluster"),
      headers: { "content-type": type, "user-agent": who },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await bodyText(answer);
    if (!this.isOpen && answer.status >= 300) throw new Error(`${method} ${path} → ${answer.status} ${text}`);
    if (this.isOpen) this.history.tell(who, `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)} → ${answer.status}`);
    return answer;
  }

  /** The disk of a PersistentVolume. */
  disk({ spec }: VolumeObject): Volume | undefined {
    this.cloud.account.time.settle();
    return this.cloud.account.ec2.volumes.get(handleOf(spec));
  }

  /** The machine behind a name of a node, if it runs. */
  machine(node: string): Instance | undefined {
    const instance = this.cloud.account.ec2.instances.get(this.objects.nodeId(node) ?? "");
    return instance?.state === "running" ? instance : undefined;
  }

  /** Nodes that pods can be on. */
  liveNodes(): readonly { readonly name: string; readonly zone: string }[] {
    return this.objects.nodes().flatMap((name) => {
      const machine = this.machine(name);
      return machine === undefined ? [] : [{ name, zone: machine.zone }];
    });
  }

  /** What is wrong, were it final. */
  differences(): readonly string[] {
    this.cloud.account.time.settle();
    return [
      ...[...this.claims.values()].flatMap((wish) => this.#wrongWith(wish)),
      ...[...this.snapshots.values()].flatMap((wish) => this.#wrongWithSnapshot(wish)),
      ...this.#ownerless(),
      ...this.objects.volumes().flatMap((volume) => this.#unlabelled(volume)),
    ];
  }

  /** What is left of claims and snapshots that are all gone. */
  leftovers(): readonly string[] {
    const { objects } = this;
    return [
      ...objects.claims().map(({ metadata }) => `claim ${metadata.name}`),
      ...objects.volumes().flatMap(({ metadata }) => (metadata.name === "theirs" ? [] : [`PersistentVolume ${metadata.name}`])),
      ...objects.attachments().map(({ metadata }) => `VolumeAttachment ${metadata.name}`),
      ...objects.contents().map(({ metadata }) => `VolumeSnapshotContent ${metadata.name}`),
      ...this.#ownerless(),
    ];
  }

  #wrongWith(wish: ClaimWish): readonly string[] {
    const { name, isDeleted, sizeGiB, attributes } = wish;
    const claim = this.objects.claim(name);
    if (isDeleted) return claim === undefined ? [] : [`claim ${name} is still there`];
    if (claim === undefined) return [`claim ${name} is gone`];
    if (!isServable(wish, this.objects)) return claim.spec.volumeName ? [`${name} has a volume, and asks for what cannot be`] : [];
    const volume = this.objects.volume(claim.spec.volumeName ?? "");
    if (volume === undefined || claim.status?.phase !== "Bound") return [`${name} is not bound`];
    const disk = this.disk(volume);
    if (disk === undefined || disk.state !== "available") return [`${name} is bound to a disk that is ${disk?.state ?? "gone"}`];
    const bytes = `${sizeGiB}Gi`;
    // What has grown is not grown again before a node has seen to its file system.
    const isNodesTurn = !wish.hasPod && claim.status.allocatedResourceStatuses?.storage === "NodeResizePending";
    const iops = attributes && attributesClasses[attributes];
    return [
      ...(isNodesTurn || (disk.spec.sizeGiB === sizeGiB && volume.spec.capacity?.storage === bytes) ? [] : [`${name} is not of ${bytes}`]),
      ...(wish.hasPod && claim.status.capacity?.storage !== bytes ? [`${name} does not say that it has ${bytes}`] : []),
      ...(iops && disk.spec.iops !== Number(iops) ? [`${name} has ${disk.spec.iops} IOPS, not ${iops}`] : []),
      ...(attributes && claim.status.currentVolumeAttributesClassName !== attributes ? [`${name} is not of class ${attributes}`] : []),
      ...this.#wrongAttachment(wish, volume, disk),
    ];
  }

  #wrongAttachment({ name, hasPod }: ClaimWish, { metadata }: VolumeObject, { attachments }: Volume): readonly string[] {
    const pod = this.objects.pod(name);
    const told = this.objects.attachments().filter(({ spec }) => spec.source.persistentVolumeName === metadata.name);
    if (!hasPod) return told.length + attachments.length === 0 ? [] : [`${name} is attached for nobody`];
    if (pod === undefined) return [`${name} has no pod`];
    const instanceId = this.objects.nodeId(pod.spec.nodeName);
    const isThere = attachments.length === 1 && attachments[0]!.instanceId === instanceId && attachments[0]!.state === "attached";
    const isTold = told.length === 1 && told[0]!.spec.nodeName === pod.spec.nodeName && told[0]!.status?.attached === true;
    return isThere && isTold ? [] : [`${name} is not attached to ${pod.spec.nodeName}`];
  }

  #wrongWithSnapshot({ name, isDeleted }: SnapshotWish): readonly string[] {
    const snapshot = this.objects.snapshot(name);
    if (isDeleted) return snapshot === undefined ? [] : [`snapshot ${name} is still there`];
    return snapshot?.status?.readyToUse ? [] : [`snapshot ${name} is not ready`];
  }

  /** Disks and snapshots that nothing in the cluster knows, and that nobody has asked to keep. */
  #ownerless(): readonly string[] {
    this.cloud.account.time.settle();
    const known = new Set(this.objects.volumes().map(({ spec }) => handleOf(spec)));
    const snapshots = new Set(this.objects.contents().map(({ status }) => status?.snapshotHandle));
    const { ec2 } = this.cloud.account;
    const disks = ec2.volumes.values().filter(({ tags, id }) => tags.CSIVolumeName !== undefined && !known.has(id) && !this.kept.has(id));
    const left = ec2.snapshots.values().filter(({ id }) => !snapshots.has(id));
    return [
      ...disks.map(({ id, tags }) => `${id} of ${tags.CSIVolumeName} has no owner`),
      ...left.map(({ id, tags }) => `${id} of ${tags.CSIVolumeSnapshotName} has no owner`),
    ];
  }

  /** A disk whose PersistentVolume says nothing of where it is. */
  #unlabelled({ metadata, spec }: VolumeObject): readonly string[] {
    const isPlaced = spec.nodeAffinity !== undefined || metadata.deletionTimestamp !== undefined;
    return isPlaced ? [] : [`PersistentVolume ${metadata.name} does not say where it is`];
  }

  #changed(by: string): void {
    this.lastChangeAt = this.world.clock.monotonic();
    this.look(by);
    this.onWrite();
  }

  /** What must be true at every moment. */
  look(by: string): void {
    this.cloud.account.time.settle();
    const { volumes } = this.cloud.account.ec2;
    for (const [id, before] of this.#foreign) {
      if (!isDeepStrictEqual(volumes.get(id), before)) this.#broken("nothing foreign is touched", by, `${id} is changed or gone`);
    }
    for (const volume of this.objects.volumes()) this.#lookAt(volume, by);
    for (const id of this.kept) if (!isThere(volumes.get(id))) this.#broken("what is retained is never deleted", by, `${id} is gone`);
    for (const what of this.held) {
      if (!this.objects.finalizers(what).includes(hold)) this.#broken("a finalizer of somebody else stays", by, `${what} has lost it`);
    }
    for (const { metadata, status } of this.objects.snapshots()) {
      const handle = this.objects.content(status?.boundVolumeSnapshotContentName)?.status?.snapshotHandle;
      if (status?.readyToUse && handle) this.#ready.set(metadata.name, new Set([...(this.#ready.get(metadata.name) ?? []), handle]));
    }
  }

  #lookAt(volume: VolumeObject, by: string): void {
    const { claimRef, persistentVolumeReclaimPolicy, accessModes } = volume.spec;
    const id = handleOf(volume.spec);
    const disk = this.disk(volume);
    const claim = claimRef && this.objects.claim(claimRef.name);
    if (this.#foreign.has(id)) return;
    if (persistentVolumeReclaimPolicy === "Retain" && claim?.metadata.uid === claimRef?.uid) this.kept.add(id);
    if (claim !== undefined && claim.metadata.uid === claimRef?.uid) this.#lookAtData(claim, id, disk, by);
    const places = new Set((disk?.attachments ?? []).map(({ instanceId }) => instanceId));
    for (const { metadata, spec, status } of this.objects.attachments()) {
      const instanceId = metadata.annotations?.["csi.alpha.kubernetes.io/node-id"] ?? "";
      if (spec.source.persistentVolumeName === volume.metadata.name && status?.attached && this.#runs(instanceId)) places.add(instanceId);
    }
    if (places.size > 1 && !accessModes.includes("ReadWriteMany")) {
      this.#broken("a volume is at one instance at a time", by, `${id} is at ${[...places].join(" and ")}`);
    }
  }

  /** A claim keeps its disk, which was made for it, from what it is to be filled from. */
  #lookAtData({ metadata, spec }: ClaimObject, id: string, disk: Volume | undefined, by: string): void {
    const { name, uid } = metadata;
    const had = this.#disks.get(uid);
    const swapped = (how: string) => this.#broken("a claim's data is never another's", by, `${name} (${uid}) ${how}`);
    if (had !== undefined && had !== id) swapped(`had ${had} and has ${id}`);
    const other = [...this.#disks].find(([of, handle]) => handle === id && of !== uid);
    if (other !== undefined) swapped(`has ${id}, which was of ${other[0]}`);
    this.#disks.set(uid, id);
    if (metadata.deletionTimestamp !== undefined) return;
    if (!isThere(disk)) this.#broken("the disk of a claim is never deleted", by, `${id} of ${name} is gone`);
    else if (disk.tags.CSIVolumeName !== `pvc-${uid}`) swapped(`has ${id}, which is of ${disk.tags.CSIVolumeName}`);
    const source = spec.dataSource?.kind === "VolumeSnapshot" ? spec.dataSource.name : undefined;
    if (source !== undefined && disk !== undefined && !this.#ready.get(source)?.has(disk.snapshotId ?? "")) {
      swapped(`is to be filled from ${source}, and is from ${disk.snapshotId}`);
    }
  }

  #runs(instanceId: string): boolean {
    return this.cloud.account.ec2.instances.get(instanceId)?.state === "running";
  }

  #attachmentIn({ method, url }: HttpRequest): AttachmentObject | undefined {
    const name = method === "PATCH" ? /\/volumeattachments\/([^/]+)/.exec(url.pathname)?.[1] : undefined;
    return name === undefined ? undefined : this.objects.attachments().find(({ metadata }) => metadata.name === name);
  }

  /** What a VolumeAttachment says is so in EC2: kubelet and the next node go by it. */
  #judgeAttachment(before: AttachmentObject | undefined, request: HttpRequest): void {
    if (before === undefined) return;
    const after = this.#attachmentIn(request);
    const instanceId = (after ?? before).metadata.annotations?.["csi.alpha.kubernetes.io/node-id"] ?? "";
    const volume = this.objects.volume(before.spec.source.persistentVolumeName);
    const found = volume && this.disk(volume)?.attachments.find((each) => each.instanceId === instanceId);
    if (!this.#runs(instanceId) || volume === undefined) return;
    const what = `${handleOf(volume.spec)} at ${instanceId}, where it is ${found?.state ?? "not"}`;
    const isTold = after?.status?.attached && after.metadata.deletionTimestamp === undefined;
    if (isTold && !before.status?.attached && found?.state !== "attached") this.#broken("what is said to be attached is", "a status", what);
    if (after === undefined && found !== undefined) this.#broken("what is said to be detached is", "a finalizer", what);
  }

  /** Once is enough. */
  #broken(rule: string, by: string, how: string): void {
    if (this.#told.has(how)) return;
    this.#told.add(how);
    this.history.broken(rule, `after ${by} ${how}`);
  }
}

function isThere(disk: Volume | undefined): disk is Volume {
  return disk !== undefined && disk.state !== "deleting";
}

/** The disk that a PersistentVolume is of, by CSI or from before it. */
export function handleOf({ csi, awsElasticBlockStore }: VolumeObject["spec"]): string {
  return csi?.volumeHandle ?? awsElasticBlockStore?.volumeID.replace(/^aws:\/\/[^/]*\//, "") ?? "";
}
