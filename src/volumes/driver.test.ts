import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { realWorld } from "../runtime/world.ts";
import { startDriver } from "./driver.ts";

test("a driver that cannot tell kubelet of itself serves nobody, and may be started again", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "driver-"));
  t.after(() => rm(folder, { recursive: true }));
  const socket = join(folder, "csi.sock");
  const start = (registry: string) =>
    startDriver({
      host: { world: realWorld(), log: silentLog, metrics: newRegistry() },
      version: "v0.0.0",
      endpoint: `unix:${socket}`,
      metrics: undefined,
      controller: undefined,
      node: undefined,
      registration: { folder: registry, endpoint: "/csi.sock" },
    });
  await assert.rejects(start(join(folder, "missing")));
  assert.equal(await answers(socket), false);
  const driver = await start(folder);
  t.after(() => driver.stop(new AbortController().signal));
  assert.equal(await answers(socket), true);
});

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const line = connect(path, () => {
      line.destroy();
      resolve(true);
    });
    line.on("error", () => resolve(false));
  });
}
