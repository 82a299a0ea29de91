import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./interruptions.ts";
import { said } from "./testing/said.ts";

test("without --yes it only says what it would do", async () => {
  const { status, out } = await said(run, ["simulate", "spot", "node/ip-10-0-0-1"]);
  assert.equal(status, 2);
  assert.match(out, /^would annotate Node ip-10-0-0-1 .*--yes to do it\.\n$/);
});

test("a kind that is not one, and words that are missing, are refused with what there is", async () => {
  const { status, err } = await said(run, ["simulate", "spto", "n"]);
  assert.equal(status, 64);
  assert.match(err, /"spto" is not a kind of interruption, did you mean spot\?; there are spot, reservation, /);
  assert.match((await said(run, ["simulate", "spot"])).err, /write: fairlead interruptions simulate KIND NODE/);
  assert.match((await said(run, ["setup"])).err, /write: fairlead interruptions simulate KIND NODE/);
});
