/**
 * A stand-in for what Kubernetes itself does for volumes: kube-controller-manager's binding, protection and attachments, and
 * kubelet's part of growing a file system. Who makes, attaches and grows disks is the driver's business, not this one's.
 */

import { pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { KubeObject, Resource, Stored } from "../kube/resource.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment } from "../kube/types.ts";
import { sleep } from "../runtime/world.ts";
import { inTreeName } from "../volumes/migration.ts";
import { driverName } from "../volumes/names.ts";
import { claims, persistentVolumes, storageClasses, volumeAttachments } from "../volumes/storage-resources.ts";

export interface VolumeStandInOptions {
  readonly kube: KubeClient;
  readonly lookEveryMs: number;
  readonly complain: (message: string, error: unknown) => void;
}

type Claim = Stored<PersistentVolumeClaim>;
type Volume = Stored<PersistentVolume>;

/** Everything of volumes that the cluster has. */
interface Seen {
  readonly claims: readonly Claim[];
  readonly volumes: readonly Volume[];
  readonly classes: readonly Stored<StorageClass>[];
  readonly attachments: readonly Stored<VolumeAttachment>[];
  readonly pods: readonly Stored<Pod>[];
}

/** Runs until the signal aborts. */
export async function standInForVolumeControllers(options: VolumeStandInOptions, signal: AbortSignal): Promise<void> {
  const { kube, lookEveryMs, complain } = options;
  while (!signal.aborted) {
    try {
      await new Look(kube, await look(kube, signal), signal).all();
    } catch (error) {
      // Somebody else changed it or took it away: the next look sees it as it is.
      if (!signal.aborted && !isApiError(error, "conflict", "not-found")) complain("volumes were not looked after", error);
    }
    await sleep(kube.host.world.clock, lookEveryMs, signal).catch(() => {});
  }
}

async function look(kube: KubeClient, signal: AbortSignal): Promise<Seen> {
  const list = async <T extends KubeObject>(of: Resource<T>) => (await kube.list(of, { signal })).items;
  return {
    claims: await list(claims),
    volumes: await list(persistentVolumes),
    classes: await list(storageClasses),
    attachments: await list(volumeAttachments),
    pods: await list(pods),
  };
}

const annotations = {
  provisioner: "volume.kubernetes.io/storage-provisioner",
  selectedNode: "volume.kubernetes.io/selected-node",
  bound: "pv.kubernetes.io/bind-completed",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  migratedTo: "pv.kubernetes.io/migrated-to",
  resizer: "volume.kubernetes.io/storage-resizer",
};

/** Kubernetes gives what is of its former plugin to the driver. */
const inDriversName = (provisioner: string) => (provisioner === inTreeName ? driverName : provisioner);

class Look {
  readonly #kube: KubeClient;
  readonly #seen: Seen;
  readonly #signal: AbortSignal;

  constructor(kube: KubeClient, seen: Seen, signal: AbortSignal) {
    this.#kube = kube;
    this.#seen = seen;
    this.#signal = signal;
  }

  async all(): Promise<void> {
    for (const claim of this.#seen.claims) await this.#claim(claim);
    for (const volume of this.#seen.volumes) await this.#volume(volume);
    await this.#attach();
  }

  async #claim(claim: Claim): Promise<void> {
    const { metadata, spec, status } = claim;
    if (metadata.deletionTimestamp !== undefined) {
      if (!this.#users(claim).length) await this.#unprotect(claims, claim, "kubernetes.io/pvc-protection");
      return;
    }
    if (!spec?.volumeName) return this.#awaitVolume(claim);
    const volume = this.#seen.volumes.find((each) => each.metadata.name === spec.volumeName);
    const size = volume?.spec?.capacity?.storage;
    const isMigrated = volume?.spec?.awsElasticBlockStore !== undefined && metadata.annotations?.[annotations.resizer] === undefined;
    if (isMigrated && status?.phase === "Bound" && spec.resources?.requests?.storage !== status.capacity?.storage) {
      await this.#change(claims, claim, "", { metadata: { annotations: { [annotations.resizer]: driverName } } });
    }
    if (status?.allocatedResourceStatuses?.storage === "NodeResizePending" && size !== undefined && this.#isAttached(spec.volumeName)) {
      await this.#change(claims, claim, "status", {
        status: { capacity: { storage: size }, allocatedResourceStatuses: null, conditions: null },
      });
    }
  }

  /** Binds it to the volume that is for it, or says who is to make one. */
  async #awaitVolume(claim: Claim): Promise<void> {
    const { metadata, spec } = claim;
    // One that is leaving is bound to nobody any more.
    const volume = this.#seen.volumes.find(
      (each) => each.spec?.claimRef?.uid === metadata.uid && each.metadata.deletionTimestamp === undefined,
    );
    if (volume !== undefined) {
      // First, and refused when somebody has changed it meanwhile: one that was deleted a moment ago is bound to nobody.
      const { resourceVersion } = volume.metadata;
      await this.#change(persistentVolumes, volume, "status", { metadata: { resourceVersion }, status: { phase: "Bound" } });
      await this.#change(claims, claim, "", {
        metadata: { annotations: { [annotations.bound]: "yes" } },
        spec: { volumeName: volume.metadata.name },
      });
      const { capacity, accessModes, volumeAttributesClassName } = volume.spec ?? {};
      const attributes = volumeAttributesClassName && { currentVolumeAttributesClassName: volumeAttributesClassName };
      await this.#change(claims, claim, "status", { status: { phase: "Bound", capacity, accessModes, ...attributes } });
      return;
    }
    const storageClass = this.#seen.classes.find((each) => each.metadata.name === spec?.storageClassName);
    if (storageClass === undefined) return;
    const waits = storageClass.volumeBindingMode === "WaitForFirstConsumer" && !metadata.annotations?.[annotations.selectedNode];
    const node = this.#users(claim).find((pod) => pod.spec?.nodeName)?.spec?.nodeName;
    if (waits && node === undefined) return;
    const provisioner = inDriversName(storageClass.provisioner);
    if (metadata.annotations?.[annotations.provisioner] === provisioner && !waits) return;
    await this.#change(claims, claim, "", {
      metadata: {
        annotations: { [annotations.provisioner]: provisioner, ...(waits && { [annotations.selectedNode]: node }) },
      },
    });
  }

  async #volume(volume: Volume): Promise<void> {
    const { metadata, spec, status } = volume;
    const claim = this.#seen.claims.find((each) => each.metadata.uid === spec?.claimRef?.uid);
    if (metadata.annotations?.[annotations.provisionedBy] === inTreeName && metadata.annotations[annotations.migratedTo] === undefined) {
      await this.#change(persistentVolumes, volume, "", { metadata: { annotations: { [annotations.migratedTo]: driverName } } });
    }
    const isPromised = status?.phase === "Bound" || (status?.phase === "Pending" && spec?.claimRef !== undefined);
    if (isPromised && claim === undefined) {
      await this.#change(persistentVolumes, volume, "status", { status: { phase: "Released" } });
    } else if (metadata.deletionTimestamp !== undefined && status?.phase !== "Bound")
      await this.#unprotect(persistentVolumes, volume, "kubernetes.io/pv-protection");
  }

  /** An attachment for each volume of each pod on its node; none for anybody else. */
  async #attach(): Promise<void> {
    const wanted = new Map<string, { readonly node: string; readonly volume: Volume }>();
    for (const pod of this.#seen.pods) {
      const node = pod.spec?.nodeName;
      for (const volume of node ? this.#volumesOf(pod) : []) {
        wanted.set(`csi-${volume.metadata.name}-${node}`, { node: node!, volume });
      }
    }
    for (const attachment of this.#seen.attachments) {
      const { metadata, spec } = attachment;
      // Volumes of pods from before CSI are not looked after here.
      if (wanted.delete(metadata.name) || metadata.deletionTimestamp !== undefined || spec.source.inlineVolumeSpec) continue;
      await this.#kube.delete(volumeAttachments, { name: attachment.metadata.name }, { signal: this.#signal });
    }
    for (const [name, { node, volume }] of wanted) {
      const others = this.#seen.attachments.filter(({ spec }) => spec.source.persistentVolumeName === volume.metadata.name);
      // One after the other: where the volume is still elsewhere, that comes first.
      if (others.length > 0 && !volume.spec?.accessModes?.includes("ReadWriteMany")) continue;
      const attacher = volume.spec?.awsElasticBlockStore ? driverName : (volume.spec?.csi?.driver ?? "");
      const source = { persistentVolumeName: volume.metadata.name };
      await this.#kube.create(
        volumeAttachments,
        { metadata: { name }, spec: { attacher, nodeName: node, source } },
        { signal: this.#signal },
      );
    }
  }

  #volumesOf(pod: Stored<Pod>): readonly Volume[] {
    const names = (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
      persistentVolumeClaim ? [persistentVolumeClaim.claimName] : [],
    );
    const bound = this.#seen.claims.filter(
      ({ metadata, status }) => metadata.namespace === pod.metadata.namespace && names.includes(metadata.name) && status?.phase === "Bound",
    );
    return bound.flatMap(({ spec }) => this.#seen.volumes.filter((volume) => volume.metadata.name === spec?.volumeName));
  }

  #users({ metadata }: Claim): readonly Stored<Pod>[] {
    return this.#seen.pods.filter(
      (pod) =>
        pod.metadata.namespace === metadata.namespace &&
        pod.spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name),
    );
  }

  #isAttached(volumeName: string): boolean {
    return this.#seen.attachments.some(({ spec, status }) => spec.source.persistentVolumeName === volumeName && status?.attached);
  }

  async #unprotect(of: Resource<KubeObject>, object: Stored<KubeObject>, finalizer: string): Promise<void> {
    const { finalizers = [], resourceVersion } = object.metadata;
    if (!finalizers.includes(finalizer)) return;
    await this.#change(of, object, "", { metadata: { finalizers: finalizers.filter((each) => each !== finalizer), resourceVersion } });
  }

  async #change(of: Resource<KubeObject>, { metadata }: Stored<KubeObject>, subresource: string, merge: object): Promise<void> {
    const { name, namespace, uid } = metadata;
    const target = { name, ...(namespace && { namespace }), ...(subresource && { subresource }) };
    await this.#kube.patch(of, target, { merge, uid }, { signal: this.#signal });
  }
}
