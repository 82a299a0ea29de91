/** Sizes. EBS sells whole GiB, CSI asks for bytes. */
import { invalidArgument } from "./csi/errors.ts";
import type { CapacityRange } from "./csi/messages.ts";

const gib = 2n ** 30n;

/** The size of a volume nobody gave a size for, in GiB. */
export const defaultSizeGiB = 100;

/** The GiB that hold as many bytes as are required and do not exceed the limit. */
export function sizeInRange({ requiredBytes, limitBytes }: CapacityRange): number {
  const required = BigInt(requiredBytes);
  const limit = BigInt(limitBytes);
  if (required < 0n || limit < 0n) throw invalidArgument(`Capacity range is negative: required ${required}, limit ${limit}`);
  const size = (required + gib - 1n) / gib;
  if (limit > 0n && limit < size * gib) throw invalidArgument("After round-up, volume size exceeds the limit specified");
  return Number(size);
}

/** GiB in bytes, as CSI writes numbers of 64 bits. */
export function bytesOf(sizeGiB: number): string {
  return String(BigInt(sizeGiB) * gib);
}
