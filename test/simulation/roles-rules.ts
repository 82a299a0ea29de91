/** What must be true of volumes at every moment of a history of the built-in roles. */
import { isDeepStrictEqual } from "node:util";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Volume } from "../../src/sandbox/cloud/ec2/volumes/state.ts";
import { type AttachmentObject, type ClaimObject, handleOf, type VolumeObject } from "./roles-objects.ts";
import type { RolesScene } from "./roles-scene.ts";

/** Somebody's own finalizer. */
export const hold = "example.com/hold";

export class RolesRules {
  readonly #scene: RolesScene;
  /** Snapshots that have been ready under each name. */
  readonly #ready = new Map<string, Set<string>>();
  /** The disk of each claim, by UID. */
  readonly #disks = new Map<string, string>();
  readonly #foreign = new Map<string, Volume>();
  readonly #told = new Set<string>();

  constructor(scene: RolesScene) {
    this.#scene = scene;
  }

  /** Disks that are somebody else's, and stay as they are. */
  protect(foreign: readonly string[]): void {
    for (const id of foreign) this.#foreign.set(id, this.#scene.cloud.account.ec2.volumes.get(id)!);
  }

  /** What must be true at every moment. */
  look(by: string): void {
    this.#scene.cloud.account.time.settle();
    const { volumes } = this.#scene.cloud.account.ec2;
    for (const [id, before] of this.#foreign) {
      if (!isDeepStrictEqual(volumes.get(id), before)) this.#broken("nothing foreign is touched", by, `${id} is changed or gone`);
    }
    for (const volume of this.#scene.objects.volumes()) this.#lookAt(volume, by);
    for (const id of this.#scene.kept)
      if (!isThere(volumes.get(id))) this.#broken("what is retained is never deleted", by, `${id} is gone`);
    for (const what of this.#scene.held) {
      if (!this.#scene.objects.finalizers(what).includes(hold))
        this.#broken("a finalizer of somebody else stays", by, `${what} has lost it`);
    }
    for (const { metadata, status } of this.#scene.objects.snapshots()) {
      const handle = this.#scene.objects.content(status?.boundVolumeSnapshotContentName)?.status?.snapshotHandle;
      if (status?.readyToUse && handle) this.#ready.set(metadata.name, new Set([...(this.#ready.get(metadata.name) ?? []), handle]));
    }
  }

  #lookAt(volume: VolumeObject, by: string): void {
    const { claimRef, persistentVolumeReclaimPolicy, accessModes } = volume.spec;
    const id = handleOf(volume.spec);
    const disk = this.#scene.disk(volume);
    const claim = claimRef && this.#scene.objects.claim(claimRef.name);
    if (this.#foreign.has(id)) return;
    if (claim !== undefined && claim.metadata.uid === claimRef?.uid) {
      const isUnbound = claim.spec.volumeName !== volume.metadata.name;
      const isWithdrawn = isUnbound && volume.metadata.deletionTimestamp !== undefined;
      if (persistentVolumeReclaimPolicy === "Retain") {
        // Of one that goes before it was bound the disk may be gone when somebody says so.
        if (!isWithdrawn || isThere(disk)) this.#scene.kept.add(id);
      }
      // Somebody deleted the one before, which said so, and the claim has its disk again.
      else if (isUnbound) this.#scene.kept.delete(id);
      // What was never bound was never used: it goes with its PersistentVolume, and the claim gets another one.
      if (isWithdrawn) this.#disks.delete(claim.metadata.uid);
      else this.#lookAtData(claim, id, disk, by);
    }
    const places = new Set((disk?.attachments ?? []).map(({ instanceId }) => instanceId));
    for (const { metadata, spec, status } of this.#scene.objects.attachments()) {
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
    return this.#scene.cloud.account.ec2.instances.get(instanceId)?.state === "running";
  }

  /** Taken before a request is served, and asked after it. */
  attachmentJudge(request: HttpRequest): () => void {
    const before = this.#attachmentIn(request);
    return () => this.#judgeAttachment(before, request);
  }

  #attachmentIn({ method, url }: HttpRequest): AttachmentObject | undefined {
    const name = method === "PATCH" ? /\/volumeattachments\/([^/]+)/.exec(url.pathname)?.[1] : undefined;
    return name === undefined ? undefined : this.#scene.objects.attachments().find(({ metadata }) => metadata.name === name);
  }

  /** What a VolumeAttachment says is so in EC2: kubelet and the next node go by it. */
  #judgeAttachment(before: AttachmentObject | undefined, request: HttpRequest): void {
    if (before === undefined) return;
    const after = this.#attachmentIn(request);
    const instanceId = (after ?? before).metadata.annotations?.["csi.alpha.kubernetes.io/node-id"] ?? "";
    const volume = this.#scene.objects.volume(before.spec.source.persistentVolumeName);
    const found = volume && this.#scene.disk(volume)?.attachments.find((each) => each.instanceId === instanceId);
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
    this.#scene.history.broken(rule, `after ${by} ${how}`);
  }
}
function isThere(disk: Volume | undefined): disk is Volume {
  return disk !== undefined && disk.state !== "deleting";
}
