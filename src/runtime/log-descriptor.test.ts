import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { descriptorDestination } from "./log-descriptor.ts";
import { realWorld } from "./world.ts";

const { clock } = realWorld();

async function file(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-logs-"));
  const path = join(folder, "log");
  const opened = await open(path, "a");
  t.after(async () => {
    await opened.close();
    await rm(folder, { recursive: true });
  });
  return { path, fd: opened.fd };
}

test("a flush leaves nothing behind in the process", async (t) => {
  const { path, fd } = await file(t);
  const destination = descriptorDestination(fd, clock);
  for (let i = 0; i < 1_000; i++) destination.write(`line ${i}\n`);
  destination.flush();
  const wanted = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`).join("");
  assert.equal(readFileSync(path, "utf8"), wanted, "at once, and in order");
});

test("without a flush everything is written too, in order", async (t) => {
  const { path, fd } = await file(t);
  const destination = descriptorDestination(fd, clock);
  for (let i = 0; i < 1_000; i++) {
    destination.write(`line ${i}\n`);
    if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  const wanted = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`).join("");
  while ((await readFile(path, "utf8")).length < wanted.length) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(await readFile(path, "utf8"), wanted);
});

test("lines for a reader that is gone are dropped, by writes and by flushes, and later ones are tried again", async () => {
  const script = `
    import { descriptorDestination } from ${JSON.stringify(new URL("./log-descriptor.ts", import.meta.url).href)};
    const clock = { now: () => 0, monotonic: () => 0, after: (ms, callback) => { setTimeout(callback, ms); return () => {}; } };
    const destination = descriptorDestination(1, clock);
    process.stdin.once("data", () => {
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 100; j++) destination.write("nobody reads this\\n");
        destination.flush();
      }
      process.stderr.write("done");
      process.exit(0);
    });`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdout.destroy();
  child.stdin.write("go");
  const [status] = (await once(child, "exit")) as [number];
  assert.equal(status, 0);
});

test("a flush writes what a full pipe has refused before what came after it, and no line is cut", async () => {
  const script = `
    import { descriptorDestination } from ${JSON.stringify(new URL("./log-descriptor.ts", import.meta.url).href)};
    const lastWords = () => {
      process.stderr.write("the pipe is full");
      destination.write("last\\n");
      destination.flush();
      process.exit(0);
    };
    // Lines are gathered for some milliseconds; asked for more, the pipe is full.
    const after = (ms, callback) => { if (ms < 50) setTimeout(callback, ms); else setImmediate(lastWords); return () => {}; };
    const clock = { now: () => 0, monotonic: () => 0, after };
    const destination = descriptorDestination(process.stdout.fd, clock);
    for (let i = 0; i < 2_000; i++) destination.write("x".repeat(999) + "\\n");`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], { stdio: ["ignore", "pipe", "pipe"] });
  await once(child.stderr, "data");
  let text = "";
  for await (const chunk of child.stdout) text += chunk;
  const lines = text.split("\n");
  assert.equal(lines.pop(), "");
  assert.equal(lines.pop(), "last");
  assert.deepEqual([lines.length, new Set(lines).size], [2_000, 1]);
});
