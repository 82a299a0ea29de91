import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realWorld } from "../runtime/world.ts";
import { maturity, neverOnRealAccount, notAffiliated } from "./maturity.ts";

const readme = Buffer.from(await realWorld().files.read(fileURLToPath(new URL("../../README.md", import.meta.url)))).toString("utf8");

test("the README says what was never tested, and who is not behind it", () => {
  const text = readme.replaceAll("\n", " ");
  assert.ok(text.includes(neverOnRealAccount));
  assert.ok(text.includes(notAffiliated));
});

test("the README's table gives each program the stage that it has", () => {
  const named = new Map<string, Set<string>>();
  let program = "";
  for (const [, run = "", state = ""] of readme.matchAll(/^\| .*? \| (.*?) \| .* \| (.*?) \|$/gm)) {
    program = /`fairlead ([\w-]+)`/.exec(run)?.[1] ?? program;
    if (state !== "to come" && Object.hasOwn(maturity, program)) named.set(program, (named.get(program) ?? new Set()).add(state));
  }
  for (const [name, states] of named) assert.deepEqual([...states], [maturity[name]!.stage], name);
  for (const name of Object.keys(maturity).filter((each) => each !== "node")) assert.ok(named.has(name), name);
});
