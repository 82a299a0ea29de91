/** A program with load balancers and the termination handler in one cluster: load balancers hear of an interruption before pods do. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { operate } from "../../src/commands/node-termination-handler/operate.ts";
import { parseOptions } from "../../src/commands/node-termination-handler/options.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import type { JournalEntry } from "../../src/sandbox/cloud/controls/journal.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { classWorld } from "../bed/class-world.ts";
import { environment, loadSdk } from "../bed/interruption-sdk.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

/** What the worlds of all doors have. */
type Place = Pick<ServiceWorld, "world" | "aws" | "cluster" | "until"> & {
  say(method: string, path: string, body: object): Promise<unknown>;
};

/** A cluster whose first Node has a pod and is a target of a load balancer of this door. */
interface Scene {
  readonly place: Place;
  readonly node: string;
  readonly instanceId: string;
}

const doors: Readonly<Record<string, (t: TestContext) => Promise<Scene>>> = {
  "the controller manager's network load balancer": (t) => ofManager(t, { type: "nlb" }),
  "the controller manager's classic load balancer": (t) => ofManager(t, {}),
  "the load balancer controller's, with instances as targets": async (t) => {
    const place = await classWorld();
    t.after(() => place.close());
    place.serve();
    await place.classService("web", { "nlb-target-type": "instance" }, { ports: [{ port: 80, nodePort: 30_080 }] }, 0);
    await place.settled("web");
    const [node = "", instanceId = ""] = [...place.nodes][0]!;
    return { place, node, instanceId };
  },
};

async function ofManager(t: TestContext, annotations: Readonly<Record<string, string>>): Promise<Scene> {
  const place = await serviceWorld({ nodes: 2 });
  t.after(() => place.close());
  place.start();
  await place.create("web", { annotations });
  await place.published("web");
  const [node = "", instance] = [...place.instances][0]!;
  return { place, node, instanceId: instance!.id };
}

const deregistrations = ["elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:DeregisterInstancesFromLoadBalancer"];

/** Interrupts the Node of a scene under a handler with these flags: when each thing happened, from the notice on. */
async function interrupted(t: TestContext, { place, node, instanceId }: Scene, flags: readonly string[], beforehand = () => {}) {
  const { account, controls } = place.aws;
  await place.say("POST", "/api/v1/namespaces/default/pods", {
    metadata: { name: "interrupted" },
    spec: { nodeName: node, containers: [{ name: "c", image: "i:1" }] },
  });
  const { QueueUrl } = createQueue(account.sqs, { QueueName: "interruptions" });
  const queueArn = `arn:aws:sqs:${account.region}:${account.id}:interruptions`;
  rules(account).put("spot", { name: "spot", sources: ["aws.ec2"], detailTypes: ["EC2 Spot Instance Interruption Warning"], queueArn });
  const evictions = startHandler(t, place, [`--queue-url=${QueueUrl}`, ...flags]);
  await place.world.advance(10_000);
  const told = place.world.clock.now();
  beforehand();
  interruptSpot(account.ec2, account.ec2.instances.get(instanceId)!);
  await place.until("the pod is evicted", () => evictions.length > 0, 110_000);
  await place.world.advance(30_000);
  const left = controls.journal
    .entries()
    .filter(({ action, time, result }) => deregistrations.includes(action) && result === "ok" && time >= told);
  return { evictedMs: evictions[0]! - told, left, leftMs: left.map(({ time }) => time - told) };
}

/** A handler on a queue of the account; answers when pods were evicted. */
function startHandler(
  t: TestContext,
  { world: { clock, random, files }, aws, cluster }: Place,
  flags: readonly string[],
): readonly number[] {
  const evictions: number[] = [];
  const { log } = openLogs(clock, { format: "json", verbosity: 0, destination: { write() {}, flush() {} } });
  const stop = new AbortController();
  t.after(() => stop.abort(new Error("over")));
  const argv = ["--node-name=n", "--master=http://cluster", "--enable-sqs-termination-draining", "--check-tag-before-draining=false"];
  const ended = operate({
    options: parseOptions([...argv, ...flags], {}).options,
    host: { world: { clock, random, files, environment, hostname: "handler" }, log, metrics: newRegistry() },
    network: {
      aws: aws.handle,
      webhook: aws.handle,
      kube: () => ({
        send: (request) => {
          if (request.url.pathname.endsWith("/eviction")) evictions.push(clock.now());
          return cluster.send(request);
        },
        close: async () => {},
      }),
    },
    stop: stop.signal,
  });
  ended.catch(() => {});
  return evictions;
}

/** The instances that a call takes out of a load balancer. */
function instancesIn({ input }: JournalEntry): readonly string[] {
  const { Targets = [], Instances = [] } = input as { Targets?: readonly { Id: string }[]; Instances?: readonly { InstanceId: string }[] };
  return [...Targets.map(({ Id }) => Id), ...Instances.map(({ InstanceId }) => InstanceId)];
}

const waiting = ["--exclude-from-load-balancers", "--load-balancer-wait-seconds=20"];

for (const [door, scene] of Object.entries(doors)) {
  test(`${door}: the Node that is to go is deregistered before its first pod is evicted, and no other is`, async (t) => {
    await loadSdk();
    const story = await scene(t);
    const { evictedMs, left, leftMs } = await interrupted(t, story, waiting);
    assert.deepEqual([...new Set(left.flatMap(instancesIn))], [story.instanceId]);
    assert.ok(leftMs[0]! < evictedMs, `deregistered after ${leftMs[0]} ms, evicted after ${evictedMs} ms`);
    assert.ok(evictedMs >= 20_000 && evictedMs < 25_000, `${evictedMs} ms`);
  });
}

test("an AWS that refuses for a while: the wait outlasts it, and the order stays", async (t) => {
  await loadSdk();
  const story = await doors["the controller manager's network load balancer"]!(t);
  const refuse = () => {
    const fault = { kind: "fail", code: "ServiceUnavailable", status: 503 } as const;
    const { faults } = story.place.aws.controls;
    const id = faults.add({ action: "elasticloadbalancing:*", effect: fault });
    story.place.world.clock.after(8_000, () => faults.remove(id));
  };
  const { evictedMs, leftMs } = await interrupted(t, story, ["--exclude-from-load-balancers", "--load-balancer-wait-seconds=35"], refuse);
  assert.ok(leftMs[0]! >= 8_000 && leftMs[0]! < evictedMs, `deregistered after ${leftMs[0]} ms, evicted after ${evictedMs} ms`);
});

test("an AWS that never answers: pods go all the same, after a third of the time there is", async (t) => {
  await loadSdk();
  const story = await doors["the controller manager's network load balancer"]!(t);
  const refuse = () => {
    const fault = { kind: "fail", code: "ServiceUnavailable", status: 503 } as const;
    story.place.aws.controls.faults.add({ action: "elasticloadbalancing:*", effect: fault });
  };
  const { evictedMs, leftMs } = await interrupted(t, story, ["--exclude-from-load-balancers", "--load-balancer-wait-seconds=90"], refuse);
  assert.deepEqual(leftMs, []);
  assert.ok(evictedMs >= 38_000 && evictedMs <= 42_000, `${evictedMs} ms of 120 s`);
});

test("without the wait the Node is deregistered too, and its pods do not wait for it", async (t) => {
  await loadSdk();
  const { evictedMs, leftMs } = await interrupted(t, await doors["the controller manager's network load balancer"]!(t), [waiting[0]!]);
  assert.ok(evictedMs < 2_000 && leftMs.length > 0, `evicted after ${evictedMs} ms, deregistered after ${leftMs[0]} ms`);
});
