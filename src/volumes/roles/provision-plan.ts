/** What a claim asks of the driver, and the PersistentVolume that comes of it: as csi-provisioner makes them. */

import type { Trimmed } from "../../kube/informer.ts";
import type { Frozen } from "../../kube/resource.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../kube/types.ts";
import { CsiError } from "../csi/errors.ts";
import type { ContentSource, CreateVolumeRequest, StringMap, VolumeAnswer, VolumeCapability } from "../csi/messages.ts";
import { asInTree, inTreeName } from "../migration.ts";
import { driverName } from "../names.ts";
import { bytesOfQuantity, quantityOfBytes } from "../quantity.ts";
import type { Accessibility } from "./accessibility.ts";

export type SeenClaim = Frozen<Trimmed<PersistentVolumeClaim>>;
export type SeenClass = Frozen<Trimmed<StorageClass>>;
export type SeenVolume = Frozen<Trimmed<PersistentVolume>>;

export const annotations = {
  /** Who is to make a claim's volume; put there by kube-controller-manager. */
  provisioner: ["volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"],
  selectedNode: "volume.kubernetes.io/selected-node",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
  /** The driver that has taken over from an in-tree plugin; put there by kube-controller-manager. */
  migratedTo: "pv.kubernetes.io/migrated-to",
  deletionSecret: ["volume.kubernetes.io/provisioner-deletion-secret-name", "volume.kubernetes.io/provisioner-deletion-secret-namespace"],
} as const;

/** Keeps a PersistentVolume until its disk is gone. */
export const volumeFinalizer = "external-provisioner.volume.kubernetes.io/finalizer";

const identityKey = "storage.kubernetes.io/csiProvisionerIdentity";
const sidecarPrefix = "csi.storage.k8s.io/";

/** Whether a volume is to be made for the claim now. */
export function wantsVolume({ metadata, spec }: SeenClaim, storageClass: SeenClass | undefined): boolean {
  if (spec?.volumeName || metadata.deletionTimestamp !== undefined || storageClass === undefined) return false;
  if (!isOwnClass(storageClass)) return false;
  if (![...annotations.provisioner, annotations.migratedTo].some((key) => metadata.annotations?.[key] === driverName)) return false;
  return storageClass.volumeBindingMode !== "WaitForFirstConsumer" || metadata.annotations?.[annotations.selectedNode] !== undefined;
}

/** A class of this driver, or of the in-tree plugin that it took over from. */
export function isOwnClass({ provisioner }: SeenClass): boolean {
  return provisioner === driverName || provisioner === inTreeName;
}

/** The name of the volume that is made for a claim, in the cluster and in AWS. */
export function volumeNameOf({ metadata }: SeenClaim): string {
  return `pvc-${metadata.uid}`;
}

/** The key of the claim that the volume was made for. */
export function claimOf({ spec }: SeenVolume): readonly string[] {
  return spec?.claimRef === undefined ? [] : [`${spec.claimRef.namespace}/${spec.claimRef.name}`];
}

export interface Provisioning {
  readonly claim: SeenClaim;
  /** One from before CSI is translated, but for its provisioner. */
  readonly storageClass: SeenClass;
  readonly accessibility: Accessibility | undefined;
  readonly source: ContentSource | undefined;
  /** Parameters of the claim's VolumeAttributesClass. */
  readonly attributes: StringMap;
  /** Of volumes whose class names no file system. */
  readonly defaultFsType: string;
}

/** The request for the claim's volume. Throws where the claim asks for what cannot be. */
export function creationRequest(provisioning: Provisioning): CreateVolumeRequest {
  const { claim, storageClass, accessibility, source, attributes } = provisioning;
  const { metadata, spec } = claim;
  const name = volumeNameOf(claim);
  if (spec?.selector !== undefined) {
    throw new CsiError("InvalidArgument", "claim Selector is not supported: a selector chooses among volumes that are there already");
  }
  const size = bytesOfQuantity(spec?.resources?.requests?.storage ?? "");
  if (size === undefined)
    throw new Error(`the claim asks for ${JSON.stringify(spec?.resources?.requests?.storage)} of storage, which is not a size`);
  const limit = bytesOfQuantity(spec?.resources?.limits?.storage ?? "") ?? 0n;
  return {
    name,
    capacityRange: { requiredBytes: String(size), limitBytes: String(limit) },
    volumeCapabilities: (spec?.accessModes ?? []).map((mode) =>
      capabilityOf(mode, spec?.volumeMode, fsTypeOf(provisioning), storageClass.mountOptions),
    ),
    parameters: {
      ...withoutSidecars(storageClass.parameters ?? {}),
      [`${sidecarPrefix}pvc/name`]: metadata.name,
      [`${sidecarPrefix}pvc/namespace`]: metadata.namespace ?? "",
      [`${sidecarPrefix}pv/name`]: name,
    },
    mutableParameters: attributes,
    volumeContentSource: source ?? null,
    accessibilityRequirements: accessibility ?? null,
  };
}

/** Parameters with the sidecars' prefix are for them alone. */
function withoutSidecars(parameters: StringMap): StringMap {
  return Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(sidecarPrefix)));
}

function fsTypeOf({ claim, storageClass, defaultFsType }: Pick<Provisioning, "claim" | "storageClass" | "defaultFsType">): string {
  if (claim.spec?.volumeMode === "Block") return "";
  const named = Object.entries(storageClass.parameters ?? {}).filter(
    ([key]) => key === `${sidecarPrefix}fstype` || key.toLowerCase() === "fstype",
  );
  if (named.length > 1) {
    throw new CsiError("InvalidArgument", `the class names the file system more than once: ${named.map(([key]) => key).join(", ")}`);
  }
  return named[0]?.[1] || defaultFsType;
}

const modes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "SINGLE_NODE_WRITER",
  ReadWriteOncePod: "SINGLE_NODE_WRITER",
  ReadOnlyMany: "MULTI_NODE_READER_ONLY",
  ReadWriteMany: "MULTI_NODE_MULTI_WRITER",
};

/** How a volume is used, as CSI says it. */
export function capabilityOf(
  mode: string,
  volumeMode: string | undefined,
  fsType: string,
  mountFlags: readonly string[] = [],
): VolumeCapability {
  const accessMode = { mode: modes[mode] ?? "UNKNOWN" };
  if (volumeMode === "Block") return { accessType: "block", block: {}, accessMode };
  return { accessType: "mount", mount: { fsType, mountFlags }, accessMode };
}

/**
 * The PersistentVolume of what the driver has made. `identity` tells which process had it made. For a class from before CSI it is
 * of the in-tree kind, which is what users of that class know, and what a cluster that goes back can still use.
 */
export function volumeFor(provisioning: Provisioning, made: VolumeAnswer, identity: string): PersistentVolume {
  const volume = driverVolumeFor(provisioning, made, identity);
  return provisioning.storageClass.provisioner === inTreeName ? asInTree(volume) : volume;
}

function driverVolumeFor(provisioning: Provisioning, made: VolumeAnswer, identity: string): PersistentVolume {
  const { claim, storageClass } = provisioning;
  const { metadata, spec } = claim;
  const fsType = fsTypeOf(provisioning);
  return {
    metadata: {
      name: volumeNameOf(claim),
      annotations: {
        [annotations.provisionedBy]: storageClass.provisioner,
        ...Object.fromEntries(annotations.deletionSecret.map((key) => [key, ""])),
      },
      finalizers: [volumeFinalizer],
    },
    spec: {
      accessModes: [...(spec?.accessModes ?? [])],
      capacity: { storage: quantityOfBytes(BigInt(made.capacityBytes)) },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        name: metadata.name,
        namespace: metadata.namespace ?? "",
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
      csi: {
        driver: driverName,
        volumeHandle: made.volumeId,
        ...(fsType && { fsType }),
        volumeAttributes: { ...made.volumeContext, [identityKey]: identity },
      },
      ...(made.accessibleTopology.length > 0 && {
        nodeAffinity: {
          required: { nodeSelectorTerms: made.accessibleTopology.map(({ segments }) => ({ matchExpressions: expressions(segments) })) },
        },
      }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      ...(storageClass.mountOptions && { mountOptions: [...storageClass.mountOptions] }),
      volumeMode: spec?.volumeMode ?? "Filesystem",
      ...(attributesClassOf(claim) && { volumeAttributesClassName: attributesClassOf(claim) }),
    },
  };
}

function expressions(segments: StringMap) {
  return Object.entries(segments)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, operator: "In", values: [value] }));
}

/** The VolumeAttributesClass that the claim names. */
export function attributesClassOf({ spec }: SeenClaim): string | undefined {
  return spec?.volumeAttributesClassName || undefined;
}

/** Whether the disk of a PersistentVolume is to be deleted, and the object with it. */
export function wantsDeletion(volume: SeenVolume): boolean {
  const { metadata, spec, status } = volume;
  // Kept by us alone, or not ours to keep: with neither it is gone already.
  if (metadata.deletionTimestamp !== undefined && !metadata.finalizers?.includes(volumeFinalizer)) return false;
  return isOfDriver(volume) && status?.phase === "Released" && spec?.persistentVolumeReclaimPolicy === "Delete";
}

/**
 * Whether a PersistentVolume is to go and its disk is to stay: then nothing is left for us to do. As long as it is bound somebody
 * may still say otherwise, and a finalizer cannot come back to what is leaving.
 */
export function mayGo(volume: SeenVolume): boolean {
  const { metadata, spec, status } = volume;
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(volumeFinalizer)) return false;
  return isOfDriver(volume) && status?.phase !== "Bound" && spec?.persistentVolumeReclaimPolicy !== "Delete";
}

/** Whether a PersistentVolume is to go before Kubernetes has bound it, and its disk with it. It is bound to nobody any more then. */
export function isWithdrawn(volume: SeenVolume): boolean {
  const { metadata, spec, status } = volume;
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(volumeFinalizer)) return false;
  const isUnbound = !status?.phase || status.phase === "Pending" || status.phase === "Available";
  return isOfDriver(volume) && isUnbound && spec?.persistentVolumeReclaimPolicy === "Delete";
}

/** Made by this driver, or by the in-tree plugin that it took over from. */
function isOfDriver({ metadata, spec }: SeenVolume): boolean {
  if (![annotations.provisionedBy, annotations.migratedTo].some((key) => metadata.annotations?.[key] === driverName)) return false;
  return spec?.csi?.driver === driverName || spec?.awsElasticBlockStore !== undefined;
}
