/** The Gateway API's own conformance suite as judge of Gateways with an application load balancer. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { gatewayClasses } from "../../src/loadbalancers/gateway/api.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../../src/loadbalancers/gateway/crd.ts";
import { flavours } from "../../src/loadbalancers/gateway/flavours.ts";
import { listenerRuleConfigurationDefinition } from "../../src/loadbalancers/gateway/rule-crd.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { eventually } from "../bed/bed.ts";
import { gatewayCluster } from "./gateway-cluster.ts";
import { leftOut } from "./gateway-conformance/left-out.ts";
import { gatewayConformance } from "./go-programs.ts";

const className = "fairlead-alb";
const configurations = [loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition, listenerRuleConfigurationDefinition];

test("every test of the profile GATEWAY-HTTP passes but those that are left out, as the docs list them", {
  timeout: 1_500_000,
}, async (t) => {
  const judged = await gatewayCluster(t, configurations);
  const { admin } = judged.cluster;
  // The one host name of an HTTPS listener that gets a route.
  await new ACMClient(sdkConfig(judged.cloud)).send(new RequestCertificateCommand({ DomainName: "secure.test.com" }));
  await admin.create(gatewayClasses, { metadata: { name: className }, spec: { controllerName: flavours.alb.controllerName } });
  await judged.ours("--default-target-type=ip");
  await eventually(async () => {
    const { status } = await admin.get(gatewayClasses, { name: className });
    assert.ok(status?.supportedFeatures?.length, "the class says what it can");
  }, 60_000);
  const output = await runSuite(judged.cluster.real.folder, await judged.account.kubeconfig(), judged.proxy);
  const of = (result: string) => namesIn(output, new RegExp(`^ {4}--- ${result}: TestConformance/(\\w+) `, "gm"));
  const [passed, failed] = [of("PASS"), of("FAIL")];
  tell(t, passed, failed);
  assert.deepEqual(failed, [], failed.map((name) => whyFailed(output, name)).join("\n"));
  const page = await readFile(new URL("../../docs/gateways.md", import.meta.url), "utf8");
  const listed = page.slice(page.indexOf("## Conformance"));
  assert.deepEqual(passed, namesIn(listed, /^\| `(\w+)` \| passed/gm), "docs/gateways.md lists what passes");
  assert.deepEqual(Object.keys(leftOut).toSorted(), namesIn(listed, /^\| `(\w+)` \| left out/gm), "and what is left out");
});

function tell(t: TestContext, passed: readonly string[], failed: readonly string[]): void {
  t.diagnostic(`passed (${passed.length}): ${passed.join(", ")}`);
  t.diagnostic(`failed (${failed.length}): ${failed.join(", ")}`);
  for (const [name, why] of Object.entries(leftOut)) t.diagnostic(`left out: ${name}: ${why}`);
}

const namesIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name ?? ""))].toSorted();

/** The last lines that a test said before it gave up. */
function whyFailed(output: string, name: string): string {
  const lines = output.split("\n");
  const at = lines.findLastIndex((line) => line.includes(`Test:`) && line.includes(`TestConformance/${name}`));
  return `${name}:\n${lines.slice(Math.max(0, at - 12), at + 2).join("\n")}`;
}

async function runSuite(folder: string, kubeconfig: string, proxy: string): Promise<string> {
  const program = await gatewayConformance();
  const only = process.env.CONFORMANCE_TEST;
  const args = [
    "-test.v",
    "-test.timeout=20m",
    ...(only ? [`-test.run=TestConformance/(${only})$`] : []),
    `-gateway-class=${className}`,
    "-conformance-profiles=GATEWAY-HTTP",
    // Nobody here ends a namespace.
    "-cleanup-base-resources=false",
    `-skip-tests=${Object.keys(leftOut).join(",")}`,
    `-report-output=${join(folder, "conformance.yaml")}`,
    ...["organization", "project", "version", "contact"].map((field) => `-${field}=fairlead`),
    "-url=https://example.org",
  ];
  const env = { ...process.env, KUBECONFIG: kubeconfig, CONFORMANCE_PROXY: proxy, HOME: folder };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      if (process.env.VERBOSE) process.stderr.write(chunk);
    });
  await new Promise<void>((resolve, reject) => child.on("error", reject).on("close", () => resolve()));
  return output;
}
