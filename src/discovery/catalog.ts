/** From the instance types of a region to the catalogue of the cluster autoscaler. */
import type { InstanceType } from "../aws/instance-types.ts";
import type { CatalogEntry } from "./objects.ts";

/** A catalogue, and what could not be taken into it. */
export interface Catalog {
  readonly entries: readonly CatalogEntry[];
  /** `m9.large: no memory`. */
  readonly skipped: readonly string[];
}

/** The catalogue of these types, sorted by name. One that AWS describes in part is left out, and does not stand in the way of the others. */
export function catalogOf(types: readonly InstanceType[]): Catalog {
  const skipped: string[] = [];
  const entries = types.flatMap((type): CatalogEntry[] => {
    const lack = lackOf(type);
    if (lack !== undefined) {
      skipped.push(`${type.name || "a type without a name"}: ${lack}`);
      return [];
    }
    // Written as composed: 4096Mi is not made 4Gi, so that the object of a cluster that is taken over stays as it is.
    return [{ name: type.name, cpu: String(type.vcpus), memory: `${type.memoryMiB}Mi`, rootDisk: "0" }];
  });
  return { entries: entries.sort((a, b) => byteOrder(a.name, b.name)), skipped };
}

/** Whether two lists are the same, whatever the order of the fields of an entry. */
export function sameEntries(a: readonly CatalogEntry[], b: readonly CatalogEntry[]): boolean {
  return a.length === b.length && a.every((entry, index) => lineOf(entry) === lineOf(b[index]!));
}

function lineOf({ name, cpu, memory, rootDisk }: CatalogEntry): string {
  return JSON.stringify([name, cpu, memory, rootDisk]);
}

function lackOf({ name, vcpus, memoryMiB }: InstanceType): string | undefined {
  if (name === "") return "no name";
  if (vcpus === undefined || !Number.isInteger(vcpus)) return "no number of default vCPUs";
  if (memoryMiB === undefined || !Number.isInteger(memoryMiB)) return "no size of its memory";
  return undefined;
}

/** As Go compares strings. */
export function byteOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
