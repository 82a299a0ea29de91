/** A Service that wants a load balancer and waits for something else to go: seldom looked at, spoken of, and served meanwhile. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { groupNamed } from "../bed/balancers.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext): Promise<ServiceWorld> {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start();
  return world;
}

const hourMs = 60 * 60_000;
const warnings = (world: ServiceWorld) => world.events("web").filter((text) => text.includes("LoadBalancerWarning"));
const targets = (world: ServiceWorld) => Object.keys(world.snapshot()["elbv2/targets"] ?? {});
const targetGroups = (world: ServiceWorld) => Object.keys(world.snapshot()["elbv2/target-groups"] ?? {});
const none = { type: "none" };
const ports = (...all: readonly number[]) => ({ ports: all.map((port) => ({ name: `p${port}`, port })) });

test("a managed group that was given up and that somebody uses is tried less and less often, and spoken of", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  await world.create("web");
  await world.published("web");
  const name = `k8s-elb-${world.loadBalancerOf("web")}`;
  const [instance] = [...world.instances.values()];
  const interfaceId = instance!.interfaceIds[0]!;
  ec2.interfaces.update(interfaceId, { groupIds: [world.network.nodeGroupId, groupNamed(world, name)!] });
  await world.edit("web", { "security-groups": world.network.nodeGroupId });
  await world.world.advance(60_000);
  assert.ok(
    warnings(world).some((text) => text.includes(`delete security group ${name}`)),
    warnings(world).join("\n"),
  );
  world.aws.controls.journal.resetCounts();
  await world.world.advance(hourMs);
  const tries = world.calls()["ec2:DeleteSecurityGroup"] ?? 0;
  assert.ok(tries > 10 && tries < 60, `${tries} tries in an hour`);
  ec2.interfaces.update(interfaceId, { groupIds: [world.network.nodeGroupId] });
  await world.until("gone", () => groupNamed(world, name) === undefined, 10 * 60_000);
});

test("target groups of type none follow the nodes while one of them waits for a listener to let it go", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: none, spec: ports(80, 81) });
  await world.published("web");
  const stuck = { kind: "fail", code: "ResourceInUse", status: 400, message: "in use by a listener" } as const;
  const fault = world.aws.controls.faults.add({ action: "elasticloadbalancing:DeleteTargetGroup", effect: stuck });
  await world.edit("web", { "backend-protocol": "tls" });
  await world.world.advance(60_000);
  assert.match(warnings(world).at(-1) ?? "", /delete target group a\w+-0: in use by a listener/);
  world.aws.controls.journal.resetCounts();
  await world.join(1);
  await world.world.advance(hourMs);
  assert.equal(targets(world).length, 6);
  const tries = world.calls()["elasticloadbalancing:DeleteTargetGroup"] ?? 0;
  assert.ok(tries > 10 && tries < 60, `${tries} tries in an hour`);
  world.aws.controls.faults.remove(fault);
  await world.world.advance(10 * 60_000);
  const groups = Object.values(world.snapshot()["elbv2/target-groups"] ?? {}) as { readonly protocol: string }[];
  assert.deepEqual(
    groups.map(({ protocol }) => protocol),
    ["TLS", "TLS"],
  );
});

test("a target group of type none that AWS shows late is not left behind", async (t) => {
  const world = await bed(t);
  world.aws.controls.faults.add({ action: "elasticloadbalancing:Describe*", effect: { kind: "stale", ageMs: 8_000 } });
  await world.world.advance(60_000);
  await world.create("web", { annotations: none, spec: ports(80) });
  await world.world.advance(120_000);
  world.aws.controls.faults.add({ action: "elasticloadbalancing:CreateTargetGroup", effect: { kind: "lose-answer" }, times: 1 });
  await world.edit("web", {}, ports(80, 81));
  await world.until("made", () => targetGroups(world).length > 1);
  await world.delete("web");
  await world.gone("web");
  await world.world.advance(hourMs);
  assert.deepEqual(targetGroups(world), []);
});

test("a replacement ends although AWS refuses one of the targets for ever", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { "type-change": "replace" } });
  await world.published("web");
  const [instance] = [...world.instances.values()];
  const effect = {
    kind: "fail",
    code: "InvalidTarget",
    status: 400,
    message: `The following targets are not valid: ${instance!.id}`,
  } as const;
  world.aws.controls.faults.add({ action: "elasticloadbalancing:RegisterTargets", effect, containing: instance!.id });
  await world.edit("web", { type: "nlb" });
  const isReplaced = () => world.service("web")?.status?.conditions?.some(({ type }) => type === "LoadBalancerReplaced") === true;
  await world.until("begun", isReplaced, hourMs);
  await world.until("ended", () => !isReplaced(), hourMs);
});
