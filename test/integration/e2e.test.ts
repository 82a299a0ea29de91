/** The suite for real accounts, whole, on a real API server and the simulated AWS, with the controller manager at work. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testEndToEnd } from "../../src/commands/e2e.ts";
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { compareSnapshots } from "../../src/sandbox/cloud/controls/compare.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { bed, eventually } from "../bed/bed.ts";
import { awsCredentials } from "../bed/controller-manager.ts";

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
async function place(t: TestContext): Promise<Place> {
  const { cluster, controllerManager } = await bed(t);
  const cloud = createCloud({ world: realWorld(), settings: { speed: 100 } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  for (const { id, privateDnsName: name } of launchNodes(cloud, network, 2)) {
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
  const manager = await controllerManager([`--cloud-config=${config}`], { environment: { AWS_ENDPOINT_URL: aws.url } });
  await manager.leads(30_000);
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
        "--skip-pods",
        "--poll-interval=100ms",
        "--output=json",
        ...flags,
      ];
      const status = await testEndToEnd({ argv, world, console, stopSignal: () => signal });
      assert.notEqual(out, "", err);
      return { status, report: JSON.parse(out) as Report, err };
    },
  };
}

const resultsOf = ({ outcomes }: Report) => Object.fromEntries(outcomes.map(({ name, result }) => [name, result]));

test("the suite passes on a real API server and the simulated AWS, and nothing is left", { timeout: 300_000 }, async (t) => {
  const at = await place(t);
  const { status, report, err } = await at.suite(["--yes-it-costs-money", "--timeout=60s"]);
  assert.deepEqual(
    report.outcomes.filter(({ result }) => result === "failed"),
    [],
    err,
  );
  const skipped = report.outcomes.filter(({ result }) => result === "skipped").map(({ name }) => name);
  assert.deepEqual(skipped, ["routes", "ecr-pull"], "routes are off, and there is no container runtime");
  assert.equal(report.outcomes.length, 16);
  assert.deepEqual(report.left, []);
  assert.equal(status, 0);
  await eventually(() => assert.deepEqual(at.more(), []));
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
