import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { tagReader } from "./balancer-reads.ts";
import { AwsError } from "./errors.ts";
import { eventual } from "./testing/eventual.ts";

const ask = { cause: "test", signal: new AbortController().signal };

test("tags are read of what is there, also when something whose name begins with its own is gone", async () => {
  const world = virtualWorld(1);
  const there = new Set(["web", "web-2"]);
  const tags = tagReader(world.clock, async (names) => {
    const gone = names.find((name) => !there.has(name));
    if (gone === undefined) return names.map((id) => ({ id, tags: [{ Key: "of", Value: id }] }));
    const message = `There is no ACTIVE Load Balancer named '${gone}'`;
    const failure = { class: "not-found", code: "LoadBalancerNotFound", service: "elb", action: "DescribeTags", region: "r" } as const;
    throw new AwsError({ ...failure, message });
  });
  const read = await eventual(world, Promise.all(["web", "web-1", "web-2", "web-11"].map((name) => tags(name, ask))));
  assert.deepEqual(read, [{ of: "web" }, undefined, { of: "web-2" }, undefined]);
});
