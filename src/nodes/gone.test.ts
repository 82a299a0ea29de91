import assert from "node:assert/strict";
import { test } from "node:test";
import { goneProver, type Sighting } from "./gone.ts";

const minute = 60_000;
const found = { nodeName: "n", nodeUid: "u1", resourceVersion: "1", instanceId: "i-1", nodeCreatedAt: 0 };
const at = (minutes: number) => ({ now: minutes * minute, monotonic: minutes * minute });
const missing: Sighting = { kind: "named-missing", zoneInRegion: true, witness: true };

/** Verdicts on a series of sightings, each so many minutes after the Node was created. */
function verdicts(...sightings: readonly (readonly [minutes: number, sighting: Sighting])[]) {
  const prover = goneProver();
  return sightings.map(([minutes, sighting]) => prover.judge(found, sighting, at(minutes)).kind);
}

test("terminated is proof at once, whatever the age", () => {
  assert.deepEqual(verdicts([0, { kind: "terminated" }]), ["gone"]);
});

test("missing needs three misses over five minutes for a Node older than ten", () => {
  assert.deepEqual(verdicts([11, missing], [12, missing], [15.9, missing], [16, missing]), ["unproven", "unproven", "unproven", "gone"]);
  assert.deepEqual(verdicts([11, missing], [17, missing]), ["unproven", "unproven"], "two misses are not three");
});

test("misses of a young Node do not count", () => {
  assert.deepEqual(verdicts([1, missing], [5, missing], [9.9, missing], [10, missing], [12, missing], [15, missing]), [
    "unproven",
    "unproven",
    "unproven",
    "unproven",
    "unproven",
    "gone",
  ]);
});

test("a miss without a witness, or of another region's zone, counts for nothing", () => {
  const blind: Sighting = { ...missing, witness: false };
  const elsewhere: Sighting = { ...missing, zoneInRegion: false };
  assert.deepEqual(verdicts([11, blind], [14, blind], [17, blind], [20, elsewhere], [30, elsewhere]), Array(5).fill("unproven"));
});

test("being seen alive once starts the count again; an unanswered question does not", () => {
  const unanswered: Sighting = { kind: "unanswered" };
  assert.deepEqual(verdicts([11, missing], [13, missing], [15, { kind: "alive", state: "running" }], [17, missing], [18, missing]), [
    "unproven",
    "unproven",
    "alive",
    "unproven",
    "unproven",
  ]);
  assert.deepEqual(verdicts([11, missing], [13, unanswered], [14, missing], [16, missing]), ["unproven", "unproven", "unproven", "gone"]);
});

test("another UID or another instance is another case", () => {
  const prover = goneProver();
  prover.judge(found, missing, at(11));
  prover.judge(found, missing, at(14));
  assert.equal(prover.judge({ ...found, instanceId: "i-2" }, missing, at(17)).kind, "unproven");
  assert.equal(prover.judge({ ...found, nodeUid: "u2" }, missing, at(17)).kind, "unproven");
});

test("a Node that was ready in between starts over", () => {
  const prover = goneProver();
  prover.judge(found, missing, at(11));
  prover.judge(found, missing, at(14));
  assert.ok(prover.hasMissed("u1"));
  prover.keepOnly(new Set());
  assert.ok(!prover.hasMissed("u1"));
  assert.equal(prover.judge(found, missing, at(17)).kind, "unproven");
});

test("a wall clock that leaps forward does not make misses span five minutes", () => {
  const prover = goneProver();
  const leapt = (seconds: number) => ({ now: 60 * minute, monotonic: 11 * minute + seconds * 1000 });
  prover.judge(found, missing, at(11));
  assert.deepEqual(
    [5, 10, 15].map((seconds) => prover.judge(found, missing, leapt(seconds)).kind),
    ["unproven", "unproven", "unproven"],
  );
});
