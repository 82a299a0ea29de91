/**
 * The suite for real accounts on a real API server and the simulated AWS, with every program that it tests at work. What needs a
 * kubelet is played: pods answer requests behind the load balancers' data plane; they mount nothing and pull no image.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testEndToEnd } from "../../src/commands/e2e.ts";
import { cases } from "../../src/e2e/cases.ts";
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { bed, eventually } from "../bed/bed.ts";
import { awsCredentials } from "../bed/controller-manager.ts";
import { startPrograms } from "../bed/e2e-programs.ts";

interface Report {
  readonly outcomes: readonly { readonly name: string; readonly result: string; readonly why: string }[];
  readonly denied: readonly string[];
  readonly left: readonly string[];
}

interface Place {
  readonly cloud: Cloud;
  /** Ends when the signal does. */
  suite(
    flags: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ readonly status: number; readonly report: Report; readonly err: string }>;
  /** What is in AWS now and was not before. */
  more(): readonly unknown[];
}

/** A cluster of two workers with its controller manager, in an account where time runs fast. */
async function place(t: TestContext, everything = false): Promise<Place> {
  const lain = await bed(t);
  const { cluster, controllerManager } = lain;
  const cloud = createCloud({ world: realWorld(), settings: { speed: 100 } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  const machines = launchNodes(cloud, network, 2);
  for (const { id, privateDnsName: name } of machines) {
    cloud.account.ec2.instances.update(id, { state: "running" });
    await cluster.admin.create(nodes, {
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
      spec: { taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }] },
    });
    // Without kubelets and their controllers, somebody has to say that they are ready.
    await cluster.admin.patch(
      nodes,
      { name, subresource: "status" },
      { merge: { status: { conditions: [{ type: "Ready", status: "True" }] } } },
    );
    const { spec } = await cluster.admin.get(nodes, { name });
    const taints = (spec?.taints ?? []).filter(({ key }) => key !== "node.kubernetes.io/not-ready");
    await cluster.admin.patch(nodes, { name }, { merge: { spec: { taints } } });
  }
  const aws = await serve(cloud);
  t.after(() => aws.close());
  const config = join(cluster.real.folder, `e2e-${network.vpcId}.conf`);
  const where = ["Region = us-east-1", `VPC = ${network.vpcId}`, `SubnetID = ${network.privateSubnetIds[0]}`, "KubernetesClusterID = test"];
  await writeFile(config, `[Global]\n${where.join("\n")}\nNLBSecurityGroupMode = Managed\n`);
  // Without a lease, which the manager of the test before would hold for a while.
  const flags = [`--cloud-config=${config}`, "--leader-elect=false"];
  const manager = await controllerManager(flags, { environment: { AWS_ENDPOINT_URL: aws.url } });
  await manager.serves();
  const kubelets = everything && (await startPrograms(t, lain, { cloud, url: aws.url, vpc: network.vpcId, machines }));
  const before = cloud.controls.snapshot();
  const world = { ...realWorld(), environment: { ...process.env, ...awsCredentials, AWS_ENDPOINT_URL: aws.url } };
  return {
    cloud,
    more: () => compareSnapshots(before, cloud.controls.snapshot()).filter(({ table }) => table !== "iam/service-linked-roles"),
    async suite(flags, signal = new AbortController().signal) {
      let [out, err] = ["", ""];
      const console = {
        columns: 0,
        watched: false,
        out: (text: string) => {
          out += text;
        },
        err: (text: string) => {
          err += text;
        },
      };
      const argv = [
        `--kubeconfig=${join(cluster.real.folder, "admin.kubeconfig")}`,
        `--cloud-config=${config}`,
        ...(kubelets ? [`--interrupt-node=${machines[1]!.privateDnsName}`] : ["--skip-pods"]),
        "--poll-interval=100ms",
        "--output=json",
        ...flags,
      ];
      const request = kubelets && ((url: string, host?: string) => kubelets.request(url, host));
      const status = await testEndToEnd({ argv, world, console, stopSignal: () => signal }, { ...(request && { request }) });
      assert.notEqual(out, "", err);
      return { status, report: JSON.parse(out) as Report, err };
    },
  };
}

const resultsOf = ({ outcomes }: Report) => Object.fromEntries(outcomes.map(({ name, result }) => [name, result]));

/** They run what is in a container. */
const needContainers = ["ecr-pull", "volume-data"];

test("the suite passes on a real API server and the simulated AWS with every program, and nothing is left", {
  timeout: 300_000,
}, async (t) => {
  const at = await place(t, true);
  const chosen = cases.map(({ name }) => name).filter((name) => !needContainers.includes(name));
  const { status, report, err } = await at.suite(["--yes-it-costs-money", "--timeout=60s", `--cases=${chosen.join()}`]);
  assert.deepEqual(
    report.outcomes.filter(({ result, why }) => result === "failed" || why.startsWith("without")),
    [],
    err,
  );
  const skipped = report.outcomes.filter(({ result }) => result === "skipped").map(({ name }) => name);
  assert.deepEqual(skipped, ["routes"], "routes are off");
  assert.equal(report.outcomes.length, 20);
  assert.deepEqual(report.left, []);
  assert.equal(status, 0);
  await eventually(() => assert.deepEqual(at.more(), []));
});

test("without pods, and with the controller manager alone, it passes too and says what it left out", { timeout: 300_000 }, async (t) => {
  const at = await place(t);
  const { status, report, err } = await at.suite([
    "--yes-it-costs-money",
    "--timeout=60s",
    "--cases=nlb-default,ecr-pull,interruption-drain",
  ]);
  assert.deepEqual(
    report.outcomes.map(({ name, result, why }) => `${name} ${result}: ${why.split(",")[0]}`),
    [
      "ecr-pull skipped: it needs pods that run",
      "nlb-default passed: without real requests",
      "interruption-drain skipped: it needs --interrupt-node",
    ],
    err,
  );
  assert.equal(status, 0);
});

test("with one permission denied to the controllers it is named, and everything is removed all the same", {
  timeout: 300_000,
}, async (t) => {
  const at = await place(t);
  const action = "elasticloadbalancing:CreateTargetGroup";
  at.cloud.controls.change({
    policy: [
      { effect: "allow", actions: ["*"], principals: ["*"] },
      { effect: "deny", actions: [action], principals: ["*"] },
    ],
  });
  const { status, report } = await at.suite(["--yes-it-costs-money", "--timeout=6s", "--cases=nlb-default"]);
  assert.deepEqual(resultsOf(report), { "nlb-default": "failed" });
  assert.deepEqual(report.denied, [action]);
  assert.deepEqual(report.left, []);
  assert.equal(status, 1);
  await eventually(() => assert.deepEqual(at.more(), []));
});

test("with one permission denied to the suite itself it is named, and everything is removed all the same", {
  timeout: 300_000,
}, async (t) => {
  const at = await place(t);
  const action = "ec2:CreateSecurityGroup";
  at.cloud.controls.change({
    policy: [
      { effect: "allow", actions: ["*"], principals: ["*"] },
      { effect: "deny", actions: [action], principals: ["*"] },
    ],
  });
  const { status, report } = await at.suite(["--yes-it-costs-money", "--timeout=10s", "--cases=nlb-own-security-group"]);
  assert.deepEqual(resultsOf(report), { "nlb-own-security-group": "failed" });
  assert.deepEqual(report.denied, [action]);
  assert.deepEqual(report.left, []);
  assert.equal(status, 1);
  await eventually(() => assert.deepEqual(at.more(), []));
});

test("ended by a signal half-way, it removes what it has made", { timeout: 300_000 }, async (t) => {
  const at = await place(t);
  const stop = new AbortController();
  const running = at.suite(["--yes-it-costs-money", "--timeout=60s", "--cases=clb-source-ranges,nlb-default"], stop.signal);
  await eventually(() => assert.ok(at.more().length > 0, "something was made in AWS"), 60_000);
  stop.abort(new Error("ended by a signal"));
  const { status, report } = await running;
  assert.deepEqual(resultsOf(report), { "clb-source-ranges": "failed" });
  assert.deepEqual(report.left, []);
  assert.equal(status, 1);
  await eventually(() => assert.deepEqual(at.more(), []));
});

test("with one permission denied to the driver it is named, and claims, classes and disks are removed all the same", {
  timeout: 300_000,
}, async (t) => {
  const at = await place(t, true);
  const action = "ec2:CreateVolume";
  at.cloud.controls.change({
    policy: [
      { effect: "allow", actions: ["*"], principals: ["*"] },
      { effect: "deny", actions: [action], principals: ["*"] },
    ],
  });
  const { status, report } = await at.suite(["--yes-it-costs-money", "--timeout=20s", "--cases=volume-life"]);
  assert.deepEqual(resultsOf(report), { "volume-life": "failed" });
  assert.deepEqual(report.denied, [action], JSON.stringify(report));
  assert.deepEqual(report.left, []);
  assert.equal(status, 1);
  await eventually(() => assert.deepEqual(at.more(), []));
});
