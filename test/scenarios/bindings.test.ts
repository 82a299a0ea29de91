import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { clusterPrograms } from "../../src/commands/host/cluster-programs.ts";
import { parseOptions } from "../../src/commands/load-balancer-controller/flags.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Target } from "../../src/sandbox/cloud/elbv2/state.ts";
import { type BindingWorld, type BindingWorldOptions, bindingWorld } from "../bed/binding-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<BindingWorld> {
  const world = await bindingWorld(options);
  t.after(() => world.close());
  return world;
}

const mutating = (world: BindingWorld) => Object.entries(world.calls()).filter(([action]) => !action.startsWith("Describe"));

test("a binding by name is completed, its pods are registered, and it says so", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 3);
  world.start();
  await world.bind("web", { targetGroupName: "shop" });
  await world.world.advance(5_000);

  assert.deepEqual(world.targets(arn), world.addresses("web"), world.lines.join("\n"));
  const { spec, status, metadata } = world.binding("web")!;
  assert.deepEqual(
    [spec?.targetGroupARN, spec?.targetType, spec?.ipAddressType, spec?.vpcID, spec?.targetGroupProtocol],
    [arn, "ip", "ipv4", world.network.vpcId, "TCP"],
  );
  assert.deepEqual(metadata?.finalizers, ["elbv2.k8s.aws/resources"]);
  assert.equal(status?.observedGeneration, metadata?.generation);
  assert.equal(world.condition("web")?.status, "True");
  assert.deepEqual([status?.targets?.wanted, status?.targets?.registered], [3, 3]);
  assert.ok(world.events("web").includes("Normal SuccessfullyReconciled: Successfully reconciled"));
});

test("steady state costs no call, and one pod that moves two", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop", { used: true });
  await world.service("web");
  const [first = ""] = await world.pods("web", 3);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(15 * 60_000);
  assert.equal(world.binding("web")?.status?.targets?.healthy, 3, "looked at until they are healthy");
  world.resetCalls();
  await world.world.advance(60 * 60_000);
  assert.deepEqual([world.calls(), world.writes], [{}, []]);

  await world.remove("web", first);
  await world.pods("web", 1);
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
  assert.deepEqual(mutating(world).toSorted(), [
    ["DeregisterTargets", 1],
    ["RegisterTargets", 1],
  ]);
});

test("a restart over bindings that nothing happened to costs no call and no write", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 2);
  const kill = world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(60_000);
  kill();
  world.resetCalls();
  world.start();
  await world.world.advance(20 * 60_000);
  assert.deepEqual([world.calls(), world.writes], [{}, []]);
  await world.world.advance(30 * 60_000);
  assert.deepEqual(mutating(world), [], "what is read again after a while is as it was");
  assert.equal(world.calls().DescribeTargetHealth, 1);
});

test("targets that others have changed are put right when everything is read again", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 2);
  world.start("--sync-period=1h");
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(60_000);
  await world.tamper(arn, "deregister");
  assert.deepEqual(world.targets(arn), []);
  await world.world.advance(2 * 3_600_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
});

test("a binding to a group that is missing, of a foreign type, or not as it says touches nothing", async (t) => {
  const world = await bed(t);
  const lambda = await world.group("code", { type: "lambda" });
  const instances = await world.group("nodes", { type: "instance" });
  const missing = instances.replace(/[0-9a-f]{16}$/, "0123456789abcdef");
  await world.service("web");
  await world.pods("web", 1);
  world.start();
  const before = world.aws.controls.snapshot();
  await world.bind("gone", { targetGroupARN: missing });
  const missingToo = missing.replace(/.$/, "0");
  await world.bind("gone-whole", { targetGroupARN: missingToo, targetType: "ip", vpcID: world.network.vpcId, targetGroupProtocol: "TCP" });
  await world.bind("unnamed", { targetGroupName: "nothing-of-this-name" });
  await world.bind("code", { targetGroupARN: lambda });
  await world.bind("other", { targetGroupARN: instances, targetType: "ip" });
  await world.world.advance(1_000);
  await world.bind("whole", { targetGroupARN: instances, targetType: "ip", vpcID: world.network.vpcId, targetGroupProtocol: "TCP" });
  await world.world.advance(10_000);
  const says = (name: string) => `${world.condition(name)?.status} ${world.condition(name)?.reason}`;
  assert.deepEqual(["gone", "gone-whole", "unnamed"].map(says), Array(3).fill("False TargetGroupNotFound"));
  assert.equal(says("code"), "False UnsupportedTargetType");
  assert.deepEqual([says("other"), says("whole")], ["False TargetGroupMismatch", "False TargetGroupAlreadyBound"]);
  await world.unbind("other");
  await world.world.advance(10_000);
  assert.equal(says("whole"), "False TargetGroupMismatch");
  assert.match(world.events("whole").join("\n"), /Warning TargetGroupBindingInvalid: .*targetType ip differs/);
  assert.deepEqual(world.aws.controls.snapshot(), before);
});

test("a group is one binding's: a second one says so and touches nothing, until the first is gone", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.service("other");
  await world.pods("web", 2);
  await world.pods("other", 1);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  await world.bind("second", { targetGroupARN: arn, serviceRef: { name: "other", port: 80 } });
  await world.world.advance(5_000);
  assert.equal(world.condition("second")?.reason, "TargetGroupAlreadyBound");
  assert.match(world.condition("second")?.message ?? "", /already bound to following TargetGroupBindings \[default\/web\]/);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
  await world.unbind("web");
  await world.world.advance(10_000);
  assert.deepEqual(world.targets(arn), world.addresses("other"));
});

test("bindings that share a group deregister nothing but their own", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shared");
  await world.service("web");
  await world.service("other");
  const [gone = ""] = await world.pods("web", 2);
  await world.pods("other", 2);
  world.start();
  await world.bind("web", { targetGroupARN: arn, multiClusterTargetGroup: true });
  await world.bind("other", { targetGroupARN: arn, multiClusterTargetGroup: true, serviceRef: { name: "other", port: "http" } });
  await world.world.advance(10_000);
  const both = () => [...world.addresses("web"), ...world.addresses("other")].toSorted();
  assert.deepEqual(world.targets(arn), both());
  await world.remove("web", gone);
  await world.world.advance(10_000);
  assert.deepEqual(world.targets(arn), both());
  const record = world.cluster.objects("configmaps").find(({ metadata }) => metadata.name === "aws-lbc-targets-web");
  assert.deepEqual((record as { data?: object } | undefined)?.data, { targets: world.addresses("web").join(",") });
  await world.unbind("web");
  await world.world.advance(10_000);
  assert.deepEqual(world.targets(arn), world.addresses("other"));
  assert.equal(world.binding("web"), undefined);
  assert.ok(!world.cluster.objects("configmaps").some(({ metadata }) => metadata.name === "aws-lbc-targets-web"));
});

test("instances follow the nodes that the binding selects, at the Service's node port", async (t) => {
  const world = await bed(t, { nodes: 0 });
  const [edge = "", second = ""] = await world.join(2, { role: "edge" });
  await world.join(1);
  const arn = await world.group("nodes", { type: "instance" });
  await world.service("web", { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30080 }] });
  world.start();
  await world.bind("web", { targetGroupARN: arn, nodeSelector: { matchLabels: { role: "edge" } } });
  await world.world.advance(5_000);
  const expected = (...names: readonly string[]) => names.map((name) => `${world.nodes.get(name)}:30080`).toSorted();
  assert.deepEqual(world.targets(arn), expected(edge, second));
  await world.say("PATCH", `/api/v1/nodes/${second}/status`, { status: { conditions: [{ type: "Ready", status: "False" }] } });
  const [third = ""] = await world.join(1, { role: "edge" });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), expected(edge, third));
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "odd", labels: { role: "edge" } }, spec: { providerID: "gce://x" } });
  await world.say("PATCH", "/api/v1/nodes/odd/status", { status: { conditions: [{ type: "Ready", status: "True" }] } });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), expected(edge, third), "one odd node keeps no other from being registered");
  assert.match(world.events("web").join("\n"), /Warning TargetsLeftOut: Node odd is not a target/);
});

test("a Service of type ClusterIP has no instances, and the binding says so", async (t) => {
  const world = await bed(t);
  const arn = await world.group("nodes", { type: "instance" });
  await world.service("web");
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  assert.match(world.condition("web")?.message ?? "", /must be either 'NodePort' or 'LoadBalancer': default\/web is of type ClusterIP/);
});

test("without its Service, or its port, a binding has no targets and says so; they come back with it", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 2);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  await world.edit("web", { spec: { serviceRef: { name: "web", port: 81 } } });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), []);
  assert.ok(world.events("web").includes("Warning BackendNotFound: backend not found: unable to find port 81 on service default/web"));
  assert.equal(world.condition("web")?.reason, "BackendNotFound");
  await world.edit("web", { spec: { serviceRef: { name: "web", port: "http" } } });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
});

test("a binding that goes takes its targets along; one whose group is gone goes too", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  const other = await world.group("gone");
  await world.service("web");
  await world.pods("web", 2);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.bind("gone", { targetGroupARN: other });
  await world.world.advance(5_000);
  await world.tamper(other, "delete");
  const lift = world.aws.controls.deny("elasticloadbalancing:DeregisterTargets");
  await world.unbind("web");
  await world.unbind("gone");
  await world.world.advance(5_000);
  assert.equal(world.binding("gone"), undefined);
  assert.equal(world.condition("web")?.reason, "FailedCleanup");
  assert.match(world.events("web").join("\n"), /Warning FailedCleanup: Failed cleanup due to .*DeregisterTargets/);
  assert.equal(world.targets(arn).length, 2, "the finalizer stays as long as its targets do");
  lift();
  await world.world.advance(300_000);
  assert.deepEqual([world.binding("web"), world.targets(arn)], [undefined, []]);
});

test("a binding goes although AWS finds its ARN, or its targets, invalid by now: there is nothing to deregister", async (t) => {
  const world = await bed(t);
  await world.service("web");
  await world.pods("web", 1);
  world.start();
  const names = ["ValidationError", "InvalidTarget", "TargetGroupNotFound"];
  for (const code of names) await world.bind(code.toLowerCase(), { targetGroupARN: await world.group(code.toLowerCase()) });
  await world.world.advance(10_000);
  for (const code of names) {
    const effect = { kind: "fail", code, status: 400 } as const;
    const id = world.aws.controls.faults.add({ action: "elasticloadbalancing:*Target*", effect, probability: 1 });
    await world.unbind(code.toLowerCase());
    await world.world.advance(5_000);
    assert.equal(world.binding(code.toLowerCase()), undefined, code);
    world.aws.controls.faults.remove(id);
  }
});

test("a write that crosses another's is made again: a binding is completed, held and let go", async (t) => {
  const world = await bed(t);
  await world.group("shop");
  await world.service("web");
  await world.pods("web", 1);
  const path = /\/targetgroupbindings\/web$/;
  const refuseOnce = (text: string) => {
    const match = ({ method, url, body }: HttpRequest) => method === "PATCH" && path.test(url.pathname) && String(body).includes(text);
    world.cluster.faults.add({ match, effect: { kind: "refuse", status: 409 }, times: 1 });
  };
  for (const text of ['"targetType":"ip"', '"finalizers":["elbv2.k8s.aws/resources"]']) refuseOnce(text);
  world.start();
  await world.bind("web", { targetGroupName: "shop" });
  await world.world.advance(30_000);
  assert.equal(world.condition("web")?.status, "True", world.lines.slice(-5).join("\n"));
  refuseOnce('"finalizers":null');
  await world.unbind("web");
  await world.world.advance(30_000);
  assert.equal(world.binding("web"), undefined);
});

test("a failure is told with AWS's words, and tried again", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 1);
  const lift = world.aws.controls.deny("elasticloadbalancing:RegisterTargets");
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  assert.equal(world.condition("web")?.reason, "FailedReconcile");
  assert.match(world.events("web").join("\n"), /Warning FailedReconcile: Failed reconcile due to .*RegisterTargets/);
  assert.match(
    await world.metrics.metrics(),
    /reconcile_errors_total\{controller="targetGroupBinding",error_category="register_pod_endpoint_error"\} [1-9]/,
  );
  lift();
  await world.world.advance(180_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
  assert.equal(world.condition("web")?.status, "True");
});

test("pods that are not ready are left out, but for those that only wait for us", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  const [unready = "", terminating = ""] = await world.pods("web", 3);
  await world.turn("web", unready, { ready: false });
  await world.turn("web", terminating, { ready: false, terminating: true });
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  const [first, , third] = world.addresses("web");
  assert.deepEqual(world.targets(arn), [first, third], "its containers are ready, and nothing ends it");
  await world.say("PATCH", `/api/v1/namespaces/default/pods/${unready}/status`, {
    status: { conditions: [{ type: "ContainersReady", status: "False" }] },
  });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), [third]);
});

test("--max-targets-per-target-group leaves the rest out, says so, and takes them as soon as there is room", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  const [first = ""] = await world.pods("web", 3);
  world.start("--max-targets-per-target-group=2");
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web").slice(0, 2));
  assert.equal(world.condition("web")?.reason, "TargetsLeftOut");
  await world.remove("web", first);
  await world.world.advance(120_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"));
  assert.equal(world.condition("web")?.status, "True");
});

test("a thousand pods are registered with the fewest calls", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 400);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(30_000);
  assert.equal(world.targets(arn).length, 400);
  assert.equal(world.calls().RegisterTargets, 2);
});

test("where AWS wants a zone named for addresses outside the VPC, that of the node is named, once and from then on", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 2);
  for (const name of world.nodes.keys())
    await world.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { "topology.kubernetes.io/zone": "us-east-1b" } } });
  // To the group's VPC all of them are outside.
  world.aws.account.ec2.vpcs.update(world.network.vpcId, { cidrs: ["10.9.0.0/16"] });
  const message = "The target is outside the VPC: you must specify an Availability Zone";
  const refusal = { kind: "fail", code: "ValidationError", status: 400, message } as const;
  const zones = () =>
    new Set(
      world.aws.account.store
        .table<Target>("elbv2/targets")
        .values()
        .map(({ zone }) => zone),
    );
  world.aws.controls.faults.add({ action: "elasticloadbalancing:RegisterTargets", effect: refusal, times: 1 });
  world.start();
  world.resetCalls();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(30_000);
  assert.deepEqual([world.targets(arn), [...zones()]], [world.addresses("web"), ["us-east-1b"]], world.lines.slice(-5).join("\n"));
  assert.equal(world.calls().RegisterTargets, 2);
  await world.pods("web", 1);
  await world.world.advance(30_000);
  assert.deepEqual([world.calls().RegisterTargets, [...zones()]], [3, ["us-east-1b"]]);

  world.aws.controls.faults.add({ action: "elasticloadbalancing:RegisterTargets", effect: refusal, times: 1 });
  await world.pods("web", 1);
  await world.world.advance(1_000);
  assert.match(world.events("web").join("\n"), /FailedReconcile: .*you must specify an Availability Zone/, "it is named already");
});

test("targets are registered and deregistered as the role that the binding names", async (t) => {
  const world = await bed(t);
  const role = "arn:aws:iam::123456789012:role/targets";
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 1);
  world.aws.controls.change({ trust: [{ roleArn: role, principals: ["*"] }] });
  await world.warmUp(role);
  world.start();
  await world.bind("web", { targetGroupARN: arn, targetType: "ip", iamRoleArnToAssume: role, assumeRoleExternalId: "shop" });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"), world.lines.join("\n"));
  assert.match(world.callers().RegisterTargets ?? "", /assumed-role\/targets\/AWS-LBC-test/);
  await world.unbind("web");
  await world.world.advance(5_000);
  assert.deepEqual([world.targets(arn), world.binding("web")], [[], undefined]);
});

test("a group that is full takes as many as there is room for; the rest is named, and comes when there is room", async (t) => {
  const world = await bed(t);
  const { quotas } = world.aws.account.settings();
  world.aws.controls.change({ quotas: { ...quotas, targetsPerTargetGroup: 5 } });
  const arn = await world.group("shop");
  await world.service("web");
  const [first = ""] = await world.pods("web", 7);
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web").slice(0, 5));
  assert.equal(world.condition("web")?.reason, "TargetsLeftOut");
  assert.match(world.condition("web")?.message ?? "", /AWS refuses .* as targets: TooManyTargets/);
  assert.ok((world.calls().RegisterTargets ?? 0) <= 7, JSON.stringify(world.calls()));
  await world.remove("web", first);
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web").slice(0, 5));
});

test("hosted by fairlead cluster, the controller holds its own lease beside the others", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 2);
  world.startHosted("controller-manager: {controllers: [cloud-node]}\nload-balancer-controller: {cluster-name: test}\n");
  await world.bind("web", { targetGroupARN: arn });
  await world.until("registered", () => world.targets(arn).length === 2);
  const leases = world.cluster.objects("leases.coordination.k8s.io") as unknown as {
    metadata: { name: string };
    spec: { holderIdentity: string };
  }[];
  assert.deepEqual(leases.map(({ metadata }) => metadata.name).toSorted(), [
    "aws-load-balancer-controller-leader",
    "cloud-controller-manager",
    "fairlead-cluster",
  ]);
  assert.equal(new Set(leases.map(({ spec }) => spec.holderIdentity)).size, 1);
});

test("pods do not wait for the gate of a binding whose port is gone, nor do those that come later", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  const gate = "target-health.elbv2.k8s.aws/web";
  const [first = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.world.advance(1_000);
  assert.equal(world.gate(first, gate)?.status, "False");
  await world.edit("web", { spec: { serviceRef: { name: "web", port: 81 } } });
  await world.world.advance(5_000);
  const [later = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  await world.world.advance(5_000);
  const message = "backend not found: unable to find port 81 on service default/web";
  for (const pod of [first, later]) assert.deepEqual([world.gate(pod, gate)?.status, world.gate(pod, gate)?.message], ["True", message]);
});

test("a section of fairlead cluster without the cluster's name is refused", () => {
  assert.throws(() => clusterPrograms["load-balancer-controller"]!.check(parseOptions([]).values), /--cluster-name/);
});

test("without EndpointSlices pods are taken from Endpoints; a Service that has none is reported", async (t) => {
  const world = await bed(t);
  const arn = await world.group("shop");
  await world.service("web");
  const names = await world.pods("web", 2);
  world.start("--enable-endpoint-slices=false");
  await world.bind("web", { targetGroupARN: arn });
  await world.until("told", () => world.condition("web")?.reason === "BackendNotFound");
  assert.match(world.condition("web")?.message ?? "", /Endpoints "default\/web" not found/);
  assert.deepEqual(world.targets(arn), []);
  const addresses = world.addressesOf("web", names).map((address, i) => ({
    ip: address.replace(/:\d+$/, ""),
    targetRef: { kind: "Pod", name: names[i] },
  }));
  const subsets = [{ addresses, ports: [{ name: "http", port: 8080 }] }];
  await world.say("POST", "/api/v1/namespaces/default/endpoints", { metadata: { name: "web" }, subsets });
  await world.until("registered", () => world.targets(arn).length === 2);
  await world.say("PATCH", "/api/v1/namespaces/default/endpoints/web", { subsets: [{ ...subsets[0], addresses: addresses.slice(1) }] });
  await world.until("followed", () => world.targets(arn).length === 1);
  assert.ok(!world.asked.has("watch endpointslices.discovery.k8s.io") && world.asked.has("watch endpoints"), [...world.asked].join());
});
