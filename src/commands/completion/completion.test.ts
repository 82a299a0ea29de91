/** Completion: what is offered, that bash offers the same, and that every shell's script has every flag. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { before, test } from "node:test";
import { complete, run } from "../completion.ts";
import { commands } from "../table.ts";
import { said } from "../testing/said.ts";
import { candidates } from "./candidates.ts";
import { scripts } from "./scripts.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";

let vocabulary: Vocabulary;
before(async () => {
  vocabulary = await vocabularyOf(commands);
});

const offered = (...line: readonly string[]) => candidates(vocabulary, line).map(({ word }) => word);

test("commands, their words, flags and the values of flags are offered", () => {
  assert.deepEqual(offered("ex"), ["explain"]);
  assert.deepEqual(offered("plan", ""), ["service/", "ingress/", "routes"]);
  assert.deepEqual(offered("explain", ""), ["service/", "ingress/", "targetgroupbinding/", "node/", "pvc/", "pv/"]);
  assert.deepEqual(offered("plan", "--cont"), ["--context"]);
  assert.deepEqual(offered("plan", "--output", ""), ["text", "json"]);
  assert.deepEqual(offered("doctor", "-o", "j"), ["json"]);
  assert.deepEqual(offered("plan", "--output=j"), ["--output=json"]);
  assert.deepEqual(offered("sandbox", "--cluster", "e"), ["embedded"]);
  assert.deepEqual(offered("help", "pl"), ["plan"]);
});

test("after a flag that takes any value, and after a command that is none, nothing is offered", () => {
  assert.deepEqual(offered("plan", "--kubeconfig", ""), []);
  assert.deepEqual(offered("nothing", ""), []);
});

test("a flag without a value is followed by words again", () => {
  assert.deepEqual(offered("plan", "--all-namespaces", "r"), ["routes"]);
});

/** What bash offers, told the line as its own word breaks cut it. */
function inBash(...line: readonly string[]): string[] {
  const words = ["fairlead", ...line.flatMap((word) => word.split(/(=)/).filter((part, index) => part !== "" || index === 0))];
  const list = words.map((word) => `'${word}'`).join(" ");
  const script = `set -u\n${scripts.bash(vocabulary)}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _fairlead; printf '%s\\n' "\${COMPREPLY[@]-}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8", cwd: import.meta.dirname })
    .split("\n")
    .filter((word) => word !== "");
}

test("bash offers the same", () => {
  for (const line of [
    ["ex"],
    [""],
    ["plan", ""],
    ["plan", "--c"],
    ["plan", "--output", ""],
    ["doctor", "-o", "j"],
    ["explain", "no"],
    ["nothing", ""],
  ]) {
    assert.deepEqual(inBash(...line), offered(...line), line.join(" "));
  }
  assert.deepEqual(inBash("plan", "--output=j"), ["json"], "bash replaces only what stands after the =");
  assert.deepEqual(inBash("plan", "--output="), ["text", "json"]);
});

test("bash offers files where a flag takes any value", () => {
  assert.deepEqual(inBash("plan", "--kubeconfig", "scri"), ["scripts.ts"]);
});

for (const shell of ["bash", "zsh", "fish"] as const) {
  test(`every command and flag is in the script of ${shell}, and no shell would stumble over its quotes`, async () => {
    const { status, out } = await said(run, [shell]);
    assert.equal(status, 0);
    for (const { name, flags } of vocabulary) {
      assert.ok(out.includes(name), name);
      for (const { name: flag } of flags) assert.ok(out.includes(shell === "fish" ? `-l ${flag}` : `--${flag}`), `${name} --${flag}`);
    }
    for (const line of out.split("\n").filter((text) => !text.startsWith("#"))) assert.equal((line.match(/'/g) ?? []).length % 2, 0, line);
  });
}

test("a shell that there is no script for is a wrong call", async () => {
  const { status, err } = await said(run, ["tcsh"]);
  assert.equal(status, 64);
  assert.match(err, /name one shell of bash, zsh, fish/);
});

test("kubectl is told candidates, and whether a space follows", async () => {
  assert.equal((await said(complete, ["plan", "r"])).out, "routes\t\n:4\n");
  assert.equal((await said(complete, ["plan", "s"])).out, "service/\t\n:6\n");
  assert.equal((await said(complete, ["plan", "-f", ""])).out, ":0\n", "files, as kubectl offers them by itself");
  assert.match((await said(complete, ["ver"])).out, /^version\tPrint the version, .*\n:4\n$/);
});
