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
});

test("a word that is none of its own is refused with those there are", async () => {
  assert.match(
    (await said(run, ["simulat", "spot", "n"])).err,
    /write: fairlead interruptions setup, or simulate KIND NODE, did you mean simulate\?/,
  );
  assert.equal((await said(run, [])).status, 64);
  assert.match((await said(run, ["--help"])).out, /fairlead interruptions setup/);
});

test("a set-up is refused that cannot be meant, with what is allowed", async () => {
  const refusal = async (...argv: readonly string[]) => (await said(run, ["setup", ...argv])).err;
  assert.match(await refusal("--plan", "--yes"), /--plan and --yes: give one of them/);
  assert.match(await refusal("--kinds=spto"), /"spto" is not a kind of notice, did you mean spot\?; there are spot, reservation, /);
  assert.match(await refusal("--name=a.b"), /"a\.b" cannot be the name of a queue and its rules/);
  assert.match(await refusal(`--cluster-name=${"x".repeat(40)}`), /at most 49/);
  assert.match(await refusal("--hook-timeout-seconds=20"), /20 is not between 30 and 7200/);
  assert.match(await refusal("now"), /unexpected argument "now"/);
});
