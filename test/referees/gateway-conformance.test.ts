/** The Gateway API's own conformance suite as judge of Gateways of both kinds, in one cluster and one account. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { gatewayClasses, gateways } from "../../src/loadbalancers/gateway/api.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../../src/loadbalancers/gateway/crd.ts";
import { type Flavour, flavours } from "../../src/loadbalancers/gateway/flavours.ts";
import { listenerRuleConfigurationDefinition } from "../../src/loadbalancers/gateway/rule-crd.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { eventually } from "../bed/bed.ts";
import { type GatewayCluster, gatewayCluster } from "./gateway-cluster.ts";
import { leftOut } from "./gateway-conformance/left-out.ts";
import { gatewayConformance } from "./go-programs.ts";

const configurations = [loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition, listenerRuleConfigurationDefinition];

/** What of the suite each kind of Gateway is judged by. */
interface Judgement {
  readonly className: string;
  /** Names of tests. */
  readonly covers: RegExp;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Tests that connect to a port below 1024 themselves, which takes root to open on most machines. */
  readonly onLowPorts: readonly string[];
  /** The part of docs/gateways.md that lists the results. */
  readonly heading: string;
}

const judgements: Readonly<Record<Flavour["name"], Judgement>> = {
  alb: {
    className: "fairlead-alb",
    covers: /^(?!(TCP|UDP|TLS)Route)/,
    args: ["-conformance-profiles=GATEWAY-HTTP"],
    onLowPorts: [],
    heading: "### Application load balancers",
  },
  nlb: {
    className: "fairlead-nlb",
    covers: /^(TCP|UDP|TLS)Route/,
    // Every test has Gateways of its own and waits for all of the namespace to be ready, also for those of the one before to be gone, for
    // which AWS takes its time: they stay instead.
    args: ["-test.run=TestConformance/^(TCP|UDP|TLS)Route", "-cleanup-test-resources=false"],
    environment: {
      CONFORMANCE_MANIFESTS: join(import.meta.dirname, "gateway-conformance"),
      // Their Gateways listen on HTTP or HTTPS, which a network load balancer does not.
      CONFORMANCE_UNREADY: "tests/tcproute-invalid-non-tcp-listener.yaml,tests/tlsroute-invalid-no-matching-listener.yaml",
    },
    onLowPorts: ["TLSRouteSimpleSameNamespace"],
    heading: "### Network load balancers",
  },
};

/** The name of one test, to run that alone. */
const only = process.env.CONFORMANCE_TEST;

test("the conformance suite passes for every kind of Gateway but for what is left out, as the docs list it", {
  timeout: 1_500_000,
}, async (t) => {
  const judged = await gatewayCluster(t, configurations);
  const { admin } = judged.cluster;
  // The one host name of an HTTPS listener that gets a route.
  await new ACMClient(sdkConfig(judged.cloud)).send(new RequestCertificateCommand({ DomainName: "secure.test.com" }));
  for (const { name, controllerName } of Object.values(flavours))
    await admin.create(gatewayClasses, { metadata: { name: judgements[name].className }, spec: { controllerName } });
  await judged.ours("--default-target-type=ip");
  // One after the other: both use the same namespaces, and wait for every Gateway there, also for one that is being deleted.
  for (const name of ["nlb", "alb"] as const) {
    const { covers, heading, className } = judgements[name];
    if (only !== undefined && !covers.test(only)) continue;
    await t.test(heading.replaceAll("#", "").trim(), (pass) => judge(pass, name, judged));
    // What is left of it holds up nobody, whether or not it is ready.
    for (const { metadata, spec } of (await admin.list(gateways)).items) {
      if (spec?.gatewayClassName !== className) continue;
      const merge = { metadata: { annotations: { "gateway-api/skip-this-for-readiness": "true" } } };
      await admin.patch(gateways, { namespace: metadata.namespace ?? "", name: metadata.name }, { merge });
    }
  }
});

async function judge(t: TestContext, name: Flavour["name"], judged: GatewayCluster): Promise<void> {
  const judgement = judgements[name];
  await eventually(async () => {
    const { status } = await judged.cluster.admin.get(gatewayClasses, { name: judgement.className });
    assert.ok(status?.supportedFeatures?.length, "the class says what it can");
  }, 60_000);
  const unreachable = judged.hasLowPorts ? [] : judgement.onLowPorts;
  const output = await runSuite(judgement, judged, [...Object.keys(leftOut[name]), ...unreachable]);
  const of = (result: string) => namesIn(output, new RegExp(`^ {4}--- ${result}: TestConformance/(\\w+) `, "gm"));
  const [passed, failed] = [of("PASS"), of("FAIL")];
  tell(t, { passed, failed, leftOut: leftOut[name] });
  for (const each of unreachable) t.diagnostic(`not run: ${each}: this user may not open port 443`);
  assert.deepEqual(failed, [], failed.map((each) => whyFailed(output, each)).join("\n"));
  assert.match(output, /^--- PASS: TestConformance /m, output.slice(-2_000));
  if (only) return assert.notEqual(passed.length, 0, `the suite runs no ${only} for ${judgement.className}`);
  const page = await readFile(new URL("../../docs/gateways.md", import.meta.url), "utf8");
  const [, listed = ""] = page.split(`\n${judgement.heading}\n`);
  const [section = ""] = listed.split(/^#/m);
  assert.deepEqual(
    [...passed, ...unreachable].toSorted(),
    namesIn(section, /^\| `(\w+)` \| passed/gm),
    "docs/gateways.md lists what passes",
  );
  assert.deepEqual(Object.keys(leftOut[name]).toSorted(), namesIn(section, /^\| `(\w+)` \| left out/gm), "and what is left out");
}

interface Results {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly leftOut: Readonly<Record<string, string>>;
}

function tell(t: TestContext, { passed, failed, leftOut: without }: Results): void {
  t.diagnostic(`passed (${passed.length}): ${passed.join(", ")}`);
  t.diagnostic(`failed (${failed.length}): ${failed.join(", ")}`);
  for (const [name, why] of Object.entries(without)) t.diagnostic(`left out: ${name}: ${why}`);
}

const namesIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name ?? ""))].toSorted();

/** The last lines that a test said before it gave up. */
function whyFailed(output: string, name: string): string {
  const lines = output.split("\n");
  const at = lines.findLastIndex((line) => line.includes(`Test:`) && line.includes(`TestConformance/${name}`));
  return `${name}:\n${lines.slice(Math.max(0, at - 12), at + 2).join("\n")}`;
}

/** What the suite said. */
async function runSuite(
  { className, args, environment }: Judgement,
  { cluster, account, proxy, names }: GatewayCluster,
  without: readonly string[],
): Promise<string> {
  const { folder } = cluster.real;
  const program = await gatewayConformance();
  const all = [
    "-test.v",
    "-test.timeout=20m",
    ...args,
    ...(only ? [`-test.run=TestConformance/(${only})$`] : []),
    `-gateway-class=${className}`,
    // Nobody here ends a namespace.
    "-cleanup-base-resources=false",
    `-skip-tests=${without.join(",")}`,
    `-report-output=${join(folder, `${className}.yaml`)}`,
    ...["organization", "project", "version", "contact"].map((field) => `-${field}=fairlead`),
    "-url=https://example.org",
  ];
  const own = { KUBECONFIG: await account.kubeconfig(), CONFORMANCE_PROXY: proxy, CONFORMANCE_NAMES: names, HOME: folder };
  const child = spawn(program, all, { env: { ...process.env, ...own, ...environment }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
      if (process.env.VERBOSE) process.stderr.write(chunk);
    });
  await new Promise<void>((resolve, reject) => child.on("error", reject).on("close", () => resolve()));
  return output;
}
