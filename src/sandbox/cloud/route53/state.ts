/** What Route 53 keeps. */
import type { Account } from "../account.ts";
import type { Table } from "../store.ts";

/** A hosted zone. It cannot be made through the simulated API: put it into the table. */
export interface Zone {
  readonly id: string;
  /** With the dot at its end. */
  readonly name: string;
  readonly isPrivate: boolean;
}

export interface RecordSet {
  readonly zone: string;
  readonly name: string;
  readonly type: string;
  readonly ttl: number | undefined;
  readonly values: readonly string[];
}

/** The account's zones, by id. */
export function zonesOf(account: Account): Table<Zone> {
  return account.store.table("route53/zones");
}

/** All records of all zones, by zone, name and type. */
export function recordsOf(account: Account): Table<RecordSet> {
  return account.store.table("route53/records");
}

export const recordKey = ({ zone, name, type }: Pick<RecordSet, "zone" | "name" | "type">) => `${zone} ${name} ${type}`;

/** Names are compared in lower case, and end in a dot. */
export const absolute = (name: string) => `${name.toLowerCase().replace(/\.$/, "")}.`;

export const isWithin = (name: string, zone: string) => name === zone || name.endsWith(`.${zone}`);

/** What the world is told of a name, as far as zones of this account answer for it: undefined where none does. */
export function publicAnswer(account: Account, name: string, type: string): readonly string[] | undefined {
  const asked = absolute(name);
  const zones = zonesOf(account)
    .values()
    .filter((zone) => !zone.isPrivate && isWithin(asked, zone.name))
    .toSorted((a, b) => b.name.length - a.name.length);
  const [zone] = zones;
  return zone && (recordsOf(account).get(recordKey({ zone: zone.id, name: asked, type }))?.values ?? []);
}
