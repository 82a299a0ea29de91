/** The controller manager and the termination handler in one cluster: load balancers hear of an interruption before pods do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operate } from "../../src/commands/node-termination-handler/operate.ts";
import { parseOptions } from "../../src/commands/node-termination-handler/options.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { environment, loadSdk } from "../bed/interruption-sdk.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

/** A handler on a queue of the world's account; answers when it first evicted a pod. */
function startHandler(world: ServiceWorld, flags: readonly string[]) {
  const { account } = world.aws;
  const { QueueUrl } = createQueue(account.sqs, { QueueName: "interruptions" });
  const queueArn = `arn:aws:sqs:${account.region}:${account.id}:interruptions`;
  rules(account).put("spot", { name: "spot", sources: ["aws.ec2"], detailTypes: ["EC2 Spot Instance Interruption Warning"], queueArn });
  const evictions: number[] = [];
  const { clock, random, files } = world.world;
  const { log } = openLogs(clock, { format: "json", verbosity: 0, destination: { write() {}, flush() {} } });
  const stop = new AbortController();
  const argv = ["--node-name=n", "--master=http://cluster", "--enable-sqs-termination-draining", `--queue-url=${QueueUrl}`, ...flags];
  const ended = operate({
    options: parseOptions(argv, {}).options,
    host: { world: { clock, random, files, environment, hostname: "handler" }, log, metrics: newRegistry() },
    network: {
      aws: world.aws.handle,
      webhook: world.aws.handle,
      kube: () => ({
        send: (request) => {
          if (request.url.pathname.endsWith("/eviction")) evictions.push(clock.now());
          return world.cluster.send(request);
        },
        close: async () => {},
      }),
    },
    stop: stop.signal,
  });
  ended.catch(() => {});
  return { evictions, stop: () => stop.abort(new Error("over")) };
}

test("the targets of a Node that is to go are deregistered before its first pod is evicted", async (t) => {
  await loadSdk();
  const world = await serviceWorld({ nodes: 2 });
  t.after(() => world.close());
  world.start();
  const [name = ""] = [...world.instances.keys()];
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  await world.say("POST", "/api/v1/namespaces/default/pods", {
    metadata: { name: "web" },
    spec: { nodeName: name, containers: [{ name: "c", image: "i:1" }] },
  });
  const flags = ["--check-tag-before-draining=false", "--exclude-from-load-balancers", "--load-balancer-wait-seconds=20"];
  const handler = startHandler(world, flags);
  t.after(() => handler.stop());
  await world.world.advance(10_000);
  const instance = world.instances.get(name)!;
  interruptSpot(world.aws.account.ec2, world.aws.account.ec2.instances.get(instance.id)!);
  await world.until("the pod is evicted", () => handler.evictions.length > 0, 60_000);
  const deregistered = world.aws.controls.journal.entries().find(({ action }) => action === "elasticloadbalancing:DeregisterTargets");
  assert.ok(deregistered, "it was deregistered");
  assert.ok(deregistered.time < handler.evictions[0]!, `${deregistered.time} before ${handler.evictions[0]}`);
});
