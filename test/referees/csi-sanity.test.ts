/** The CSI project's own suite as judge: against a simulated EC2, with real devices and mounts on the node. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDriver } from "../bed/driver.ts";
import { whyNoLoopDisks } from "../bed/loop-disks.ts";
import { csiSanity } from "./go-programs.ts";

const missing = whyNoLoopDisks();
/** With the capabilities of the driver; the rest is about calls that it does not offer. */
const casesThatConcernUs = 79;

for (const accessType of ["mount", "block"]) {
  test(`every case that concerns the driver passes with ${accessType} volumes`, { skip: missing ?? false }, async (t) => {
    const driver = await startDriver(30);
    t.after(() => driver.close());
    const parameters = join(driver.folder, "parameters.yaml");
    const mutable = join(driver.folder, "mutable-parameters.yaml");
    writeFileSync(parameters, 'type: gp3\nencrypted: "true"\n');
    writeFileSync(mutable, 'iops: "3014"\nthroughput: "153"\n');
    const output = await run(await csiSanity(), [
      `--csi.endpoint=unix:${driver.socket}`,
      `--csi.mountdir=${join(driver.folder, "mount")}`,
      `--csi.stagingdir=${join(driver.folder, "staging")}`,
      `--csi.testvolumesize=${8 * 2 ** 30}`,
      `--csi.testvolumeaccesstype=${accessType}`,
      `--csi.testvolumeparameters=${parameters}`,
      `--csi.testvolumemutableparameters=${mutable}`,
      "--ginkgo.no-color",
    ]);
    const [, passed, failed] = /(\d+) Passed \| (\d+) Failed/.exec(output) ?? [];
    assert.deepEqual({ passed: Number(passed), failed: Number(failed) }, { passed: casesThatConcernUs, failed: 0 }, output.slice(-6_000));
    driver.aws.account.time.settle();
    const left = [...driver.aws.account.ec2.volumes.values()].filter(({ tags }) => tags.CSIVolumeName !== undefined);
    assert.deepEqual(
      left.filter(({ state }) => state !== "deleting").map(({ id }) => id),
      [],
      "no volume is left behind",
    );
  });
}

function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
