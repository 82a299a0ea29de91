/** The termination handler on a real API server, under the roles that the chart gives it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { interruptionPlanAnnotation } from "../../src/identity/node-view.ts";
import { readPlan } from "../../src/interruptions/plan.ts";
import { nodes, pods } from "../../src/kube/builtin.ts";
import { resource } from "../../src/kube/resource.ts";
import type { PodDisruptionBudget } from "../../src/kube/types.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { createQueue, getQueueAttributes } from "../../src/sandbox/cloud/sqs/queues.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { type Bed, bed, eventually } from "../bed/bed.ts";
import { shippedRules } from "../bed/shipped-rules.ts";

const budgets = resource<PodDisruptionBudget>({
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
});
const environment = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_REGION: "us-east-1" };

async function story(t: TestContext, { cluster }: Bed, count: number) {
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "test" });
  const { ec2 } = cloud.account;
  const instances = launchNodes(cloud, network, count).map(({ id }) => ec2.instances.update(id, { state: "running", spot: true }));
  const namespace = await cluster.namespace();
  for (const { privateDnsName: name, zone, id } of instances) {
    await cluster.admin.create(nodes, { metadata: { name }, spec: { providerID: `aws:///${zone}/${id}` } });
  }
  const over = new AbortController();
  t.after(() => over.abort());
  void kubelets(cluster.admin, namespace, over.signal);
  return {
    cloud,
    ec2,
    instances,
    namespace,
    async pod(name: string, { privateDnsName }: Instance, labels: Record<string, string> = {}) {
      const containers = [{ name: "c", image: "i:1" }];
      const spec = { nodeName: privateDnsName, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers };
      await cluster.admin.create(pods, { metadata: { name, namespace, labels }, spec });
      const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await cluster.admin.patch(pods, { name, namespace, subresource: "status" }, { strategic: { status } });
    },
    podsOf: async ({ privateDnsName }: Instance) =>
      (await cluster.admin.list(pods, { namespace, fieldSelector: `spec.nodeName=${privateDnsName}` })).items.map(
        ({ metadata }) => metadata.name,
      ),
    planOf: async ({ privateDnsName }: Instance) =>
      readPlan((await cluster.admin.get(nodes, { name: privateDnsName })).metadata.annotations?.[interruptionPlanAnnotation]),
  };
}

async function kubelets(admin: Bed["cluster"]["admin"], namespace: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { items } = await admin.list(pods, { namespace }).catch(() => ({ items: [] }));
    for (const { metadata } of items) {
      if (metadata.deletionTimestamp === undefined) continue;
      await admin.delete(pods, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 }).catch(() => {});
    }
    await sleep(realWorld().clock, 200, signal).catch(() => {});
  }
}

test("queue mode drains a Node whose pods have a disruption budget, under the roles of the chart", async (t) => {
  const lain = await bed(t);
  const { cluster, fairlead } = lain;
  const { cloud, ec2, instances, namespace, pod, podsOf, planOf } = await story(t, lain, 2);
  const [hit, other] = instances as [Instance, Instance];
  for (const instance of [hit, other]) {
    await pod(`web-${instance.id}`, instance);
    await pod(`db-${instance.id}`, instance, { app: "db" });
  }
  const allow = (disruptionsAllowed: number) => ({
    status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1 + disruptionsAllowed, desiredHealthy: 1, expectedPods: 2 },
  });
  await cluster.admin.create(budgets, {
    metadata: { name: "db", namespace },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "db" } } },
  });
  await cluster.admin.patch(budgets, { name: "db", namespace, subresource: "status" }, { merge: allow(0) });
  const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "events" });
  rules(cloud.account).put("all", { name: "all", sources: ["aws.ec2"], queueArn: `arn:aws:sqs:us-east-1:${cloud.account.id}:events` });
  const served = await serve(cloud);
  t.after(() => served.close());
  const account = await cluster.account("termination-queue", ...(await shippedRules("node-termination-handler-queue.yaml")));
  const handler = await fairlead(
    [
      "node-termination-handler",
      `--kubeconfig=${await account.kubeconfig()}`,
      "--node-name=handler",
      "--enable-sqs-termination-draining",
      `--queue-url=${QueueUrl}`,
      `--aws-endpoint=${served.url}`,
      "--check-tag-before-draining=false",
    ],
    { environment },
  );
  await handler.says(/has started successfully/);
  interruptSpot(ec2, ec2.instances.get(hit.id)!);
  await eventually(async () => assert.deepEqual(await podsOf(hit), [`db-${hit.id}`]));
  assert.equal((await planOf(hit))?.phase, "draining");
  await cluster.admin.patch(budgets, { name: "db", namespace, subresource: "status" }, { merge: allow(1) });
  await eventually(async () => assert.equal((await planOf(hit))?.phase, "ended"));
  const { Attributes } = getQueueAttributes(cloud.account.sqs, { QueueUrl, AttributeNames: ["All"] });
  assert.deepEqual(await podsOf(hit), []);
  assert.equal((await podsOf(other)).length, 2);
  await eventually(() => assert.equal(Number(Attributes.ApproximateNumberOfMessages), 0));
  assert.doesNotMatch(await handler.logs(), /forbidden/i);
  handler.signal("SIGTERM");
  assert.equal((await handler.exit()).code, 0);
});

test("metadata mode drains its own Node, under the roles of the chart", async (t) => {
  const lain = await bed(t);
  const { cluster, fairlead } = lain;
  const { cloud, ec2, instances, pod, podsOf, planOf } = await story(t, lain, 1);
  const [own] = instances as [Instance];
  await pod("web", own);
  const served = await serveTransport(cloud.imds(own.id));
  t.after(() => served.close());
  const account = await cluster.account("termination-metadata", ...(await shippedRules("node-termination-handler.yaml")));
  const flags = [`--kubeconfig=${await account.kubeconfig()}`, `--node-name=${own.privateDnsName}`, `--metadata-url=${served.url}`];
  const handler = await fairlead(["node-termination-handler", ...flags]);
  await handler.says(/has started successfully/);
  interruptSpot(ec2, ec2.instances.get(own.id)!);
  await eventually(async () => assert.equal((await planOf(own))?.phase, "ended"));
  assert.deepEqual(await podsOf(own), []);
  assert.doesNotMatch(await handler.logs(), /forbidden/i);
});
