/** The simulated AWS gives the answers of moto, but for listed differences: one script, held with both. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { realWorld } from "../../../src/runtime/world.ts";
import { createCloud } from "../../../src/sandbox/cloud/cloud.ts";
import { type Served, serve } from "../../../src/sandbox/cloud/serve.ts";
import { Reasons } from "./accepted.ts";
import { compare } from "./compare.ts";
import { differences } from "./differences.ts";
import { exchanges } from "./exchanges.ts";
import { type Moto, startMoto } from "./moto.ts";
import { normalised, type Value } from "./normal.ts";
import { hold, notAsked } from "./script.ts";

const reasons = new Reasons(differences);
let moto: Moto | undefined;
let served: Served | undefined;
let ours: readonly Value[];
let theirs: readonly Value[];

before(async () => {
  const world = realWorld();
  // moto's states change between two requests, so ours must too.
  served = await serve(createCloud({ world, settings: { speed: Number.POSITIVE_INFINITY } }));
  moto = await startMoto(world);
  [ours, theirs] = (await Promise.all([hold(exchanges, served.url), hold(exchanges, moto.url)])).map(normalised) as [Value[], Value[]];
});

after(async () => {
  await served?.close();
  await moto?.stop();
});

for (const [index, exchange] of exchanges.entries()) {
  test(exchange.name, () => {
    const found = compare(ours[index]!, theirs[index]!);
    assert.deepEqual(reasons.unexplained(exchange, found), [], "the two clouds differ, and no listed difference says why");
  });
}

test("every listed difference still occurs", () => {
  assert.deepEqual(reasons.stale(), []);
});

test("the script holds at least 200 exchanges over eleven services, each under a name of its own", () => {
  assert.ok(exchanges.length >= 200, `only ${exchanges.length}`);
  assert.equal(new Set(exchanges.map(({ name }) => name)).size, exchanges.length);
  assert.deepEqual([...new Set(exchanges.map(({ service }) => service))].sort(), [
    "acm",
    "autoscaling",
    "ec2",
    "elb",
    "elbv2",
    "events",
    "iam",
    "shield",
    "sqs",
    "tagging",
    "wafv2",
  ]);
});

test("no exchange lacks what it refers to", () => {
  const lacking = exchanges.filter((_, index) => JSON.stringify([ours[index], theirs[index]]).includes(notAsked));
  assert.deepEqual(
    lacking.map(({ name }) => name),
    [],
  );
});
