import assert from "node:assert/strict";
import { test } from "node:test";
import { gateOpen } from "./load-balancer-controller/feature-gates.ts";
import { parseOptions } from "./load-balancer-controller/flags.ts";
import { run } from "./load-balancer-controller.ts";
import { said } from "./testing/said.ts";

const call = (...argv: string[]) => said(run, argv);

test("help says what is built, and which flags change nothing", async () => {
  const { status, out } = await call("--help");
  assert.equal(status, 0);
  assert.match(out, /Ingresses, Gateways and Services with a load\s+balancer class are not served yet/);
  assert.match(out, /--ingress-class string\s+Not built yet/);
});

test("a command line that cannot be read ends with 2, one that cannot work with 1", async () => {
  assert.equal((await call("--nonsense")).status, 2);
  assert.equal((await call("--sync-period=often")).status, 2);
  const unnamed = await call();
  assert.deepEqual([unnamed.status, /kubernetes cluster name must be specified/.test(unnamed.err)], [1, true]);
  const tagged = await call("--cluster-name=x", "--aws-vpc-tags=a=b");
  assert.deepEqual([tagged.status, /--aws-vpc-tags is not supported: set --aws-vpc-id/.test(tagged.err)], [1, true]);
});

test("gates are those of the reference", () => {
  const gates = (text: string) => parseOptions([`--feature-gates=${text}`]).values["feature-gates"];
  assert.equal(gateOpen(gates(""), "EndpointsFailOpen"), true);
  assert.equal(gateOpen(gates("EndpointsFailOpen=false, ALBSingleSubnet = true"), "EndpointsFailOpen"), false);
  assert.throws(() => gates("EnableTCPUDPListenerType=true"), /unknown feature: EnableTCPUDPListenerType/);
  assert.throws(() => gates("EndpointsFailOpen"), /invalid mapStringBool: EndpointsFailOpen/);
  assert.throws(() => gates("EndpointsFailOpen=perhaps"), /invalid mapStringBool: EndpointsFailOpen=perhaps/);
});
