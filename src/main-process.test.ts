/** The program as a process of its own: what it does when something crashes in it, and when nobody reads what it says. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const mainFile = fileURLToPath(new URL("./main.ts", import.meta.url));
const cloudConfig = "[Global]\nRegion=eu-west-1\nVPC=vpc-1\nSubnetID=subnet-1\nKubernetesClusterID=prod\n";

/** Crashes on a signal, in a way that nobody has caught. The secret is spelt so that the source, which a stack may show, does not hold it. */
const planted = {
  "an unhandled rejection": `process.on("SIGUSR2", () => void Promise.reject(new Error("the password=" + atob("UExBTlRFRA==") + " is wrong")));`,
  "an uncaught exception": `process.on("SIGUSR2", () => setTimeout(() => { throw new TypeError("the password=" + atob("UExBTlRFRA==") + " is wrong"); }));`,
};

/** A controller manager that waits for a cluster that is not there; resolves when it has begun to. */
async function waiting(t: TestContext, preload = ""): Promise<{ child: ChildProcess; log: () => string }> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-process-"));
  await writeFile(join(folder, "cloud"), cloudConfig);
  const flags = ["--cloud-provider=aws", "--secure-port=0", "--master=http://127.0.0.1:9", `--cloud-config=${join(folder, "cloud")}`];
  const child = start(["controller-manager", ...flags], preload);
  let log = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    log += chunk;
  });
  t.after(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr!.on("data", () => log.includes("attempting to acquire") && resolve());
    child.on("exit", () => reject(new Error(`it ended: ${log}`)));
  });
  return { child, log: () => log };
}

function start(args: readonly string[], preload = ""): ChildProcess {
  const url = `data:text/javascript,${encodeURIComponent(preload)}`;
  return spawn(process.execPath, ["--import", url, mainFile, ...args], { stdio: ["ignore", "pipe", "pipe"] });
}

/** The status it ends with, or that it does not end. */
function ending(child: ChildProcess, limitMs = 20_000): Promise<number | NodeJS.Signals | "it runs on" | null> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      child.kill("SIGKILL");
      resolve("it runs on");
    }, limitMs);
    child.on("exit", (status, signal) => {
      clearTimeout(limit);
      resolve(status ?? signal);
    });
  });
}

for (const [what, preload] of Object.entries(planted)) {
  test(`${what} is one line of the log without secrets, and an exit status of its own`, async (t) => {
    const { child, log } = await waiting(t, preload);
    child.kill("SIGUSR2");
    assert.equal(await ending(child), 70);
    const lines = log().trimEnd().split("\n");
    const last = JSON.parse(lines.at(-1)!) as Record<string, unknown>;
    assert.equal(last.level, "error");
    assert.match(String(last.msg), /^crashed: (Type)?Error: the password=\[redacted\] is wrong$/);
    assert.match(String(last.stack), /at .*data:text/, "where it happened");
    assert.doesNotMatch(log(), /PLANTED/);
  });
}

test("a crash where there is no log is said without secrets, and with the same status", async () => {
  const child = start(
    ["version"],
    `process.stdout.write = () => { throw new Error("the password=" + atob("UExBTlRFRA==") + " is wrong"); };`,
  );
  let said = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  assert.equal(await ending(child), 70);
  assert.match(said, /^fairlead crashed: Error: the password=\[redacted\] is wrong\n {4}at /);
});

test("a process whose log reader is gone ends when it is asked to", async (t) => {
  const { child } = await waiting(t);
  child.stdout!.destroy();
  child.stderr!.destroy();
  child.kill("SIGTERM");
  assert.equal(await ending(child), 0);
});

test("a process that cannot start ends though nobody reads why, each time", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-process-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "cloud"), '[ServiceOverride "1"]\nService=ec2\n');
  const flags = ["--cloud-provider=aws", "--secure-port=0", "--master=http://127.0.0.1:9", `--cloud-config=${join(folder, "cloud")}`];
  for (let tries = 0; tries < 3; tries++) {
    const words = [process.execPath, mainFile, "controller-manager", ...flags].map((word) => `'${word}'`).join(" ");
    const pipeline = spawn("bash", ["-c", `${words} 2>&1 | head -n 1 > /dev/null; exit \${PIPESTATUS[0]}`], { detached: true });
    t.after(() => endGroup(pipeline));
    assert.equal(await ending(pipeline), 255);
  }
});

test("the first signal asks, the second ends at once with the status of that signal", async (t) => {
  const exitFile = new URL("./process/exit.ts", import.meta.url).href;
  // Asked to stop, it goes on working.
  const script = `
    import { stopSignal } from ${JSON.stringify(exitFile)};
    const stop = stopSignal();
    stop.addEventListener("abort", () => console.log("asked: " + stop.reason.message));
    setInterval(() => {}, 1_000);
    console.log("ready");`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      child.stdout!.on("data", () => said.includes(text) && resolve());
      child.on("exit", () => reject(new Error(`it ended: ${said}`)));
    });
  child.stdout!.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  await says("ready");
  const asked = says("asked: received SIGTERM");
  child.kill("SIGTERM");
  await asked;
  child.kill("SIGINT");
  assert.equal(await ending(child), 130);
});

/** What a shell has started ends with it. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
