import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Outcome } from "./outcome.ts";

const start = 'import { suite, test } from "node:test";\nconst later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));\n';

/** What a process tells of the tests in these files, each as `kind name`, and why they failed. */
async function told(t: TestContext, contents: readonly string[]): Promise<{ outcomes: readonly string[]; why: string }> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-together-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const files = contents.map((_, at) => join(folder, `${at}.test.mjs`));
  await Promise.all(files.map((file, at) => writeFile(file, start + contents[at])));
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  // This process is one of tests itself, and the runner does not run below another.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = fork(here("./run-together.ts"), files, { execArgv: ["--import", here("./light-hooks.ts")], stdio: "ignore", env });
  const outcomes: Outcome[] = [];
  child.on("message", (message: Outcome | { readonly took: object }) => "kind" in message && outcomes.push(message));
  const [[status]] = await Promise.all([once(child, "exit"), once(child, "disconnect")]);
  assert.equal(status, 0);
  return {
    outcomes: outcomes.map(({ kind, name }) => `${kind} ${files.includes(name) ? "a file" : name}`),
    why: outcomes.map(({ why }) => why ?? "").join("\n"),
  };
}

test("each test's outcome is told, whatever became of the others and of other files", async (t) => {
  const { outcomes, why } = await told(t, [
    'test("a", async () => { await later(1); });\ntest("b", () => { throw new Error("of b"); });',
    'suite("s", () => { test("c", () => {}); test("d", { skip: "as asked" }, () => {}); });\ntest("e", () => {});',
    'throw new Error("of the file");',
  ]);
  assert.deepEqual(outcomes.toSorted(), ["fail a file", "fail b", "pass a", "pass c", "pass e", "skip d"]);
  assert.match(why, /of b/);
  assert.match(why, /of the file/);
});

test("an error that nobody caught fails the test that runs, which then waits no longer", async (t) => {
  const { outcomes, why } = await told(t, [
    'test("a", async () => { await later(1); void later(1).then(() => { throw new Error("of a"); }); await new Promise(() => {}); });',
    'test("b", async () => { await later(1); setTimeout(() => { throw new Error("of b"); }, 1); await new Promise(() => {}); });',
    'test("c", async (t) => { await t.test("d", () => later(1)); setTimeout(() => { throw new Error("of c"); }, 1); await new Promise(() => {}); });',
    'test("e", () => later(1));',
  ]);
  assert.deepEqual(outcomes, ["fail a", "fail b", "pass d", "fail c", "pass e"]);
  for (const name of ["a", "b", "c"]) assert.match(why, new RegExp(`of ${name}`));
});

test("an error that comes when no test runs any more is a failure too", async (t) => {
  const { outcomes, why } = await told(t, ['test("a", () => { setTimeout(() => { throw new Error("of a"); }, 1); });']);
  assert.deepEqual(outcomes, ["pass a", "fail an error outside of any test"]);
  assert.match(why, /of a/);
});
