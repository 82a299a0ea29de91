import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogOf, sameEntries } from "./catalog.ts";

const type = (name: string, vcpus = 2, memoryMiB = 4096) => ({ name, vcpus, memoryMiB });

test("types are sorted by bytes, and quantities are written as composed", () => {
  const { entries, skipped } = catalogOf([type("t3.medium"), type("T3.medium"), type("m5.large", 2, 8192)]);
  assert.deepEqual(
    entries.map(({ name }) => name),
    ["T3.medium", "m5.large", "t3.medium"],
  );
  assert.deepEqual(entries[2], { name: "t3.medium", cpu: "2", memory: "4096Mi", rootDisk: "0" });
  assert.deepEqual(skipped, []);
});

test("a type that AWS describes in part is left out and named, and the others stay", () => {
  const partly = [
    { name: "a", vcpus: undefined, memoryMiB: 1024 },
    { name: "b", vcpus: 2, memoryMiB: undefined },
    { name: "", vcpus: 2, memoryMiB: 1024 },
    { name: "d", vcpus: Number.NaN, memoryMiB: 1 },
  ];
  const { entries, skipped } = catalogOf([...partly, type("m5.large")]);
  assert.deepEqual(
    entries.map(({ name }) => name),
    ["m5.large"],
  );
  assert.equal(skipped.length, 4);
  assert.ok(skipped.includes("b: no size of its memory"));
  assert.ok(skipped.includes("d: no number of default vCPUs"));
});

test("two lists are the same whatever the order of fields, and not when one quantity differs", () => {
  const entry = { name: "a", cpu: "2", memory: "4096Mi", rootDisk: "0" };
  assert.ok(sameEntries([entry], [{ rootDisk: "0", memory: "4096Mi", cpu: "2", name: "a" }]));
  assert.ok(!sameEntries([entry], [{ ...entry, memory: "4Gi" }]));
  assert.ok(!sameEntries([entry], []));
});
