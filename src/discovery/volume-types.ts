/** The types of volumes and their largest values; EC2 has no call that lists them (https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html). */

export interface VolumeTypeLimits {
  readonly name: string;
  readonly minSizeGiB: number;
  readonly maxSizeGiB: number;
  readonly iops: number;
  /** MiB per second. */
  readonly throughput: number;
}

const rows: readonly (readonly [name: string, minGiB: number, maxGiB: number, iops: number, throughput: number])[] = [
  ["gp2", 1, 16_384, 16_000, 250],
  ["gp3", 1, 65_536, 80_000, 2_000],
  ["io1", 4, 16_384, 64_000, 1_000],
  ["io2", 4, 65_536, 256_000, 4_000],
  ["sc1", 125, 16_384, 250, 250],
  ["st1", 125, 16_384, 500, 500],
];

export const volumeTypes: readonly VolumeTypeLimits[] = rows.map(([name, minSizeGiB, maxSizeGiB, iops, throughput]) => ({
  name,
  minSizeGiB,
  maxSizeGiB,
  iops,
  throughput,
}));
