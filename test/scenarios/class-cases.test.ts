/** Services with the load balancer controller's class: cases that are easily got wrong, each on the resulting account. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type ClassWorld, classWorld } from "../bed/class-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<ClassWorld> {
  const world = await classWorld(options);
  t.after(() => world.close());
  return world;
}

const ip = { "nlb-target-type": "ip" };

type Tags = Readonly<Record<string, string>>;
interface Balancer {
  readonly arn: string;
  readonly name: string;
  readonly dnsName: string;
  readonly groupIds: readonly string[];
  readonly attributes: Tags;
}
interface Group {
  readonly arn: string;
  readonly attributes: Tags;
  readonly tags: Tags;
  readonly check: Readonly<Record<string, unknown>>;
}
const balancers = (world: ClassWorld) => world.all<Balancer>("elbv2/load-balancers");
const targetGroups = (world: ClassWorld) => world.all<Group>("elbv2/target-groups");
const securityGroups = (world: ClassWorld) => world.all<{ readonly id: string; readonly tags: Tags }>("ec2/security-groups");

test("nodes are chosen by labels, and others when those change", async (t) => {
  const world = await bed(t, { nodes: 0 });
  const [edge = ""] = await world.join(1, { pool: "edge" });
  const [front = ""] = await world.join(1, { tier: "front" });
  world.serve();
  await world.classService("web", { "target-node-labels": "pool=edge" }, {}, 0);
  await world.settled("web");
  const targets = () => world.targets(targetGroups(world)[0]!.arn).map((target) => target.replace(/:\d+$/, ""));
  assert.deepEqual(targets(), [world.nodes.get(edge)]);
  await world.change("web", { "target-node-labels": "tier=front" });
  await world.world.advance(60_000);
  assert.deepEqual(
    [world.bindings().map(({ spec }) => spec.nodeSelector), targets()],
    [[{ matchLabels: { tier: "front" } }], [world.nodes.get(front)]],
  );
  await world.change("web", { "target-node-labels": null });
  await world.world.advance(60_000);
  assert.deepEqual([world.bindings().map(({ spec }) => spec.nodeSelector), targets().length], [[undefined], 2]);
  await world.world.advance(120_000);
  world.resetCalls();
  await world.world.advance(60_000);
  assert.deepEqual(world.writes, []);
});

test("health checks are as asked for, change in place, and follow the traffic policy where nobody asks", async (t) => {
  const world = await bed(t);
  world.serve();
  const asked = {
    "healthcheck-protocol": "HTTPS",
    "healthcheck-port": "9443",
    "healthcheck-path": "/up",
    "healthcheck-success-codes": "200-204",
    "healthcheck-interval": "20",
    "healthcheck-timeout": "7",
    "healthcheck-healthy-threshold": "4",
    "healthcheck-unhealthy-threshold": "5",
  };
  await world.classService("web", { ...ip, ...asked });
  await world.settled("web");
  const [group] = targetGroups(world);
  const check = { enabled: true, protocol: "HTTPS", port: "9443", path: "/up", interval: 20, timeout: 7, healthyThreshold: 4 };
  assert.deepEqual(group?.check, { ...check, unhealthyThreshold: 5, codes: "200-204" });
  await world.change("web", { "healthcheck-path": "/ready", "healthcheck-timeout": "6", "healthcheck-unhealthy-threshold": "2" });
  await world.world.advance(60_000);
  assert.deepEqual(
    targetGroups(world).map(({ arn, check: is }) => [arn, is.path, is.timeout, is.unhealthyThreshold]),
    [[group?.arn, "/ready", 6, 2]],
  );
  const local = { externalTrafficPolicy: "Local", healthCheckNodePort: 32_000 };
  await world.classService("local", {}, local, 0);
  await world.settled("local");
  const ofLocal = targetGroups(world).find(({ arn }) => arn !== group?.arn)?.check;
  assert.deepEqual(
    [ofLocal?.protocol, ofLocal?.port, ofLocal?.path, ofLocal?.interval, ofLocal?.timeout, ofLocal?.healthyThreshold],
    ["HTTP", "32000", "/healthz", 10, 6, 2],
  );
});

test("logs and proxy protocol by the older annotations; what is asked for no more stays as it is", async (t) => {
  const world = await bed(t);
  world.serve();
  const ports = [
    { name: "http", port: 80, targetPort: 8080 },
    { name: "tls", port: 443, targetPort: 8443 },
  ];
  const logs = { "access-log-enabled": "true", "access-log-s3-bucket-name": "logs", "access-log-s3-bucket-prefix": "web" };
  await world.classService("web", { ...ip, ...logs, "proxy-protocol-per-target-group": "443" }, { ports });
  await world.settled("web");
  const wanted = { "access_logs.s3.enabled": "true", "access_logs.s3.bucket": "logs", "access_logs.s3.prefix": "web" };
  assert.deepEqual(balancers(world)[0]?.attributes, wanted);
  const proxied = () =>
    targetGroups(world)
      .filter(({ attributes }) => attributes["proxy_protocol_v2.enabled"] === "true")
      .map(({ tags }) => tags["service.k8s.aws/resource"]);
  assert.deepEqual(proxied(), ["default/web:443"]);
  await world.change("web", { "access-log-enabled": null, "proxy-protocol-per-target-group": "80" });
  await world.world.advance(60_000);
  assert.deepEqual([balancers(world)[0]?.attributes, proxied()], [wanted, ["default/web:80"]]);
});

test("a target group that other clusters fill keeps their targets", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, "multi-cluster-target-group": "true" });
  await world.settled("web");
  const [{ arn } = { arn: "" }] = targetGroups(world);
  await world.register(arn, ["10.0.60.1:8080"]);
  await world.pods("web", 1);
  await world.world.advance(60_000);
  assert.deepEqual(world.targets(arn), [...world.addresses("web"), "10.0.60.1:8080"].toSorted());
  const records = () => world.cluster.objects("configmaps").filter(({ metadata }) => metadata.name.startsWith("aws-lbc-targets-")).length;
  assert.deepEqual([world.bindings()[0]?.spec.multiClusterTargetGroup, records()], [true, 1]);
  await world.change("web", { "multi-cluster-target-group": null });
  await world.world.advance(60_000);
  assert.equal(world.bindings()[0]?.spec.multiClusterTargetGroup ?? false, false);
});

test("a shared group that is given is used, never made, tagged or deleted", async (t) => {
  const world = await bed(t);
  const before = securityGroups(world).map(({ id }) => id);
  const given = before.find((id) => id !== world.network.nodeGroupId)!;
  const tags = securityGroups(world).find(({ id }) => id === given)?.tags;
  world.serve(`--backend-security-group=${given}`);
  await world.classService("web", ip);
  await world.settled("web");
  const groupIds = balancers(world)[0]?.groupIds ?? [];
  const made = securityGroups(world).filter(({ id }) => !before.includes(id));
  assert.deepEqual([groupIds.includes(given), made.length, made[0]?.tags["service.k8s.aws/resource"]], [true, 1, "ManagedLBSecurityGroup"]);
  await world.drop("web");
  await world.until("it is gone", () => world.get("web") === undefined, 3_600_000);
  await world.world.advance(30 * 60_000);
  assert.deepEqual(
    securityGroups(world).map(({ id }) => id),
    before,
  );
  assert.deepEqual(securityGroups(world).find(({ id }) => id === given)?.tags, tags);
});

test("what AWS does not tell is told to the author, and nothing is made on a guess", async (t) => {
  const world = await bed(t);
  world.serve();
  const lift = world.aws.controls.deny("elasticloadbalancing:DescribeLoadBalancers");
  await world.classService("web", ip);
  await world.world.advance(60_000);
  assert.match(world.events("web").join("\n"), /FailedBuildModel: Failed build model due to .*DescribeLoadBalancers/);
  assert.deepEqual([balancers(world).length, targetGroups(world).length, world.get("web")?.metadata.finalizers ?? []], [0, 0, []]);
  lift();
  await world.settled("web");
});

test("clients of an internal load balancer without groups come from the VPC, whose blocks have to be known", async (t) => {
  const world = await bed(t);
  world.serve();
  const lift = world.aws.controls.deny("ec2:DescribeVpcs");
  await world.classService("inside", { "disable-nlb-sg": "true" }, {}, 0);
  await world.world.advance(60_000);
  assert.match(world.events("inside").join("\n"), /FailedBuildModel: Failed build model due to .*DescribeVpcs/);
  assert.equal(balancers(world).length, 0);
  lift();
  await world.settled("inside");
  assert.equal(balancers(world).length, 1);
});

test("an address is published in lower case, whatever the load balancer is called", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, name: "Shop-FRONT" });
  await world.settled("web");
  const [balancer] = balancers(world);
  assert.deepEqual([balancer?.name, world.hostname("web")], ["Shop-FRONT", balancer?.dnsName.toLowerCase()]);
  assert.notEqual(balancer?.dnsName, world.hostname("web"));
});

test("a listener that somebody made by hand goes when the Service is looked at the next time", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", ip);
  await world.settled("web");
  const listeners = () => world.all<{ port: number }>("elbv2/listeners").map(({ port }) => port);
  const [{ arn: balancer } = { arn: "" }] = balancers(world);
  const [{ arn: group } = { arn: "" }] = targetGroups(world);
  await world.listen(balancer, 8080, group);
  assert.deepEqual(listeners().toSorted(), [80, 8080]);
  await world.change("web", { "additional-resource-tags": "a=b" });
  await world.world.advance(120_000);
  assert.deepEqual(listeners(), [80]);
});

test("the shared security group that somebody has deleted by hand is made again when the next load balancer needs it", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("first", ip);
  await world.settled("first");
  // Keeps the controller from giving the group up with the first.
  await world.classService("waits", { ...ip, "target-group-attributes": "no.such.attribute=1" });
  await world.drop("first");
  await world.until("it is gone", () => world.get("first") === undefined, 600_000);
  const groups = world.aws.account.store.table<{ id: string; name: string }>("ec2/security-groups");
  const shared = () => groups.values().find(({ name }) => name.startsWith("k8s-traffic-"));
  groups.delete(shared()!.id);
  await world.classService("second", ip);
  await world.settled("second");
  assert.ok(shared());
});
