import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../../src/sandbox/cluster/real/cluster.ts";
import { eventually, testHost } from "../bed/bed.ts";

const { world } = testHost();
const assets = await obtainAssets({ world, say: (line) => process.stderr.write(`${line}\n`) });

test("two clusters side by side have nothing in common, and nothing is left of one that was stopped", async () => {
  const [one, other] = await Promise.all([startCluster({ world, assets }), startCluster({ world, assets })]);
  assert.notEqual(one.apiserver.url.href, other.apiserver.url.href);
  assert.notEqual(one.ca, other.ca);
  await one.stop();
  assert.ok(!existsSync(one.folder));
  assert.ok(existsSync(other.folder));
  await other.stop();
});

test("an apiserver that cannot start says why, and takes its etcd with it", async () => {
  await assert.rejects(
    startCluster({ world, assets, flags: ["--no-such-flag"] }),
    /kube-apiserver ended before it served .*[\s\S]*unknown flag: --no-such-flag/,
  );
});

test("when a test process is killed with SIGKILL, its etcd and apiserver die and its folder goes", async () => {
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { startCluster } from ${module("../../src/sandbox/cluster/real/cluster.ts")};
    import { realWorld } from ${module("../../src/runtime/world.ts")};
    const cluster = await startCluster({ world: realWorld(), assets: ${JSON.stringify(assets)} });
    console.log(cluster.folder);
    setInterval(() => {}, 1000);
  `;
  const owner = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(owner.stdout.setEncoding("utf8"), "data")) as [string];
  const folder = line.trim();
  assert.equal((await processesOf(folder)).length, 2);
  owner.kill("SIGKILL");
  await eventually(async () => {
    assert.deepEqual(await processesOf(folder), []);
    assert.ok(!existsSync(folder));
  });
});

/** Command lines that name the folder: etcd and kube-apiserver; the supervisor does as well, and is left out. */
async function processesOf(folder: string): Promise<readonly string[]> {
  const child = spawn("ps", ["-eo", "args"], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = (await child.stdout.setEncoding("utf8").toArray()).join("").split("\n");
  return lines.filter((args) => args.includes(folder) && !args.includes("supervisor.ts"));
}
