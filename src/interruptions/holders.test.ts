import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedClient, scriptedServer } from "../kube/testing/scripted-server.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Holders, nodeHolder, PatientWatch } from "./holders.ts";

test("a holder without a Lease counts for as long as its plan changes, and five minutes more", async () => {
  const world = virtualWorld(1);
  const watch = new PatientWatch(world.clock);
  const alive = (revision: number) => watch.isAlive({ node: "a", holder: nodeHolder("a"), revision });
  assert.equal(await alive(1), "perhaps");
  await world.advance(299_000);
  assert.equal(await alive(2), "perhaps");
  await world.advance(299_000);
  assert.equal(await alive(2), "perhaps");
  await world.advance(1_000);
  assert.equal(await alive(2), false);
});

test("one holder has many plans, and each of them is waited for by itself", async () => {
  const world = virtualWorld(1);
  const watch = new PatientWatch(world.clock);
  const alive = (node: string, revision: number) => watch.isAlive({ node, holder: "handler-a_1", revision });
  assert.deepEqual([await alive("a", 1), await alive("b", 7)], ["perhaps", "perhaps"]);
  await world.advance(300_000);
  assert.deepEqual([await alive("a", 1), await alive("b", 8)], [false, "perhaps"]);
});

test("a Lease that is not there may be in another namespace: it says nothing, like one that may not be read", async () => {
  const world = virtualWorld(1);
  const { signal } = new AbortController();
  const plan = { node: "a", holder: "handler-a_1", revision: 1 };
  const asked = async (status: number, reason: string) => {
    const server = scriptedServer();
    const holders = new Holders(scriptedClient(world, server), "kube-system");
    const alive = holders.isAlive(plan, signal);
    await world.settle();
    const { request, refuse } = server.take();
    assert.match(request.url.pathname, /kube-system\/leases\/node-termination-handler-handler-a$/);
    refuse(status, reason);
    return alive;
  };
  assert.equal(await asked(404, "NotFound"), "perhaps");
  assert.equal(await asked(403, "Forbidden"), "perhaps");
});
