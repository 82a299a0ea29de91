/** IOPS of volume types: what is asked for, brought into the limits of type and size. */

interface TypeIops {
  readonly min: number;
  /** Where the zone does not say more or less. */
  readonly max: number;
  readonly perGiB: number;
}

/** Types whose IOPS can be chosen. EC2 refuses IOPS for any other. */
const types: Readonly<Record<string, TypeIops>> = {
  gp3: { min: 3000, max: 16_000, perGiB: 500 },
  io1: { min: 100, max: 64_000, perGiB: 50 },
  io2: { min: 100, max: 256_000, perGiB: 1000 },
};

/** EC2 takes numbers of 32 bits. */
const largest = 2 ** 31 - 1;

/** Whether IOPS of this type have limits that are worth asking EC2 for. */
export function hasIopsLimits(type: string): boolean {
  return Object.hasOwn(types, type.toLowerCase());
}

export interface IopsWish {
  readonly type: string;
  readonly sizeGiB: number;
  /** 0 for none. */
  readonly iops: number;
  /** Raise to the least of the type instead of letting EC2 refuse. */
  readonly mayIncrease: boolean;
  /** The most that the zone offers; undefined when that is not known, 0 when there is no limit. */
  readonly zoneMax: number | undefined;
}

/** The IOPS to ask EC2 for; undefined to leave them to the type. */
export function cappedIops({ type, sizeGiB, iops: asked, mayIncrease, zoneMax }: IopsWish): number | undefined {
  if (asked <= 0) return undefined;
  let iops = Math.min(asked, largest);
  const limits = types[type.toLowerCase()];
  if (limits === undefined) return iops;
  if (iops < limits.min && mayIncrease) iops = limits.min;
  const max = zoneMax ?? limits.max;
  if (max > 0 && iops > max) iops = max;
  const bySize = limits.perGiB * sizeGiB;
  if (bySize > 0 && iops > bySize && bySize >= limits.min) iops = bySize;
  return iops;
}

/** What EC2 says when far too many IOPS are asked for. Its codes do not tell the limit, so its words have to. */
const limitTexts: readonly (readonly [RegExp, (match: RegExpExecArray) => number])[] = [
  [/parameter iops is not supported/, () => 0],
  [/volume iops.*is too high.*maximum is (\d+)/i, (match) => Number(match[1])],
  [/(\d+)K IOPS/, (match) => Number(match[1]) * 1000],
];

/** The limit of a zone in EC2's refusal; 0 for a type without a limit, undefined when the text does not tell. */
export function iopsLimitIn(text: string): number | undefined {
  for (const [pattern, read] of limitTexts) {
    const match = pattern.exec(text);
    if (match) return read(match);
  }
  return undefined;
}
