import assert from "node:assert/strict";
import { test } from "node:test";
import { AwsError, type ErrorClass } from "../aws/errors.ts";
import type { Instance, InstanceState } from "../aws/instance.ts";
import { silentLog } from "../runtime/log.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { NetworkTopology } from "./network-topology.ts";

const ask = { cause: "test", signal: new AbortController().signal };
const hour = 3_600_000;

function instance(id: string, type: string, state: InstanceState = "running"): Instance {
  return { id, type, state } as Instance;
}

function failure(kind: ErrorClass, code: string): AwsError {
  return new AwsError({ class: kind, code, service: "ec2", action: "DescribeInstanceTopology", region: "us-east-1", message: code });
}

/** The topology over a call that gives this answer to every question. */
function topologyOf(answer: (id: string) => readonly string[] | undefined | AwsError) {
  const world = virtualWorld(1);
  const asked: string[] = [];
  const topology = {
    async networkNodes(id: string) {
      asked.push(id);
      const told = answer(id);
      if (told instanceof AwsError) throw told;
      return told;
    },
  };
  const required = /^(hpc|trn|p\d)/;
  return { world, asked, topology: new NetworkTopology({ topology, clock: world.clock, log: silentLog, required }) };
}

test("what EC2 tells is remembered", async () => {
  const { topology: them, asked } = topologyOf(() => ["nn-1", "nn-2"]);
  for (let round = 0; round < 2; round++) assert.deepEqual(await them.of(instance("i-1", "m5.large"), ask), ["nn-1", "nn-2"]);
  assert.deepEqual(asked, ["i-1"]);
});

test("an empty answer silences the type for a day, of a required type only the instance", async () => {
  const { topology: them, asked, world } = topologyOf(() => undefined);
  for (const id of ["i-1", "i-2", "i-1"]) assert.deepEqual(await them.of(instance(id, "m5.large"), ask), []);
  assert.deepEqual(asked, ["i-1"]);
  for (const id of ["i-3", "i-4", "i-3"]) assert.deepEqual(await them.of(instance(id, "p5.48xlarge"), ask), []);
  assert.deepEqual(asked, ["i-1", "i-3", "i-4"]);
  await world.advance(25 * hour);
  await them.of(instance("i-2", "m5.large"), ask);
  assert.equal(asked.length, 4);
});

test("many of one type wait for the first answer about it", async () => {
  const { topology: them, asked } = topologyOf(() => undefined);
  await Promise.all(Array.from({ length: 50 }, (_, n) => them.of(instance(`i-${n}`, "m5.large"), ask)));
  assert.deepEqual(asked, ["i-0"]);
});

test("when the first of a type has a topology the others are asked for too", async () => {
  const { topology: them, asked } = topologyOf((id) => [`nn-${id}`]);
  const told = await Promise.all(["i-0", "i-1", "i-2"].map((id) => them.of(instance(id, "g5.xlarge"), ask)));
  assert.deepEqual(told, [["nn-i-0"], ["nn-i-1"], ["nn-i-2"]]);
  assert.equal(asked.length, 3);
});

test("an instance that does not run says nothing about its type, and a required one is asked for again", async () => {
  const { topology: them, asked } = topologyOf(() => undefined);
  assert.deepEqual(await them.of(instance("i-1", "m5.large", "pending"), ask), []);
  await them.of(instance("i-2", "m5.large"), ask);
  assert.deepEqual(asked, ["i-1", "i-2"]);
  for (let round = 0; round < 2; round++) {
    await assert.rejects(them.of(instance("i-3", "trn1.32xlarge", "pending"), ask), /while it is pending/);
  }
  assert.equal(asked.length, 4);
});

test("a region that does not offer it is not asked again for a day, whatever the type", async () => {
  const { topology: them, asked } = topologyOf(() => failure("unsupported", "UnsupportedOperation"));
  assert.deepEqual(await them.of(instance("i-1", "p5.48xlarge"), ask), []);
  assert.deepEqual(await them.of(instance("i-2", "m5.large"), ask), []);
  assert.equal(asked.length, 1);
});

test("a missing permission leaves labels out for minutes, not for a day; a required type keeps asking for them", async () => {
  const { topology: them, asked, world } = topologyOf(() => failure("denied", "UnauthorizedOperation"));
  assert.deepEqual(await them.of(instance("i-1", "m5.large"), ask), []);
  await assert.rejects(them.of(instance("i-2", "p5.48xlarge"), ask), /UnauthorizedOperation/);
  assert.equal(asked.length, 1);
  await world.advance(6 * 60_000);
  assert.deepEqual(await them.of(instance("i-1", "m5.large"), ask), []);
  assert.equal(asked.length, 2);
});

test("throttling and other trouble is not remembered: it is worth asking again", async () => {
  for (const error of [failure("throttled", "RequestLimitExceeded"), failure("transient", "InternalError")]) {
    const { topology: them, asked } = topologyOf(() => error);
    for (let round = 0; round < 2; round++) await assert.rejects(them.of(instance("i-1", "m5.large"), ask), error);
    assert.equal(asked.length, 2);
  }
});
