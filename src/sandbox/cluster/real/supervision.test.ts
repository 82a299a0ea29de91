import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { supervise } from "./supervision.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "fairlead-supervision-"));

test("a supervised process reports its start, its output and its end", async () => {
  const folder = await newFolder();
  const supervision = await supervise(folder);
  const log = join(folder, "log");
  const child = await supervision.start("sh", ["-c", 'echo "hello $NAME"; exit 7'], {
    log,
    folder,
    environment: { ...process.env, NAME: "you" },
  });
  assert.deepEqual(await child.exit(), { code: 7, signal: null });
  assert.equal(await readFile(log, "utf8"), "hello you\n");
  await supervision.close();
  assert.ok(!existsSync(folder));
});

test("a command that does not exist fails its start and nothing else", async () => {
  const folder = await newFolder();
  const supervision = await supervise(folder);
  const options = { log: join(folder, "log"), folder, environment: process.env };
  await assert.rejects(supervision.start("/no/such/program", [], options), /start \/no\/such\/program: .*ENOENT/);
  const child = await supervision.start("sleep", ["60"], options);
  child.signal("SIGTERM");
  assert.deepEqual(await child.exit(), { code: null, signal: "SIGTERM" });
  await supervision.close();
});

test("when the owner is killed with SIGKILL, its processes die and its folder goes", async () => {
  const folder = await newFolder();
  const script = `
    import { supervise } from ${JSON.stringify(new URL("./supervision.ts", import.meta.url).href)};
    const supervision = await supervise(${JSON.stringify(folder)});
    const child = await supervision.start("sleep", ["60"], { log: ${JSON.stringify(join(folder, "log"))}, folder: "/", environment: process.env });
    console.log(child.pid);
    setInterval(() => {}, 1000);
  `;
  const owner = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(owner.stdout.setEncoding("utf8"), "data");
  const pid = Number(line);
  assert.ok(isAlive(pid));
  owner.kill("SIGKILL");

  const deadline = AbortSignal.timeout(10_000);
  while (isAlive(pid) || existsSync(folder)) await pause(20, undefined, { signal: deadline });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
