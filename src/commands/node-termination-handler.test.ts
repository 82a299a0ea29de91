import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./node-termination-handler.ts";
import { said } from "./testing/said.ts";

const call = (...argv: string[]) => said(run, argv);

test("a command line that cannot be read ends with 2 and the usage, one that cannot work with 1, in the reference's words", async () => {
  const unknown = await call("--nod-name=n");
  assert.equal(unknown.status, 2);
  assert.match(unknown.err, /^unknown flag: --nod-name\ndid you mean --node-name\?\nUsage:\n {2}node-termination-handler \[flags\]\n/);
  const unnamed = await call("--node-name=");
  assert.deepEqual(unnamed, {
    status: 1,
    out: "",
    err: "Failed to parse cli args, You must provide a node-name to the CLI or NODE_NAME environment variable.\n",
  });
});

test("what is found out only when it starts is told by the log, and ends with 1", async () => {
  const { status, err } = await call("--node-name=n", "--kubeconfig=/nonexistent/kubeconfig", "--json-logging");
  assert.equal(status, 1);
  const { level, msg } = JSON.parse(err.trim().split("\n").at(-1) ?? "");
  assert.deepEqual([level, /\/nonexistent\/kubeconfig/.test(msg)], ["error", true], err);
});

test("help names every flag with its environment variable", async () => {
  const { status, out } = await call("-h");
  assert.equal(status, 0);
  assert.match(out, /--node-name string .*\[NODE_NAME\]/);
});
