import assert from "node:assert/strict";
import { test } from "node:test";
import { exitStatus } from "../process/exit.ts";
import { parseFlags } from "../runtime/flags.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { flags, placeWords, run } from "./dashboard.ts";

async function refused(...argv: readonly string[]): Promise<string> {
  let said = "";
  const err = (text: string) => {
    said += text;
  };
  const console = { out() {}, err, columns: 0, watched: false };
  const world = virtualWorld(1, { files: {}, environment: {} });
  assert.equal(await run({ argv, world, console, stopSignal: () => new AbortController().signal }), exitStatus.usage);
  return said;
}

test("an endpoint must be an address with TLS: the user's token of the cluster is sent to it", async () => {
  for (const wrong of ["localhost:10258", "http://127.0.0.1:10258", "10258"]) {
    assert.match(await refused("--endpoint", wrong), new RegExp(`--endpoint must be like https://.*, not "${wrong}"`));
  }
});

test("a port that is none is refused", async () => {
  assert.match(await refused("--port=70000"), /--port must be from 0 to 65535, not 70000/);
});

test("the plan is made where the dashboard looks, however its flags are written", () => {
  const argv = ["--port", "8080", "--endpoint", "https://127.0.0.1:10258", "--context", "prod", "-n=shop", "--strict-cloud-config"];
  assert.deepEqual(placeWords(parseFlags(flags, argv)).toSorted(), ["--context=prod", "--namespace=shop", "--strict-cloud-config=true"]);
});
