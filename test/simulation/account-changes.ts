/** What has become of an account since a moment, as far as load balancers are concerned. */
import { isDeepStrictEqual } from "node:util";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";

const tables = [
  "elbv2/load-balancers",
  "elbv2/listeners",
  "elbv2/rules",
  "elbv2/target-groups",
  "ec2/security-groups",
  "ec2/security-group-rules",
] as const;
/** Passes by itself. */
const passing = new Set(["state", "verdict"]);

/** What was not there then. */
export function addedSince(cloud: Cloud, before: Snapshot): readonly string[] {
  const now = cloud.controls.snapshot();
  return tables.flatMap((table) =>
    Object.keys(now[table] ?? {})
      .filter((id) => !(id in (before[table] ?? {})))
      .map((id) => `${table} ${id} is left`),
  );
}

/** What was there then, and is gone or another now. */
export function changedSince(cloud: Cloud, before: Snapshot): readonly string[] {
  const { store } = cloud.account;
  return tables.flatMap((name) => {
    const table = store.table<object>(name);
    return Object.entries(before[name] ?? {}).flatMap(([id, record]) => {
      const current = table.get(id);
      if (current === record) return [];
      if (current === undefined) return [`${name} ${id} is gone`];
      return isDeepStrictEqual(lasting(current), lasting(record)) ? [] : [`${name} ${id} is changed`];
    });
  });
}

const lasting = (record: object) => Object.fromEntries(Object.entries(record).filter(([key]) => !passing.has(key)));
