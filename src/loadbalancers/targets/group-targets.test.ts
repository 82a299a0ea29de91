import assert from "node:assert/strict";
import { test } from "node:test";
import type { TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Clock } from "../../runtime/world.ts";
import { described, GroupTargets, type SeenTarget } from "./group-targets.ts";

const ask = { cause: "test", signal: new AbortController().signal };
const minute = 60_000;

/** A target group as AWS tells of it: states by address. */
function bed(states: Record<string, string>) {
  let now = 0;
  const asked: (readonly string[] | "all")[] = [];
  const told = (id: string): TargetHealthDescription => {
    const State = states[id];
    return {
      Target: { Id: id, Port: 80, AvailabilityZone: "us-east-1a" },
      TargetHealth: State === undefined ? { State: "unused", Reason: "Target.NotRegistered" } : { State: State as never },
    };
  };
  const from = {
    healthOf: async (_arn: string, some: readonly SeenTarget[] | undefined) => {
      asked.push(some === undefined ? "all" : some.map(({ id }) => id));
      if (states.gone) return undefined;
      return (some?.map(({ id }) => id) ?? Object.keys(states)).map(told);
    },
  };
  const targets = new GroupTargets({ monotonic: () => now } as Clock);
  return {
    asked,
    targets,
    states,
    wait: (ms: number) => {
      now += ms;
    },
    list: async () => (await targets.list("arn", from as never, ask))?.map(({ id, state }) => `${id} ${state}`),
  };
}

test("targets are read once; the healthy ones are believed for five minutes, then all are read again", async () => {
  const { list, wait, asked } = bed({ a: "healthy", b: "healthy" });
  assert.deepEqual(await list(), ["a healthy", "b healthy"]);
  wait(5 * minute - 1);
  await list();
  assert.deepEqual(asked, ["all"]);
  wait(1);
  await list();
  assert.deepEqual(asked, ["all", "all"]);
});

test("of some that are not healthy only those are asked about, and one that is not registered any more is none", async () => {
  const { list, wait, asked, states } = bed({ a: "healthy", b: "initial", c: "draining" });
  await list();
  states.b = "healthy";
  delete states.c;
  wait(minute);
  assert.deepEqual(await list(), ["a healthy", "b healthy"]);
  assert.deepEqual(asked, ["all", ["b", "c"]]);
  await list();
  assert.equal(asked.length, 2);
});

test("what was registered or deregistered is asked about the next time, and keeps the zone that AWS gave it", async () => {
  const { list, asked, targets, states } = bed({ a: "healthy" });
  await list();
  states.b = "initial";
  targets.unsure("arn", [
    { id: "a", port: 80 },
    { id: "b", port: 80 },
  ]);
  delete states.a;
  assert.deepEqual(await list(), ["b initial"]);
  assert.deepEqual(asked, ["all", ["a", "b"]]);
  targets.unsure("never read", [{ id: "a", port: 80 }]);
});

test("many that are not healthy are asked about all at once, and a group that is gone is forgotten", async () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`10.0.0.${i}`, "initial"]));
  const { list, asked, states, targets } = bed(many);
  await list();
  await list();
  assert.deepEqual(asked, ["all", "all"]);
  states.gone = "yes";
  assert.equal(await list(), undefined);
  delete states.gone;
  assert.equal((await list())?.length, 100);
  targets.forget("arn");
  await list();
  assert.equal(asked.length, 5);
});

test("a call names a target as AWS told of it, its zone and QUIC server id included", () => {
  const seen: SeenTarget = { id: "a", port: 80, zone: "us-east-1a", quicServerId: "0x01", state: "healthy", reason: "", description: "" };
  assert.deepEqual(described(seen), { Id: "a", Port: 80, AvailabilityZone: "us-east-1a", QuicServerId: "0x01" });
});
