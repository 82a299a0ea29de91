/** What people want of volumes, and which of it can be had. */
import type { RolesObjects } from "./roles-objects.ts";

/** A claim, with the pod that uses it. */
export interface ClaimWish {
  readonly name: string;
  readonly className: ClassName;
  readonly sizeGiB: number;
  /** Its VolumeAttributesClass. */
  readonly attributes: string | undefined;
  /** What it is filled from. */
  readonly source: { readonly kind: "VolumeSnapshot" | "PersistentVolumeClaim"; readonly name: string } | undefined;
  readonly hasPod: boolean;
  /** Which of the nodes that would do the pod is on. */
  readonly seat: number;
  readonly isDeleted: boolean;
}

export interface SnapshotWish {
  readonly name: string;
  readonly isDeleted: boolean;
}

const atOnce = { volumeBindingMode: "Immediate" };
const firstUse = { volumeBindingMode: "WaitForFirstConsumer" };
const encrypted = { encrypted: "true", kmsKeyId: "arn:aws:kms:us-east-1:123456789012:key/locked" };

/** StorageClasses by name. */
export const classes = {
  now: atOnce,
  first: firstUse,
  kept: { ...atOnce, reclaimPolicy: "Retain" },
  locked: { ...atOnce, parameters: encrypted },
  fast: { ...firstUse, parameters: { type: "io2", iops: "1000" } },
  older: { ...atOnce, provisioner: "kubernetes.io/aws-ebs", parameters: { type: "gp2" } },
  /** Only in the second zone. */
  zoned: firstUse,
  /** Comes after the claims that name it. */
  late: firstUse,
  /** Is made anew with other parameters now and then. */
  moody: atOnce,
  /** Its parameters make no sense. */
  wrong: { ...atOnce, parameters: { speed: "high" } },
} as const;

export type ClassName = keyof typeof classes;

/** VolumeAttributesClasses: the IOPS that each gives. */
export const attributesClasses: Readonly<Record<string, string>> = { calm: "3000", busy: "4000", busier: "5000" };

/** Volumes of these classes are gp3, whose IOPS can be chosen. */
export const tunable: ReadonlySet<ClassName> = new Set(["now", "first", "kept", "locked", "zoned", "late"]);

/** Where the volume of a claim waits for its pod. */
export function waitsForPod(name: ClassName): boolean {
  return classes[name].volumeBindingMode === "WaitForFirstConsumer";
}

/** Whether a claim can have what it asks for. One that is bound has it. */
export function isServable({ className, hasPod, name }: ClaimWish, objects: RolesObjects): boolean {
  if (className === "wrong") return false;
  if (objects.claim(name)?.spec.volumeName) return true;
  return objects.class(className) !== undefined && (hasPod || !waitsForPod(className));
}
