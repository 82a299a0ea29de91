/** The reference's termination handler and ours are told the same on a real API server: Nodes, hooks and queues end the same. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { nodes, pods } from "../../src/kube/builtin.ts";
import type { Node } from "../../src/kube/types.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { putLifecycleHook } from "../../src/sandbox/cloud/autoscaling/hooks.ts";
import { terminateInstanceInAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/instances.ts";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { stop } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { createQueue, getQueueAttributes } from "../../src/sandbox/cloud/sqs/queues.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { type Bed, bed, eventually } from "../bed/bed.ts";
import { referenceTerminationHandler } from "./reference.ts";

const managed = { "aws-node-termination-handler/managed": "" };
const patienceMs = 60_000;
/** A mount of its own takes root. */
const skip = process.getuid?.() === 0 ? false : "the reference reads /var/run/secrets, which only root can make for it alone";

/** How a handler is started: with these flags, in this environment. */
type Start = (t: TestContext, bed: Bed, name: string, flags: readonly string[], aws: string) => Promise<void>;

/** What can be seen of a Node, a hook and a queue in the end. */
interface Outcome {
  readonly unschedulable: boolean;
  readonly taints: readonly string[];
  readonly labels: readonly string[];
  readonly pods: readonly string[];
}

const reference: Start = async (t, { cluster }, name, flags, aws) => {
  const program = await referenceTerminationHandler();
  const { folder, supervision, apiserver } = cluster.real;
  const account = await cluster.account("reference-handler", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
  const config = parse(await (await realWorld().files.read(await account.kubeconfig())).toString()) as {
    clusters: { cluster: { "certificate-authority-data": string } }[];
  };
  const secrets = join(folder, `secrets-${name}`);
  await mkdir(secrets, { recursive: true });
  await writeFile(join(secrets, "token"), account.token);
  await writeFile(join(secrets, "ca.crt"), Buffer.from(config.clusters[0]!.cluster["certificate-authority-data"], "base64"));
  // It reads its service account from one place only, which is made for it alone.
  const place = "/run/secrets/kubernetes.io/serviceaccount";
  const script = `mount -t tmpfs none /run && mkdir -p ${place} && cp "$0"/* ${place}/ && exec "$@"`;
  const { hostname, port } = apiserver.url;
  const child = await supervision.start("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script, secrets, program, ...flags], {
    log: join(folder, `${name}.log`),
    folder,
    environment: { ...aws_(aws), PATH: process.env.PATH ?? "", KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
  });
  t.after(async () => {
    child.signal("SIGKILL");
    await child.exit();
  });
};

const ours: Start = async (_, { cluster, fairlead }, _name, flags, aws) => {
  const account = await cluster.account("our-handler", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
  await fairlead(["node-termination-handler", `--kubeconfig=${await account.kubeconfig()}`, ...flags], { environment: aws_(aws) });
};

function aws_(endpoint: string): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: "AKIAREFERENCE",
    AWS_SECRET_ACCESS_KEY: "of-no-worth",
    AWS_REGION: "us-east-1",
    AWS_EC2_METADATA_DISABLED: "true",
    ...(endpoint === "" ? {} : { AWS_ENDPOINT: endpoint }),
  };
}

/** A cloud with instances, their Nodes, and a pod on each. */
async function world(t: TestContext, { cluster }: Bed, count: number) {
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "judged" });
  const { ec2 } = cloud.account;
  const made = launchNodes(cloud, network, count).map(({ id }) =>
    ec2.instances.update(id, { state: "running", tags: { ...ec2.instances.get(id)!.tags, ...managed } }),
  );
  const namespace = await cluster.namespace();
  const join_ = async (instance: Instance) => {
    await cluster.admin.create(nodes, {
      metadata: { name: instance.privateDnsName, labels: { "kubernetes.io/hostname": instance.privateDnsName } },
      spec: { providerID: `aws:///${instance.zone}/${instance.id}` },
    });
    await cluster.admin.create(pods, {
      metadata: { name: `web-${instance.id}`, namespace },
      spec: {
        nodeName: instance.privateDnsName,
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "i:1" }],
      },
    });
  };
  for (const instance of made) await join_(instance);
  const over = new AbortController();
  t.after(() => over.abort());
  void kubelets(cluster.admin, namespace, over.signal);
  const outcome = async (instance: Instance): Promise<Outcome> => {
    const node = await cluster.admin.get(nodes, { name: instance.privateDnsName });
    const { items } = await cluster.admin.list(pods, { namespace, fieldSelector: `spec.nodeName=${instance.privateDnsName}` });
    return { ...marks(node), pods: items.map(({ metadata }) => metadata.name) };
  };
  return { cloud, network, ec2, instances: made, join: join_, outcome };
}

/** A pod that is to go is gone at once. */
async function kubelets(admin: Bed["cluster"]["admin"], namespace: string, signal: AbortSignal): Promise<void> {
  const { clock } = realWorld();
  while (!signal.aborted) {
    const { items } = await admin.list(pods, { namespace }).catch(() => ({ items: [] }));
    for (const { metadata } of items) {
      if (metadata.deletionTimestamp === undefined) continue;
      await admin.delete(pods, { namespace, name: metadata.name }, { gracePeriodSeconds: 0 }).catch(() => {});
    }
    await sleep(clock, 300, signal).catch(() => {});
  }
}

/** What a handler leaves on a Node, without the ids of events, which are each told once. */
function marks({ metadata, spec }: Node): Omit<Outcome, "pods"> {
  const own = (key: string) =>
    key.startsWith("aws-node-termination-handler/") || key.includes("exclude-from-external") || key.includes("out-of-service");
  return {
    unschedulable: spec?.unschedulable ?? false,
    taints: (spec?.taints ?? [])
      .filter(({ key }) => own(key))
      .map(({ key, effect }) => `${key}:${effect}`)
      .sort(),
    labels: Object.keys(metadata?.labels ?? {})
      .filter(own)
      .sort(),
  };
}

function messages(cloud: Cloud, QueueUrl: string): number {
  const { Attributes } = getQueueAttributes(cloud.account.sqs, { QueueUrl, AttributeNames: ["All"] });
  return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible);
}

/** The same story with each of the two; the first leaves nothing behind for the second. */
async function both<T>(t: TestContext, story: (t: TestContext, start: Start, name: string) => Promise<T>): Promise<[T, T]> {
  const told: T[] = [];
  for (const [name, start] of Object.entries({ reference, ours })) {
    await t.test(name, async (inner) => void told.push(await story(inner, start, `${name}-${story.name}`)));
  }
  assert.equal(told.length, 2, "both came to an end");
  return told as [T, T];
}

const marking = ["--taint-node", "--exclude-from-load-balancers", "--enable-out-of-service-taint"];

/** All kinds of messages at once, each about a Node of its own. */
async function queueStory(t: TestContext, start: Start, name: string) {
  const lain = await bed(t);
  const { cloud, network, ec2, instances, join: joins, outcome } = await world(t, lain, 5);
  const [spot, rebalance, maintenance, stopping, untouched] = instances as [Instance, Instance, Instance, Instance, Instance];
  const as = autoScalingOf(cloud.account);
  createAutoScalingGroup(as, {
    AutoScalingGroupName: "workers",
    VPCZoneIdentifier: network.privateSubnetIds.join(","),
    MinSize: 0,
    MaxSize: 5,
    DesiredCapacity: 0,
    launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large", MinCount: 1, MaxCount: 1 },
  });
  putLifecycleHook(as, {
    AutoScalingGroupName: "workers",
    LifecycleHookName: "drain",
    LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
  });
  const [held] = launchNodes(cloud, network, 1).map(({ id }) =>
    ec2.instances.update(id, { state: "running", tags: { ...ec2.instances.get(id)!.tags, ...managed } }),
  ) as [Instance];
  await joins(held);
  as.members.put(held.id, {
    instanceId: held.id,
    group: "workers",
    zone: held.zone,
    type: held.type,
    state: "InService",
    healthy: true,
    protected: false,
    launched: 0,
  });
  as.groups.update("workers", { desired: 1 });
  const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "events" });
  const queueArn = `arn:aws:sqs:us-east-1:${cloud.account.id}:events`;
  rules(cloud.account).put("all", { name: "all", sources: ["aws.ec2", "aws.health", "aws.autoscaling"], queueArn });
  const served = await serve(cloud);
  t.after(() => served.close());
  const flags = [
    "--node-name=handler",
    "--enable-sqs-termination-draining",
    `--queue-url=${QueueUrl}`,
    "--aws-region=us-east-1",
    ...marking,
  ];
  await start(t, lain, name, flags, served.url);
  await eventually(() => assert.ok(cloud.controls.journal.calls("sqs:ReceiveMessage") + cloud.account.sqs.arrivals.size > 0), patienceMs);
  interruptSpot(ec2, ec2.instances.get(spot.id)!);
  recommendRebalance(ec2, ec2.instances.get(rebalance.id)!);
  scheduleMaintenance(ec2, ec2.instances.get(maintenance.id)!, {
    code: "system-reboot",
    description: "why",
    notBefore: Date.now() + 3_600_000,
  });
  stop(ec2, ec2.instances.get(stopping.id)!);
  terminateInstanceInAutoScalingGroup(as, { InstanceId: held.id, ShouldDecrementDesiredCapacity: true });
  await eventually(() => {
    cloud.account.time.settle();
    assert.notEqual(as.members.get(held.id)?.state, "Terminating:Wait");
  }, patienceMs);
  await eventually(() => assert.equal(messages(cloud, QueueUrl), 0), patienceMs);
  // The reference marks a Node out of service last of all.
  await sleep(realWorld().clock, 1_000);
  const seen = { spot, rebalance, maintenance, stopping, held, untouched };
  const outcomes = await Promise.all(Object.entries(seen).map(async ([kind, instance]) => [kind, await outcome(instance)] as const));
  const hooks = cloud.controls.journal.counts()["autoscaling:CompleteLifecycleAction"];
  return {
    outcomes: Object.fromEntries(outcomes.map(([kind, each]) => [kind, { ...each, pods: each.pods.length }])),
    hooks,
    messages: messages(cloud, QueueUrl),
  };
}

test("queue mode: every kind of message ends with the same Nodes, hooks and queue", { timeout: 300_000, skip }, async (t) => {
  const [theirs, mine] = await both(t, queueStory);
  assert.equal(theirs.outcomes.spot?.unschedulable, true, "the reference did its work");
  assert.deepEqual(mine, theirs);
});

/** Each kind of notice on a machine of its own, with a handler of its own. */
async function metadataStory(t: TestContext, start: Start, name: string) {
  const lain = await bed(t);
  const { cloud, ec2, instances, outcome } = await world(t, lain, 4);
  const [spot, rebalance, maintenance, termination] = instances as [Instance, Instance, Instance, Instance];
  for (const [index, instance] of instances.entries()) {
    const served = await serveTransport(cloud.imds(instance.id));
    t.after(() => served.close());
    const flags = [
      `--node-name=${instance.privateDnsName}`,
      `--metadata-url=${served.url}`,
      "--enable-asg-lifecycle-draining",
      "--enable-rebalance-draining",
      ...marking,
    ];
    await start(t, lain, `${name}-${index}`, flags, "");
  }
  interruptSpot(ec2, ec2.instances.get(spot.id)!);
  recommendRebalance(ec2, ec2.instances.get(rebalance.id)!);
  scheduleMaintenance(ec2, ec2.instances.get(maintenance.id)!, {
    code: "system-reboot",
    description: "why",
    notBefore: Date.now() + 3_600_000,
  });
  autoScalingOf(cloud.account).members.put(termination.id, {
    instanceId: termination.id,
    group: "g",
    zone: termination.zone,
    type: termination.type,
    state: "Terminating:Wait",
    healthy: true,
    protected: false,
    launched: 0,
  });
  const all = { spot, rebalance, maintenance, termination };
  const seen = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(all).map(async ([kind, instance]) => {
          const each = await outcome(instance);
          return [kind, { ...each, pods: each.pods.length }] as const;
        }),
      ),
    );
  await eventually(async () => {
    for (const [kind, { pods: left, taints }] of Object.entries(await seen())) {
      assert.equal(left, 0, kind);
      assert.ok(
        taints.some((taint) => taint.includes("out-of-service")),
        kind,
      );
    }
  }, patienceMs);
  return seen();
}

test("metadata mode: every kind of notice ends with the same Node", { timeout: 300_000, skip }, async (t) => {
  const [theirs, mine] = await both(t, metadataStory);
  assert.deepEqual(mine, theirs);
});
