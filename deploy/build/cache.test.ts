import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { cached } from "./cache.ts";

async function emptyCache(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-cache-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return { folder, environment: { FAIRLEAD_CACHE: folder } };
}

test("callers of one process who ask for the same thing at once get one whole file, made once", async (t) => {
  const { folder, environment } = await emptyCache(t);
  let made = 0;
  const ask = () =>
    cached(
      "tools/bun",
      async (path) => {
        made++;
        await writeFile(path, "half");
        await writeFile(path, "whole");
      },
      { environment },
    );
  const paths = await Promise.all([ask(), ask(), ask()]);
  assert.deepEqual(new Set(paths), new Set([join(folder, "tools/bun")]));
  assert.equal(made, 1);
  assert.equal(await readFile(paths[0]!, "utf8"), "whole");
  assert.deepEqual(await readdir(join(folder, "tools")), ["bun"], "nothing unfinished is left beside it");
});

test("processes who ask for the same thing at once make it once, the others wait for it", async (t) => {
  const { folder, environment } = await emptyCache(t);
  const script = `
    import { appendFile, readFile, writeFile } from "node:fs/promises";
    import { cached } from ${JSON.stringify(import.meta.resolve("./cache.ts"))};
    const [starters, makers] = ${JSON.stringify([join(folder, "starters"), join(folder, "makers")])};
    await appendFile(starters, ".");
    await cached("tool", async (path) => {
      // Not finished before the other process has begun.
      while ((await readFile(starters, "utf8")) !== "..");
      await appendFile(makers, "one ");
      await writeFile(path, "whole");
    });`;
  const start = () =>
    promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { env: { ...process.env, ...environment } });
  await Promise.all([start(), start()]);
  assert.equal(await readFile(join(folder, "makers"), "utf8"), "one ");
  assert.deepEqual((await readdir(folder)).sort(), ["makers", "starters", "tool"]);
});

test("a failure reaches every caller, leaves nothing behind, and the next caller tries again", async (t) => {
  const { folder, environment } = await emptyCache(t);
  const fail = async (path: string) => {
    await writeFile(path, "half");
    throw new Error("no network");
  };
  const answers = await Promise.allSettled([cached("tool", fail, { environment }), cached("tool", fail, { environment })]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.deepEqual(await readdir(folder), []);
  const path = await cached("tool", (unfinished) => writeFile(unfinished, "whole"), { environment });
  assert.equal(await readFile(path, "utf8"), "whole");
});

test("what a process that was killed left unfinished is removed by the next who makes it", async (t) => {
  const { folder, environment } = await emptyCache(t);
  await writeFile(join(folder, "tool.unfinished-abc123"), "half");
  await writeFile(join(folder, "tool-2.unfinished-abc123"), "somebody else's");
  await cached("tool", (path) => writeFile(path, "whole"), { environment });
  assert.deepEqual((await readdir(folder)).sort(), ["tool", "tool-2.unfinished-abc123"]);
});

test("once the tests are prepared, a test that would have to build something fails and says where to add it", async (t) => {
  const { folder, environment } = await emptyCache(t);
  const build = (path: string) => writeFile(path, "whole");
  await assert.rejects(cached("tool", build, { environment: { ...environment, FAIRLEAD_PREPARED: "1" } }), /test\/bed\/prepare\.ts/);
  assert.deepEqual(await readdir(folder), []);
  await cached("tool", build, { environment });
  assert.equal(await cached("tool", build, { environment: { ...environment, FAIRLEAD_PREPARED: "1" } }), join(folder, "tool"));
});
