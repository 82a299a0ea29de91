/** The Events of the termination handler: about which objects, with which annotations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../../src/kube/types.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const told = (w: InterruptionWorld) => w.cluster.objects("events") as unknown as readonly Event[];
const ofReason = (w: InterruptionWorld, reason: string) => told(w).filter((event) => event.reason === reason);

/** As the name of the machine has it. */
const addressOf = (name: string) => /^ip-([\d-]+)/.exec(name)![1]!.replaceAll("-", ".");

async function bed() {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  const labels = { "topology.kubernetes.io/zone": node!.zone, "topology.kubernetes.io/region": "us-east-1" };
  await w.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { ...labels, "node.kubernetes.io/instance-type": "m5.large" } } });
  const addresses = [{ type: "InternalIP", address: addressOf(name) }];
  await w.say("PATCH", `/api/v1/nodes/${name}/status`, { status: { addresses } });
  await w.pod({ name: "web", node: name, labels: { app: "web" }, endsAfterMs: 1_000 });
  await w.pod({ name: "static", node: name, mirror: true });
  const interrupt = () => interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(node!.id)!);
  return { w, node: node!, name, interrupt };
}

test("queue mode: Events about a Node say which instance it is, and carry what a user adds; addresses can be replaced, the rest not", async () => {
  const { w, node, name, interrupt } = await bed();
  w.queueHandler(["--kubernetes-events-extra-annotations=team=a,public-ipv4=none,region=elsewhere"]);
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interrupt();
  await w.until("it is drained", () => w.events(name).includes("PostDrain"), 30_000);
  for (const reason of ["SpotInterruption", "PreDrain", "CordonAndDrain", "PostDrain"]) {
    assert.deepEqual(ofReason(w, reason)[0]?.metadata.annotations, {
      "account-id": "",
      "availability-zone": node.zone,
      "instance-id": node.id,
      "instance-type": "m5.large",
      "local-hostname": name,
      "local-ipv4": addressOf(name),
      "public-hostname": "",
      "public-ipv4": "none",
      region: "us-east-1",
      team: "a",
    });
  }
  assert.deepEqual(ofReason(w, "CordonAndDrain")[0]?.source, { component: "aws-node-termination-handler", host: "handler-a" });
  w.close();
});

test("metadata mode: the annotations are what the metadata service says of the machine", async () => {
  const { w, node, name, interrupt } = await bed();
  w.metadataHandler(node, ["--kubernetes-events-extra-annotations=region=mine"]);
  await w.world.advance(5_000);
  interrupt();
  await w.until("it is drained", () => w.events(name).includes("PostDrain"), 30_000);
  const annotations = ofReason(w, "SpotInterruption")[0]?.metadata.annotations;
  assert.deepEqual(annotations, {
    "account-id": w.aws.account.id,
    "availability-zone": node.zone,
    "instance-id": node.id,
    "instance-life-cycle": "spot",
    "instance-type": node.type,
    "local-hostname": node.privateDnsName,
    "local-ipv4": addressOf(name),
    "public-hostname": "",
    "public-ipv4": "",
    region: "mine",
  });
  w.close();
});

test("every pod of a Node that is drained is told of once, in its own namespace, with its labels", async () => {
  const { w, name, interrupt } = await bed();
  w.queueHandler();
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interrupt();
  await w.until("it is drained", () => w.events(name).includes("PostDrain"), 30_000);
  const evictions = ofReason(w, "PodEviction");
  assert.deepEqual(evictions.map(({ involvedObject, count }) => [involvedObject.kind, involvedObject.name, count]).sort(), [
    ["Pod", "static", 1],
    ["Pod", "web", 1],
  ]);
  const web = evictions.find(({ involvedObject }) => involvedObject.name === "web");
  assert.equal(web?.metadata.namespace, "default");
  assert.equal(web?.message, `Pod evicted due to node drain (node ${name})`);
  assert.deepEqual(web?.metadata.annotations, { node: name, app: "web" });
  w.close();
});

test("labels and taints that somebody refuses are told of, and the Node is drained without them", async () => {
  const { w, name, interrupt } = await bed();
  const send = w.cluster.send.bind(w.cluster);
  const refusing: typeof send = async (request) => {
    const touches = request.method === "PATCH" && /\/nodes\//.test(request.url.pathname) && String(request.body).includes("taints");
    if (!touches) return send(request);
    const status = { kind: "Status", code: 403, reason: "Forbidden", message: "taints are for others" };
    return { status: 403, headers: {}, body: [Buffer.from(JSON.stringify(status))] as never };
  };
  Object.defineProperty(w.cluster, "send", { value: refusing });
  w.queueHandler(["--taint-node"]);
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interrupt();
  await w.until("it is drained", () => w.events(name).includes("PostDrain"), 30_000);
  assert.deepEqual(w.eventMessages("PreDrain"), [], "it is not said to have succeeded");
  assert.match(w.eventMessages("PreDrainError")[0] ?? "", /^There was a problem executing the pre-drain task: taints are for others/);
  assert.ok(w.isCordoned(name));
  assert.ok(!w.node(name)?.spec?.taints?.some(({ key }) => key?.startsWith("aws-node-termination-handler/")));
  w.close();
});

test("a Node that may not be written is told of, and drained as soon as it may", async () => {
  const { w, name, interrupt } = await bed();
  const send = w.cluster.send.bind(w.cluster);
  let refuses = true;
  const refusing: typeof send = async (request) => {
    if (!refuses || request.method !== "PATCH" || !/\/nodes\/[^/]+$/.test(request.url.pathname)) return send(request);
    const status = { kind: "Status", code: 403, reason: "Forbidden", message: "nodes are not yours" };
    return { status: 403, headers: {}, body: [Buffer.from(JSON.stringify(status))] as never };
  };
  Object.defineProperty(w.cluster, "send", { value: refusing });
  w.queueHandler();
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interrupt();
  await w.until("it says so", () => w.eventMessages("CordonAndDrainError").length > 0, 10_000);
  assert.match(w.eventMessages("CordonAndDrainError")[0] ?? "", /trying to cordon and drain the node: nodes are not yours/);
  refuses = false;
  await w.until("it is drained", () => w.events(name).includes("PostDrain"), 60_000);
  w.close();
});

test("an out-of-service taint that somebody refuses is told of: volumes stay attached until then", async () => {
  const { w, name, interrupt } = await bed();
  const send = w.cluster.send.bind(w.cluster);
  const refusing: typeof send = async (request) => {
    if (request.method !== "PATCH" || !String(request.body).includes("out-of-service")) return send(request);
    const status = { kind: "Status", code: 403, reason: "Forbidden", message: "taints are for others" };
    return { status: 403, headers: {}, body: [Buffer.from(JSON.stringify(status))] as never };
  };
  Object.defineProperty(w.cluster, "send", { value: refusing });
  w.queueHandler(["--enable-out-of-service-taint"]);
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  interrupt();
  await w.until("it has ended", () => w.plan(name)?.phase === "ended", 30_000);
  await w.world.advance(2_000);
  assert.deepEqual(w.eventMessages("PostDrain"), [], "it is not said to have succeeded");
  assert.match(w.eventMessages("PostDrainError")[0] ?? "", /^There was a problem executing the post-drain task: taints are for others/);
  w.close();
});

test("a hook that may not be completed is told of, and completed as soon as it may", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 1);
  const [instance] = group.instances;
  const allow = w.aws.controls.deny("autoscaling:CompleteLifecycleAction");
  const handler = w.queueHandler();
  await w.until("it polls", () => w.aws.account.sqs.arrivals.size === 1);
  group.end(instance!.id);
  await w.until("it says so", () => w.eventMessages("PostDrainError").length > 0, 30_000);
  assert.match(
    w.eventMessages("PostDrainError")[0] ?? "",
    /^There was a problem executing the post-drain task: .*autoscaling:CompleteLifecycleAction/,
  );
  await w.world.advance(60_000);
  assert.equal(w.eventMessages("PostDrainError").length, 1, "the same is said once");
  assert.match(await handler.metrics(), /actions_total\{node_action="post-drain",node_status="error"/);
  allow();
  await w.until("it is completed", () => group.state(instance!.id) === "Terminating:Proceed", 60_000);
  w.close();
});
