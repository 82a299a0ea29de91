import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedClient, scriptedServer } from "../kube/testing/scripted-server.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Holders, leaderHolder, nodeHolder, PatientWatch, replicaHolder } from "./holders.ts";

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
  assert.equal(await alive(2), false, "it does not come back to life by being asked for");
  watch.forget("a");
  assert.equal(await alive(2), "perhaps");
});

test("one holder has many plans, and each of them is waited for by itself", async () => {
  const world = virtualWorld(1);
  const watch = new PatientWatch(world.clock);
  const alive = (node: string, revision: number) => watch.isAlive({ node, holder: "handler-a_1", revision });
  assert.deepEqual([await alive("a", 1), await alive("b", 7)], ["perhaps", "perhaps"]);
  await world.advance(300_000);
  assert.deepEqual([await alive("a", 1), await alive("b", 8)], [false, "perhaps"]);
});

/** Holders on a scripted server: what they say of a plan when its Lease is answered for in this way. */
function asking(holder: string) {
  const world = virtualWorld(1);
  const { signal } = new AbortController();
  const server = scriptedServer();
  const holders = new Holders(scriptedClient(world, server));
  const ask = (node = "a") => holders.isAlive({ node, holder, revision: 1 }, signal);
  const asked = async (answer: (call: ReturnType<typeof server.take>) => void) => {
    const alive = ask();
    await world.settle();
    answer(server.take());
    return alive;
  };
  return { world, server, ask, asked };
}

test("the Lease of a replica is looked for in its own namespace; one that may not be read says nothing", async () => {
  const { asked } = asking(replicaHolder("other", "handler-a_1"));
  const alive = await asked(({ request, refuse }) => {
    assert.match(request.url.pathname, /\/namespaces\/other\/leases\/node-termination-handler-handler-a$/);
    refuse(403, "Forbidden");
  });
  assert.equal(alive, "perhaps");
});

test("a replica whose Lease was removed has the duration of a Lease to make it again", async () => {
  const { world, asked } = asking(replicaHolder("other", "handler-a_1"));
  const missing = () => asked(({ refuse }) => refuse(404, "NotFound"));
  assert.equal(await missing(), true);
  await world.advance(15_000);
  assert.equal(await missing(), true);
  await world.advance(2_000);
  assert.equal(await missing(), false);
});

test("a thousand plans of one holder are one look at its Lease", async () => {
  const { world, server, ask } = asking(replicaHolder("other", "handler-a_1"));
  const asked = Array.from({ length: 1_000 }, (_, at) => ask(`node-${at}`));
  await world.settle();
  server.take().json({ metadata: {}, spec: { holderIdentity: "handler-a_1", renewTime: "1", leaseDurationSeconds: 15 } });
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([true]));
  assert.equal(server.requests.length, 1);
});

test("an answer that is long on its way says how the Lease was when it was asked for, not that nobody has renewed it since", async () => {
  const { world, server, ask, asked } = asking(replicaHolder("other", "handler-a_1"));
  const lease = (renewTime: string) => ({ metadata: {}, spec: { holderIdentity: "handler-a_1", renewTime, leaseDurationSeconds: 15 } });
  assert.equal(await asked(({ json }) => json(lease("1"))), true);
  await world.advance(2_000);
  const late = ask();
  await world.settle();
  await world.advance(16_000);
  server.take().json(lease("1"));
  assert.equal(await late, true);
  assert.equal(await asked(({ json }) => json(lease("9"))), true, "a replica that was taken for dead would be so for ever");
});

test("a leader whose Lease has run out is gone for each of its Nodes, whenever they are looked at, until it is renewed", async () => {
  const { world, server, ask } = asking(leaderHolder({ namespace: "kube-system", name: "fairlead" }));
  const asked = async (node: string, renewTime: string) => {
    const alive = ask(node);
    await world.settle();
    server.take().json({ metadata: {}, spec: { holderIdentity: "somebody", renewTime, leaseDurationSeconds: 15 } });
    return alive;
  };
  assert.equal(await asked("a", "1"), true);
  await world.advance(16_000);
  assert.equal(await asked("a", "1"), false);
  await world.advance(1_500);
  assert.equal(await asked("b", "1"), false, "it does not come back to life by being asked for");
  await world.advance(2_000);
  assert.equal(await asked("b", "2"), true);
});

test("a process that leads without a Lease is not taken for dead because there is none", async () => {
  const { world, asked } = asking(leaderHolder({ namespace: "kube-system", name: "fairlead" }));
  const missing = () => asked(({ refuse }) => refuse(404, "NotFound"));
  assert.equal(await missing(), "perhaps");
  await world.advance(60_000);
  assert.equal(await missing(), "perhaps");
  await world.advance(240_000);
  assert.equal(await missing(), false, "its plan has not changed for five minutes");
});
