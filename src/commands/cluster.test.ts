import assert from "node:assert/strict";
import { test } from "node:test";
import { run as cluster } from "./cluster.ts";
import { run as node } from "./node.ts";
import { said } from "./testing/said.ts";

test("the help of cluster names the flags of the process, the programs and their sections", async () => {
  const { status, out } = await said(cluster, ["--help"]);
  assert.equal(status, 0);
  assert.match(out, /^Runs the programs of a cluster in one process/);
  assert.match(out, /--config string/);
  assert.match(out, /--leader-elect-resource-name string +Name of the Lease\. \(default "fairlead-cluster"\)/);
  assert.match(out, /\n {2}controller-manager: Nodes, load balancers/);
  assert.doesNotMatch(out, /--cluster-cidr/, "a program's own flags stand in its section");
});

test("a command line that cannot be understood, and a file that is wrong, end with status 64 and say why", async () => {
  assert.deepEqual(await said(cluster, ["--confg=x"]), {
    status: 64,
    out: "",
    err: 'fairlead cluster: unknown flag: --confg\ndid you mean --config?\nRun "fairlead cluster --help" for its flags.\n',
  });
  const { status, err } = await said(cluster, ["--config=/nonexistent"]);
  assert.equal(status, 64);
  assert.match(err, /^fairlead cluster: cannot read --config \/nonexistent: ENOENT/);
});

test("the help of node names its programs, and no lease: it is alone on its node", async () => {
  const { status, out } = await said(node, ["--help"]);
  assert.equal(status, 0);
  assert.match(out, /\n {2}node-termination-handler: Nodes whose instance is about to be interrupted, for its own node/);
  assert.doesNotMatch(out, /--leader-elect/);
});
