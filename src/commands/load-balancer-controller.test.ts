import assert from "node:assert/strict";
import { test } from "node:test";
import { gateOpen } from "./load-balancer-controller/feature-gates.ts";
import { parseOptions } from "./load-balancer-controller/flags.ts";
import { optionProblems } from "./load-balancer-controller/validate.ts";
import { run } from "./load-balancer-controller.ts";
import { said } from "./testing/said.ts";

const call = (...argv: string[]) => said(run, argv);

test("help says what is served", async () => {
  const { status, out } = await call("--help");
  assert.equal(status, 0);
  assert.match(out, /Makes load balancers for Ingresses, for Gateways/);
  assert.match(out, /--gateway-class-max-concurrent-reconciles int\s+GatewayClasses/);
});

test("a command line that cannot be read ends with 2, one that cannot work with 1", async () => {
  assert.equal((await call("--nonsense")).status, 2);
  assert.equal((await call("--sync-period=often")).status, 2);
  const unnamed = await call();
  assert.deepEqual([unnamed.status, /kubernetes cluster name must be specified/.test(unnamed.err)], [1, true]);
});

const mistakes: readonly (readonly [string, RegExp])[] = [
  ["--default-tags=elbv2.k8s.aws/cluster=x", /tag key elbv2.k8s.aws\/cluster cannot be specified in default-tags flag/],
  ["--default-tags=gateway.k8s.aws.alb/stack=x", /tag key gateway.k8s.aws.alb\/stack cannot be specified in default-tags flag/],
  ["--external-managed-tags=ingress.k8s.aws/stack", /tag key ingress.k8s.aws\/stack cannot be specified in external-managed-tags flag/],
  ["--default-tags=a=b --external-managed-tags=a", /tag key a cannot be specified in both default-tags and external-managed-tags flag/],
  ["--default-target-type=pod", /invalid value pod for default target type/],
  ["--default-load-balancer-scheme=public", /invalid value public for default scheme/],
  ["--backend-security-group=web", /invalid value web for backend security group id/],
  [
    "--enable-manage-backend-security-group-rules --enable-backend-security-group=false",
    /backend security group must be enabled when manage backend security group rule is enabled/,
  ],
  ["--required-secrets-label=team", /invalid value "team" for --required-secrets-label: must be in key=value format/],
  ["--required-secrets-label==b", /invalid value "=b" for --required-secrets-label/],
  ["--ingress-max-concurrent-reconciles=0", /--ingress-max-concurrent-reconciles=0: must be at least 1/],
];

test("flags that cannot work are named with what is wrong", () => {
  for (const [argv, message] of mistakes) {
    const { values } = parseOptions(["--cluster-name=x", ...argv.split(" ")]);
    assert.match(optionProblems(values).join("; "), message, argv);
  }
  assert.deepEqual(optionProblems(parseOptions(["--cluster-name=x", "--required-secrets-label=team=a"]).values), []);
});

test("gates are those of the reference", () => {
  const gates = (text: string) => parseOptions([`--feature-gates=${text}`]).values["feature-gates"];
  assert.equal(gateOpen(gates(""), "EndpointsFailOpen"), true);
  assert.equal(gateOpen(gates("EndpointsFailOpen=false, ALBSingleSubnet = true"), "EndpointsFailOpen"), false);
  assert.throws(() => gates("EnableTCPUDPListenerType=true"), /unknown feature: EnableTCPUDPListenerType/);
  assert.throws(() => gates("EndpointsFailOpen"), /invalid mapStringBool: EndpointsFailOpen/);
  assert.throws(() => gates("EndpointsFailOpen=perhaps"), /invalid mapStringBool: EndpointsFailOpen=perhaps/);
});
