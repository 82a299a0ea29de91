import { isDeepStrictEqual } from "node:util";
import type { Snapshot } from "../store.ts";

/** One record that is not the same in two snapshots. */
export interface Difference {
  readonly table: string;
  readonly id: string;
  readonly change: "added" | "removed" | "changed";
  /** The fields that differ, when the record is on both sides. */
  readonly fields?: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
}

/** What happened to the account between two snapshots; empty when they tell the same. */
export function compareSnapshots(before: Snapshot, after: Snapshot): readonly Difference[] {
  const differences: Difference[] = [];
  for (const table of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = before[table] ?? {};
    const now = after[table] ?? {};
    for (const id of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const difference = compareRecords(table, id, old[id], now[id]);
      if (difference !== undefined) differences.push(difference);
    }
  }
  return differences;
}

function compareRecords(table: string, id: string, before: object | undefined, after: object | undefined): Difference | undefined {
  if (before === undefined) return { table, id, change: "added" };
  if (after === undefined) return { table, id, change: "removed" };
  if (before === after || isDeepStrictEqual(before, after)) return undefined;
  const old = before as Readonly<Record<string, unknown>>;
  const now = after as Readonly<Record<string, unknown>>;
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((field) => !isDeepStrictEqual(old[field], now[field]));
  return {
    table,
    id,
    change: "changed",
    fields: Object.fromEntries(fields.map((field) => [field, { before: old[field], after: now[field] }])),
  };
}
