/** Go's crypto/x509 as judge of client certificates: it is what the reference verifies them with. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { realWorld } from "../../src/runtime/world.ts";
import { chains, makeChains } from "../bed/chains.ts";
import { certificateReferee } from "./go-programs.ts";

const dayMs = 24 * 3_600_000;

test("Go accepts and refuses the chains that the table of chains says it does", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-chains-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const asked = (await makeChains(folder, chains)).map(({ authorities, sent }, at) => ({
    authorities,
    sent,
    atMs: realWorld().clock.now() + (chains[at]?.day ?? 0) * dayMs + 2_000,
  }));
  const judging = promisify(execFile)(await certificateReferee(), []);
  judging.child.stdin?.end(JSON.stringify(asked));
  const verdicts: readonly string[] = JSON.parse((await judging).stdout);
  const wrong = chains.flatMap(({ what, go }, at) => ((verdicts[at] === "ok") === go ? [] : `${what}: ${verdicts[at]}`));
  assert.deepEqual(wrong, []);
});
