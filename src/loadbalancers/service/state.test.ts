import assert from "node:assert/strict";
import { test } from "node:test";
import { kindTable } from "./kinds.ts";
import { readOptions } from "./options.ts";
import {
  distrust,
  drifts,
  isTrusted,
  leave,
  madeTargetsOnly,
  newState,
  type ServiceState,
  type Standing,
  settledFor,
  standingAs,
  wanted,
  wantedTargetsOnly,
} from "./state.ts";

const standing: Standing = {
  fingerprint: "f",
  kind: kindTable.classic.kind,
  name: "web",
  options: readOptions({}, "classic").options,
  access: { kind: "from-group", loadBalancer: "web" },
  ruleContext: { nodeGroups: [], formerNames: [], ownGroups: [], subnetCidrs: [] },
  warnings: [],
  groupWarnings: [],
};
const stands = standingAs(standing, false);
const moves = standingAs(standing, true);

test("only what stands as this Service asks for it, and is trusted, is left with its targets", () => {
  assert.equal(settledFor(stands, "f"), standing);
  assert.equal(settledFor(stands, "another wish"), undefined);
  const others: readonly ServiceState[] = [newState, distrust(stands), moves, leave(stands), wantedTargetsOnly(newState)];
  for (const state of others) assert.equal(settledFor(state, "f"), undefined, state.kind);
});

test("what is wanted again after it was leaving is known, and read fully", () => {
  const again = wanted(leave(stands));
  assert.deepEqual([again.kind, isTrusted(again)], ["standing", false]);
  assert.deepEqual(wanted(leave(newState)), { kind: "new", distrusted: true });
});

test("a replacement stays one through failures, until a look finds nothing left to move", () => {
  assert.equal(distrust(moves), moves);
  assert.equal(wanted(moves), moves);
  assert.equal(standingAs(standing, false).kind, "standing");
});

test("what stood before target groups is remembered until they are made, and the distrust stays", () => {
  const before = wantedTargetsOnly(distrust(stands));
  assert.deepEqual(before, { kind: "targets-only", standing, distrusted: true });
  assert.deepEqual(madeTargetsOnly(before), { kind: "targets-only", distrusted: true });
  assert.deepEqual(wanted(madeTargetsOnly(before)), { kind: "new", distrusted: true });
});

test("whatever stands, or has target groups, is looked at once an hour, also on its way out", () => {
  const due = [stands, moves, leave(stands), wantedTargetsOnly(newState), leave(leave(wantedTargetsOnly(newState)))];
  assert.deepEqual(due.map(drifts), [true, true, true, true, true]);
  assert.deepEqual([newState, leave(newState)].map(drifts), [false, false]);
});
