/** The types of volumes and their limits (https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html). */
import type { VolumeType } from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import type { Ec2 } from "../state.ts";
import type { VolumeSpec } from "./state.ts";

interface Range {
  readonly min: number;
  readonly max: number;
}

interface TypeLimits {
  readonly sizeGiB: Range;
  /** Absent: the parameter is not supported. `usual` absent: it must be given. */
  readonly iops?: Range & { readonly usual?: number; readonly perGiB: number };
  readonly throughput?: Range & { readonly usual: number; readonly perIops: number };
  readonly multiAttach?: boolean;
  /** What the type reports as its IOPS though nobody can choose them. */
  readonly baseline?: (sizeGiB: number) => number;
}

const LIMITS: Readonly<Partial<Record<VolumeType, TypeLimits>>> = {
  gp3: {
    sizeGiB: { min: 1, max: 65_536 },
    iops: { min: 3000, max: 80_000, usual: 3000, perGiB: 500 },
    throughput: { min: 125, max: 2000, usual: 125, perIops: 0.25 },
  },
  gp2: { sizeGiB: { min: 1, max: 16_384 }, baseline: (sizeGiB) => Math.min(16_000, Math.max(100, 3 * sizeGiB)) },
  io1: { sizeGiB: { min: 4, max: 16_384 }, iops: { min: 100, max: 64_000, perGiB: 50 }, multiAttach: true },
  io2: { sizeGiB: { min: 4, max: 65_536 }, iops: { min: 100, max: 256_000, perGiB: 1000 }, multiAttach: true },
  st1: { sizeGiB: { min: 125, max: 16_384 } },
  sc1: { sizeGiB: { min: 125, max: 16_384 } },
  standard: { sizeGiB: { min: 1, max: 1024 } },
};

/** What a request says of a volume; the rest takes the type's usual values. */
export interface WantedSpec {
  readonly type: VolumeType;
  readonly sizeGiB: number;
  readonly iops: number | undefined;
  readonly throughput: number | undefined;
  readonly multiAttach: boolean;
}

/** The volume a request asks for, within the limits of its type. */
export function checkedSpec(wanted: WantedSpec): VolumeSpec {
  const { type, sizeGiB, multiAttach } = wanted;
  const limits = LIMITS[type];
  if (limits === undefined) throw new ServiceError("UnknownVolumeType", `Unsupported volume type '${type}' for volume creation.`);
  checkSize(type, sizeGiB, limits.sizeGiB);
  if (multiAttach && !limits.multiAttach) throw unsupported("MultiAttachEnabled", type);
  const iops = checkedIops(wanted, limits);
  return { type, sizeGiB, iops, throughput: checkedThroughput(wanted, limits, iops), multiAttach };
}

function checkSize(type: VolumeType, sizeGiB: number, { min, max }: Range): void {
  if (sizeGiB < min) throw invalid(`Volume of ${sizeGiB}GiB is too small for volume type ${type}; minimum is ${min}GiB.`);
  if (sizeGiB > max) throw invalid(`Volume of ${sizeGiB}GiB is too large for volume type ${type}; maximum is ${max}GiB.`);
}

function checkedIops({ type, sizeGiB, iops: asked }: WantedSpec, { iops: limits, baseline }: TypeLimits): number | undefined {
  if (limits === undefined) {
    if (asked !== undefined) throw unsupported("iops", type);
    return baseline?.(sizeGiB);
  }
  const iops = asked ?? limits.usual;
  if (iops === undefined) throw new ServiceError("MissingParameter", `The request must contain the parameter iops for ${type} volumes`);
  if (iops < limits.min) throw invalid(`Volume iops of ${iops} is too low; minimum is ${limits.min}.`);
  if (iops > limits.max) throw type === "io2" ? beyondIo2() : invalid(`Volume iops of ${iops} is too high; maximum is ${limits.max}.`);
  // A gp3 volume has its 3,000 whatever its size.
  const ratio = iops / sizeGiB;
  if (iops !== limits.usual && ratio > limits.perGiB) {
    throw invalid(`Iops to volume size ratio of ${ratio.toFixed(6)} is too high; maximum is ${limits.perGiB.toFixed(6)}.`);
  }
  return iops;
}

function checkedThroughput(
  { type, throughput: asked }: WantedSpec,
  { throughput: limits }: TypeLimits,
  iops: number | undefined,
): number | undefined {
  if (limits === undefined) {
    if (asked !== undefined) throw unsupported("throughput", type);
    return undefined;
  }
  const throughput = asked ?? limits.usual;
  if (throughput < limits.min) throw invalid(`Throughput of ${throughput} is too low; minimum is ${limits.min}.`);
  if (throughput > limits.max) throw invalid(`Throughput of ${throughput} is too high; maximum is ${limits.max}.`);
  const ratio = throughput / (iops ?? 1);
  if (ratio > limits.perIops) {
    throw invalid(
      `Throughput (MiBps) to iops ratio of ${ratio.toFixed(6)} is too high; maximum is ${limits.perIops.toFixed(6)} MiBps per iops.`,
    );
  }
  return throughput;
}

/** Refuses what would take the account over its quotas of storage and of provisioned IOPS, each counted by type. */
export function checkQuotas(ec2: Ec2, wanted: VolumeSpec, before: VolumeSpec | undefined, storageCode: string): void {
  const { volumeStorageTiB, provisionedIops } = ec2.account.settings().quotas;
  const others = ec2.volumes
    .values()
    .map((volume) => volume.spec)
    .filter((spec) => spec.type === wanted.type);
  const grown = (amount: (spec: VolumeSpec) => number) =>
    others.reduce((sum, spec) => sum + amount(spec), amount(wanted)) - (before?.type === wanted.type ? amount(before) : 0);
  if (grown((spec) => spec.sizeGiB) > volumeStorageTiB * 1024) {
    throw new ServiceError(storageCode, `You have exceeded your maximum ${wanted.type} storage limit of ${volumeStorageTiB} TiB.`);
  }
  if ((wanted.type === "io1" || wanted.type === "io2") && grown((spec) => spec.iops ?? 0) > provisionedIops) {
    throw new ServiceError("MaxIOPSLimitExceeded", `You have exceeded your maximum ${wanted.type} IOPS limit of ${provisionedIops}.`);
  }
}

/** io2 words its limit in its own way, which those who look for the limit of a zone must understand. */
function beyondIo2(): ServiceError {
  return invalid("io2 volumes configured with greater than 64 TiB or 256K IOPS are not supported.");
}

function unsupported(parameter: string, type: VolumeType): ServiceError {
  return new ServiceError("InvalidParameterCombination", `The parameter ${parameter} is not supported for ${type} volumes.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError("InvalidParameterValue", message);
}
