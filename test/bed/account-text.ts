/** An account as text in which whatever AWS or a UID gives by chance has one name, so that two histories can be compared. */
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";

/** Times and states that pass by themselves, and who happens to be healthy. */
const passing = new Set([
  "created",
  "verdict",
  "checked",
  "state",
  "dnsName",
  "modified",
  "drainingSince",
  "mac",
  "attached",
  "privateAddresses",
  "lentPublicIp",
  "publicIp",
]);

/** Everything of a snapshot that a controller decides, sorted. */
export function accountText(snapshot: Snapshot): readonly string[] {
  const names = namesIn(snapshot);
  const lines: string[] = [];
  for (const [table, records] of Object.entries(snapshot)) {
    if (table === "iam/service-linked-roles") continue;
    for (const record of Object.values(records)) {
      let text = JSON.stringify(record, (key, value: unknown) => (passing.has(key) ? undefined : value));
      for (const [id, name] of names) text = text.replaceAll(id, name);
      text = text
        .replaceAll(/\b(eni|sgr|eni-attach|eipassoc)-[0-9a-f]{8,17}\b/g, "$1")
        .replaceAll(/(net\/LB\/)[0-9a-f]{16}/g, "$1")
        .replaceAll(/listener\/net\/\S+?"/g, 'listener"');
      // Sorted by name: the order of ids is chance.
      lines.push(`${table} ${JSON.stringify(JSON.parse(text), (_, value: unknown) => sorted(value))}`);
    }
  }
  return lines.sort();
}

/** What one account has and another has not. */
export function textDifferences(is: readonly string[], shouldBe: readonly string[]): readonly string[] {
  const [have, want] = [new Set(is), new Set(shouldBe)];
  return [
    ...is.filter((line) => !want.has(line)).map((line) => `too much: ${line}`),
    ...shouldBe.filter((line) => !have.has(line)).map((line) => `missing: ${line}`),
  ];
}

/** Ids that are made on the way, each with the name it goes by; longer ones first, so that none is cut by another. */
function namesIn(snapshot: Snapshot): readonly (readonly [string, string])[] {
  const names = new Map<string, string>();
  const text = JSON.stringify(snapshot);
  for (const [name] of text.matchAll(/\ba[0-9a-f]{31}\b/g)) names.set(name, "LB");
  for (const [id, record] of Object.entries(snapshot["ec2/security-groups"] ?? {})) {
    const { name } = record as { readonly name: string };
    names.set(id, `group ${name}`);
    if (/^k8s-\w+-\w+-[0-9a-f]{10}$/.test(name)) names.set(name, "managed");
  }
  for (const table of ["elbv2/load-balancers", "elbv2/target-groups"]) {
    for (const [arn, record] of Object.entries(snapshot[table] ?? {}))
      names.set(arn, `arn of ${(record as { readonly name: string }).name}`);
  }
  return [...names].sort(([a], [b]) => b.length - a.length);
}

/** Sets are told in some order, which means nothing. */
function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : value;
}
