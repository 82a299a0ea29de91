/** Where the histories of the built-in roles take place: claims, their disks and snapshots, and what is wrong with them in the end. */
import { bodyText, type HttpResponse, type Transport } from "../../src/runtime/http.ts";
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
import { handleOf, RolesObjects, type VolumeObject } from "./roles-objects.ts";
import { RolesRules } from "./roles-rules.ts";
import { attributesClasses, type ClaimWish, isServable, type SnapshotWish } from "./roles-wish.ts";
import { streamedListsOf } from "./streamed-lists.ts";

/** Compiled once: they are the same in every history. */
const shapes = new Shapes();
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
  readonly #rules: RolesRules;

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
    this.#rules = new RolesRules(this);
  }

  run(id: string): Instance {
    return this.cloud.account.ec2.instances.update(id, { state: "running" });
  }

  /** From now on everything counts. */
  open(foreign: readonly string[]): void {
    this.#rules.protect(foreign);
    this.isOpen = true;
  }

  /** The API server as replicas reach it. */
  readonly serve: Transport = async (request) => {
    const judge = this.#rules.attachmentJudge(request);
    const answer = await this.cluster.send(request);
    if (request.method === "GET" || /\/(leases|events)(\/|$)/.test(request.url.pathname)) return answer;
    judge();
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

  /** Sees to what must be true at every moment. */
  look(by: string): void {
    this.#rules.look(by);
  }

  #changed(by: string): void {
    this.lastChangeAt = this.world.clock.monotonic();
    this.look(by);
    this.onWrite();
  }
}
