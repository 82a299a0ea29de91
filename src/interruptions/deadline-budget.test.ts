import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadlineBudget } from "./deadline-budget.ts";

test("so many at once, and of those that wait the earliest deadline first, of equal ones the first that came", async () => {
  const budget = new DeadlineBudget(2);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string, deadline: number) =>
    budget.run(deadline, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = [run("a", 9), run("b", 9), run("late", Number.POSITIVE_INFINITY), run("soon", 1), run("then", 5), run("then-2", 5)];
  await Promise.resolve();
  assert.deepEqual(begun, ["a", "b"]);
  while (begun.length < all.length || ends.length > 0) {
    ends.shift()?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  assert.deepEqual(begun, ["a", "b", "soon", "then", "then-2", "late"]);
});

test("work that fails gives its place back", async () => {
  const budget = new DeadlineBudget(1);
  await assert.rejects(budget.run(1, () => Promise.reject(new Error("no"))));
  assert.equal(await budget.run(1, async () => "yes"), "yes");
});
