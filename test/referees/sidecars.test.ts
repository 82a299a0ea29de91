/**
 * The CSI project's own provisioner, resizer and snapshotter drive the driver on a real API server; then the built-in roles play
 * the same script, and come to the same objects, volumes, snapshots and Events.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { alike } from "./sidecars/differences.ts";
import { acts, play } from "./sidecars/script.ts";
import { startRoles, startSidecars } from "./sidecars/world.ts";

test("the sidecars and the built-in roles come to the same objects, volumes, snapshots and Events, and leave nothing", {
  timeout: 30 * 60_000,
}, async (t) => {
  const [theirs, ours] = alike(await play(t, startSidecars), await play(t, startRoles));
  for (const act of acts) assert.deepEqual(ours[act], theirs[act], act);
});
