import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "./store.ts";
import { testWorld } from "./testing.ts";
import { Time } from "./time.ts";

interface Thing {
  readonly id: string;
  readonly owners: readonly string[];
}

function things() {
  const world = testWorld();
  const store = new Store(new Time(world.clock));
  const table = store.table<Thing>("things");
  table.put("a", { id: "a", owners: ["x"] });
  const ofOwner = table.index(({ owners }) => owners);
  table.put("b", { id: "b", owners: ["x", "y"] });
  return { world, store, table, ids: (owner: string) => ofOwner(owner).map(({ id }) => id) };
}

test("an index finds records by their keys, those from before it and those that came, changed and went", () => {
  const { table, ids } = things();
  assert.deepEqual([ids("x"), ids("y"), ids("z")], [["a", "b"], ["b"], []]);
  table.update("a", { owners: ["x", "z"] });
  table.update("b", { owners: ["y"] });
  assert.deepEqual([ids("x"), ids("y"), ids("z")], [["a"], ["b"], ["a"]]);
  table.delete("a");
  assert.deepEqual([ids("x"), ids("z")], [[], []]);
});

test("a change that fails leaves the index as it was", () => {
  const { store, table, ids } = things();
  assert.throws(() =>
    store.attempt(() => {
      table.delete("a");
      table.update("b", { owners: ["z"] });
      table.put("c", { id: "c", owners: ["z"] });
      throw new Error("refused");
    }),
  );
  assert.deepEqual([ids("x").sort(), ids("y"), ids("z")], [["a", "b"], ["b"], []]);
});

test("a stale read finds what was there at its moment", () => {
  const { world, store, table, ids } = things();
  store.remember = 10_000;
  const before = store.now();
  world.pass(1000);
  table.delete("a");
  table.update("b", { owners: ["z"] });
  assert.deepEqual(
    store.asOf(before, () => [ids("x").toSorted(), ids("z")]),
    [["a", "b"], []],
  );
  assert.deepEqual(ids("z"), ["b"]);
});
