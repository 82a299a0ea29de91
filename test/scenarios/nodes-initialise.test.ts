import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type NodeWorld, type NodeWorldOptions, nodeWorld, uninitialized } from "../bed/node-world.ts";

async function bed(t: TestContext, options?: NodeWorldOptions): Promise<NodeWorld> {
  const world = await nodeWorld(options);
  t.after(() => world.close());
  return world;
}

const condition = (world: NodeWorld, name: string) =>
  world.node(name)?.status?.conditions?.find(({ type }) => type === "CloudProviderInitialized");

test("a tainted node gets provider ID, six labels, zone id and addresses, loses the taint and no other, and says so", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const dedicated = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
  const twice = [uninitialized, { key: uninitialized.key, effect: "NoExecute" }];
  const name = await world.join(instance!, { providerID: "", taints: [...twice, dedicated] });
  const { metrics } = world.start();
  await world.until("the node is initialised", () => world.isInitialized(name) && world.events(name).length > 0);

  const { metadata, spec, status } = world.node(name)!;
  assert.equal(spec?.providerID, `aws:///${instance!.zone}/${instance!.id}`);
  assert.deepEqual(
    spec?.taints?.map(({ key }) => key),
    ["dedicated", "node.kubernetes.io/not-ready"],
  );
  assert.deepEqual(metadata?.labels, {
    "beta.kubernetes.io/instance-type": "m5.large",
    "node.kubernetes.io/instance-type": "m5.large",
    "failure-domain.beta.kubernetes.io/zone": instance!.zone,
    "topology.kubernetes.io/zone": instance!.zone,
    "failure-domain.beta.kubernetes.io/region": "us-east-1",
    "topology.kubernetes.io/region": "us-east-1",
    "topology.k8s.aws/zone-id": instance!.zoneId,
  });
  assert.deepEqual(
    status?.addresses?.map(({ type, address }) => `${type}=${address}`),
    ["InternalIP=10.0.32.4", `InternalDNS=${name}`, `Hostname=${name}`],
  );
  assert.deepEqual(world.events(name), ["Normal Synced: Node synced successfully"]);
  assert.deepEqual(
    world.writes.map(({ method, path }) => `${method} ${path}`),
    [`PATCH /api/v1/nodes/${name}`, `PATCH /api/v1/nodes/${name}/status`],
  );
  const exposed = await metrics();
  assert.match(exposed, /node_controller_initial_node_sync_delay_seconds_count 1/);
  assert.match(exposed, /node_controller_cloud_provider_taint_removal_delay_seconds_bucket\{le="1024"\} 1/);
});

test("a node without the taint is left alone, and an existing provider ID is kept as it was written", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  const plain = await world.join(first!, { taints: [] });
  const odd = await world.join(second!, { providerID: `aws:////${second!.id}` });
  world.start("--controllers=cloud-node");
  await world.until("the odd one is initialised", () => world.isInitialized(odd));
  assert.equal(world.node(odd)?.spec?.providerID, `aws:////${second!.id}`);
  assert.deepEqual(world.node(plain)?.metadata?.labels ?? {}, {});
});

test("labels of the place overwrite what is there; additional labels never do", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const labels = { "topology.kubernetes.io/zone": "elsewhere", "topology.k8s.aws/zone-id": "mine" };
  const name = await world.join(instance!, { labels });
  world.start();
  await world.until("initialised", () => world.isInitialized(name));
  assert.equal(world.node(name)?.metadata?.labels?.["topology.kubernetes.io/zone"], instance!.zone);
  assert.equal(world.node(name)?.metadata?.labels?.["topology.k8s.aws/zone-id"], "mine");
});

test("a conflict with the kubelet is resolved on the newest state, and nothing of the kubelet's is lost", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  let meddled = false;
  world.cluster.faults.add({
    match: ({ method, url, headers }) => {
      if (method !== "PATCH" || !url.pathname.endsWith(name) || headers["user-agent"] === "kubelet" || meddled) return false;
      meddled = true;
      void world.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { theirs: "kept" } } });
      return true;
    },
    effect: { kind: "delay", ms: 50 },
  });
  world.start();
  await world.until("initialised", () => world.isInitialized(name));
  assert.equal(world.node(name)?.metadata?.labels?.theirs, "kept");
  assert.deepEqual(
    world.writes.filter(({ path }) => path.endsWith(name)).map(({ status }) => status),
    [409, 200],
  );
});

test("why a node waits is on the node from the first failed try, with code, request id and next try, and clears by itself", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  const allow = world.aws.controls.deny("ec2:DescribeInstances");
  world.start();
  await world.until("the failure is told", () => condition(world, name) !== undefined && world.events(name).length > 0, 2_000);

  const { status, reason, message } = condition(world, name)!;
  assert.equal(status, "False");
  assert.equal(reason, "UnauthorizedOperation");
  assert.match(message!, /UnauthorizedOperation.*allow ec2:DescribeInstances.*request id [0-9a-f-]{36}.*next try at 2026-01-01T00:00:0\d/);
  assert.match(world.events(name)[0]!, /^Warning FailedToInitializeNode: .*UnauthorizedOperation/);
  assert.ok(!world.isInitialized(name));

  allow();
  await world.until("initialised", () => world.isInitialized(name), 10 * 60_000);
  await world.until("the condition goes", () => condition(world, name) === undefined);
  assert.ok(world.events(name).includes("Normal Synced: Node synced successfully"));
});

test("tries that fail come ever later, and a change of the node brings the next one at once", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { name: "renamed", providerID: "" });
  world.start("--controllers=cloud-node");
  await world.world.advance(30 * 60_000);
  const told = world.writes.filter(({ path }) => path.endsWith("/status")).length;
  assert.ok(told >= 9 && told <= 15, `${told} times in half an hour`);
  assert.match(condition(world, name)!.message!, /no instance in us-east-1 has the private DNS name renamed.*--provider-id/);

  await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { providerID: `aws:///${instance!.zone}/${instance!.id}` } });
  await world.until("initialised", () => world.isInitialized(name), 1_000);
});

test("what is optional never holds the taint: the zone's id and the network topology come when AWS answers", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1, "p5.48xlarge");
  const name = await world.join(instance!);
  const allow = world.aws.controls.deny("ec2:DescribeInstanceTopology");
  world.start();
  await world.until("initialised without it", () => world.isInitialized(name), 10_000);
  await world.until("said so", () => condition(world, name) !== undefined);
  assert.equal(condition(world, name)?.status, "True");
  assert.equal(condition(world, name)?.reason, "LabelsPending");
  assert.equal(world.node(name)?.metadata?.labels?.["topology.k8s.aws/network-node-layer-1"], undefined);
  assert.equal(world.node(name)?.metadata?.labels?.["topology.k8s.aws/zone-id"], instance!.zoneId);

  allow();
  const layer = () => world.node(name)?.metadata?.labels?.["topology.k8s.aws/network-node-layer-1"];
  await world.until("the label comes", () => layer() !== undefined, 15 * 60_000);
  await world.until("the condition goes", () => condition(world, name) === undefined);
});

test("labels that were still to come are added by the next process too", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1, "trn1.32xlarge");
  const name = await world.join(instance!);
  const fault = world.aws.controls.faults.add({ action: "ec2:DescribeInstanceTopology", effect: { kind: "throttle" } });
  const first = world.start();
  await world.until("initialised without it", () => world.isInitialized(name) && condition(world, name) !== undefined, 20_000);
  first.stop();
  await world.world.advance(20_000);
  world.aws.controls.faults.remove(fault);
  world.start();
  await world.until("the label comes", () => world.node(name)?.metadata?.labels?.["topology.k8s.aws/network-node-layer-1"] !== undefined);
});

test("a terminated instance is never initialised", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  world.setState(instance!.id, "terminated");
  const name = await world.join(instance!);
  world.start("--controllers=cloud-node");
  await world.world.advance(10 * 60_000);
  assert.ok(!world.isInitialized(name));
  assert.match(world.events(name)[0]!, /^Warning FailedToInitializeNode: i-\w+ is terminated/);
});

test("an IP that kubelet asks for and EC2 does not have keeps the taint and is told", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.9.9.9" } });
  world.start();
  await world.until("told", () => world.events(name).length > 0);
  assert.match(
    world.events(name)[0]!,
    /provided node ip for node "ip-.*" is not valid: failed to get node address from cloud provider that matches ip: 10\.9\.9\.9/,
  );
  assert.ok(!world.isInitialized(name));
});

test("kubelet's Hostname stays where the cloud has none", async (t) => {
  const world = await bed(t, { network: { ipv6: true }, config: "NodeIPFamilies=ipv6" });
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { addresses: [{ type: "Hostname", address: "kubelets-own" }] });
  world.start();
  await world.until("has addresses", () => (world.node(name)?.status?.addresses?.length ?? 0) > 1);
  const addresses = world.node(name)?.status?.addresses?.map(({ type }) => type);
  assert.deepEqual(addresses, ["InternalIP", "Hostname"]);
});

test("addresses that could not be written are written soon, though the taint is gone", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!);
  const match = ({ url }: { url: URL }) => url.pathname.endsWith("/status");
  world.cluster.faults.add({ match, effect: { kind: "refuse", status: 500 }, times: 12 });
  world.start("--node-status-update-frequency=1h");
  await world.until("initialised", () => world.isInitialized(name));
  await world.until("addresses follow", () => (world.node(name)?.status?.addresses?.length ?? 0) > 0, 60_000);
});

test("old and stable labels of an initialised node are kept in step", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, {
    taints: [],
    labels: { "failure-domain.beta.kubernetes.io/zone": "a", "topology.kubernetes.io/zone": "b" },
  });
  world.start("--controllers=cloud-node");
  await world.until("in step", () => world.node(name)?.metadata?.labels?.["topology.kubernetes.io/zone"] === "a");
  await world.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { "beta.kubernetes.io/instance-type": "m5" } } });
  await world.until("in step again", () => world.node(name)?.metadata?.labels?.["node.kubernetes.io/instance-type"] === "m5");
});

test("a Fargate node shows its interface's addresses and zone, no type, and keeps kubelet's Hostname", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const providerID = `aws:///${instance!.zone}/0f6f5c/fargate-${instance!.privateDnsName}`;
  const name = await world.join(instance!, {
    name: "fargate-node",
    providerID,
    addresses: [{ type: "Hostname", address: "fargate-node" }],
  });
  world.start();
  await world.until("initialised", () => world.isInitialized(name) && (world.node(name)?.status?.addresses?.length ?? 0) > 1);
  const labels = world.node(name)?.metadata?.labels ?? {};
  assert.equal(labels["topology.kubernetes.io/zone"], instance!.zone);
  assert.equal(labels["topology.k8s.aws/zone-id"], instance!.zoneId);
  assert.equal(labels["node.kubernetes.io/instance-type"], undefined);
  assert.deepEqual(
    world.node(name)?.status?.addresses?.map(({ type, address }) => `${type}=${address}`),
    ["InternalIP=10.0.32.4", "InternalDNS=ip-10-0-32-4.ec2.internal", "Hostname=fargate-node"],
  );
});
