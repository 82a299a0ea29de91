import assert from "node:assert/strict";
import { test } from "node:test";
import { said } from "./commands/testing/said.ts";
import { main } from "./main.ts";

const call = (script: string, ...argv: string[]) => said((invocation) => main(script, invocation), argv);

test("without a command, or asked for help, the commands are listed", async () => {
  for (const argv of [[], ["help"], ["--help"], ["-h"]]) {
    const { status, out } = await call("/usr/bin/fairlead", ...argv);
    assert.equal(status, 0);
    assert.match(out, /^ {2}controller-manager {2}.*also as aws-cloud-controller-manager/m);
  }
});

test("help of a command is the command's own", async () => {
  const asked = await call("/usr/bin/fairlead", "help", "controller-manager");
  const direct = await call("/usr/bin/fairlead", "controller-manager", "--help");
  assert.equal(asked.out, direct.out);
  assert.match(direct.out, /cloud-controller-manager \[flags\]/);
});

test("a mistyped command is named with the one it may have meant", async () => {
  const { status, err } = await call("/usr/bin/fairlead", "controler-manager");
  assert.equal(status, 64);
  assert.match(err, /unknown command "controler-manager"; did you mean "controller-manager"\?/);
});

test("names that every object has are no commands", async () => {
  assert.equal((await call("/usr/bin/fairlead", "toString")).status, 64);
});

test("called by the reference's name, the program is that program", async () => {
  for (const script of ["/bin/aws-cloud-controller-manager", "/opt/aws-cloud-controller-manager.js"]) {
    assert.match((await call(script, "--version")).out, /^Kubernetes v\d+\.\d+\.\d+/);
  }
  assert.match((await call("/bin/fairlead", "version")).out, /^fairlead v\d+\.\d+\.\d+/);
});

test("version says the commit and what it was tested with, for people and for programs", async () => {
  for (const argv of [["version"], ["--version"]]) {
    const { out } = await call("/bin/fairlead", ...argv);
    assert.match(out, /^commit +/m);
    assert.match(out, /^tested with +Kubernetes \d+\.\d+\.\d+, etcd /m);
  }
  const { version, commit, testedWith } = JSON.parse((await call("/bin/fairlead", "version", "-o", "json")).out) as Record<string, unknown>;
  assert.match(String(version), /^v\d/);
  assert.equal(typeof commit, "string");
  assert.equal(Object.keys(testedWith as object)[0], "Kubernetes");
});
