/** How many volumes a node can have. */
import { attachmentLimits, twoCardTypes, xenTypes } from "./limits-table.ts";

export interface TypeLimit {
  readonly volumes: number;
  /** Network interfaces beyond the first count too. */
  readonly shared: boolean;
  readonly known: boolean;
}

const unknownType: TypeLimit = { volumes: 27, shared: true, known: false };
const ofType: ReadonlyMap<string, TypeLimit> = new Map([
  ...xenTypes.flatMap(([families, sizes]) =>
    typesOf(families, sizes).map((type): [string, TypeLimit] => [type, { volumes: 39, shared: false, known: true }]),
  ),
  ...attachmentLimits.flatMap(([families, limits]) =>
    limits.split("; ").flatMap((each) => {
      const [, count, kind, sizes] = /^(\d+)([sd]): (.*)$/.exec(each)!;
      const limit = { volumes: Number(count), shared: kind === "s", known: true };
      return typesOf(families, sizes!).map((type): [string, TypeLimit] => [type, limit]);
    }),
  ),
]);
const withTwoCards: ReadonlySet<string> = new Set(twoCardTypes.flatMap(([families, sizes]) => typesOf(families, sizes)));

/** `m5 r5` and `x 2x` → `m5.xlarge`, `m5.2xlarge`, `r5.xlarge`, `r5.2xlarge`. */
function typesOf(families: string, sizes: string): string[] {
  return families.split(" ").flatMap((family) => sizes.split(" ").map((size) => `${family}.${size.replace(/^(\d*)x$/, "$1xlarge")}`));
}

/** What is known of an instance type; the smallest common limit for one that is not. */
export function limitOfType(type: string): TypeLimit {
  return ofType.get(type) ?? unknownType;
}

/** The EBS cards of an instance type, for when EC2 cannot be asked. */
export function cardsOfType(type: string): number {
  return withTwoCards.has(type) ? 2 : 1;
}

export interface NodeDisks {
  readonly instanceType: string;
  readonly networkInterfaces: number;
  /** EBS volumes besides the root volume that no PersistentVolume stands for. */
  readonly otherVolumes: number;
}

export interface LimitSettings {
  /** `--volume-attach-limit`; negative when not given. */
  readonly attachLimit: number;
  /** `--reserved-volume-attachments`; negative when not given. */
  readonly reserved: number;
}

/** Volumes that the scheduler may put on a node. At least one: none would be taken for no limit. */
export function volumeLimit(disks: NodeDisks, settings: LimitSettings): number {
  if (settings.attachLimit >= 0) return settings.attachLimit;
  const { volumes, shared } = limitOfType(disks.instanceType);
  const reserved = settings.reserved >= 0 ? settings.reserved : disks.otherVolumes + 1;
  const interfaces = shared ? disks.networkInterfaces - 1 : 0;
  return Math.max(1, volumes - reserved - interfaces);
}
