/** What bindings let in to their targets: rules of the targets' security groups, the union over all bindings. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type BindingWorld, type BindingWorldOptions, bindingWorld } from "../bed/binding-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<BindingWorld> {
  const world = await bindingWorld(options);
  t.after(() => world.close());
  return world;
}

const shared = "elbv2.k8s.aws/targetGroupBinding=shared";

/** Rules of the nodes' group that bindings brought. */
function rules(world: BindingWorld, group = world.network.nodeGroupId): readonly string[] {
  return world.aws.account.ec2.rules
    .values()
    .filter(({ groupId, egress, description }) => groupId === group && !egress && description === shared)
    .map(
      ({ protocol, fromPort, toPort, peer }) =>
        `${protocol} ${fromPort}-${toPort} ${"cidr" in peer ? peer.cidr : "groupId" in peer ? peer.groupId : ""}`,
    )
    .toSorted();
}

const missing = "sg-0123456789abcdef0";
const from = (groupID: string, ...ports: readonly (number | string)[]) => ({
  ingress: [{ from: [{ securityGroup: { groupID } }], ports: ports.map((port) => ({ protocol: "TCP" as const, port })) }],
});

async function nodePorts(world: BindingWorld, name: string, nodePort: number): Promise<string> {
  const arn = await world.group(name, { type: "instance" });
  await world.service(name, { type: "NodePort", ports: [{ name: "http", port: 80, nodePort }] });
  return arn;
}

test("nodes let in what bindings ask for, joined to one rule per source; what nobody asks for any more goes", async (t) => {
  const world = await bed(t);
  const source = world.network.nodeGroupId;
  const first = await nodePorts(world, "web", 30080);
  const second = await nodePorts(world, "api", 30090);
  world.start();
  const ingress = [
    ...from(source, 30080).ingress,
    { from: [{ ipBlock: { cidr: "10.1.0.0/16" } }], ports: [{ protocol: "UDP" as const, port: 53 }] },
  ];
  await world.bind("web", { targetGroupARN: first, networking: { ingress } });
  await world.bind("api", { targetGroupARN: second, serviceRef: { name: "api", port: 80 }, networking: from(source, 30090) });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), [`tcp 30080-30090 ${source}`, "udp 53-53 10.1.0.0/16"]);
  assert.equal(world.condition("web", "NetworkingReady")?.status, "True");
  world.resetCalls();
  await world.world.advance(30 * 60_000);
  assert.deepEqual(
    Object.keys(world.calls()).filter((action) => !action.startsWith("DescribeTargetHealth")),
    [],
  );

  await world.edit("api", { spec: { networking: from(source, 30100) } });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), [`tcp 30080-30100 ${source}`, "udp 53-53 10.1.0.0/16"], "what is edited is followed");
  await world.unbind("api");
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), [`tcp 30080-30080 ${source}`, "udp 53-53 10.1.0.0/16"]);
  await world.edit("web", { spec: { networking: null } });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), []);
  assert.equal(world.condition("web", "NetworkingReady"), undefined);
  assert.equal(world.targets(first).length, 2);
});

test("after a restart what a binding lets in that was not looked at yet stays, and what nobody asks for goes", async (t) => {
  const world = await bed(t);
  const source = world.network.nodeGroupId;
  const first = await nodePorts(world, "web", 30080);
  const second = await nodePorts(world, "api", 30090);
  const kill = world.start("--disable-restricted-sg-rules");
  await world.bind("web", { targetGroupARN: first, networking: from(source, 30080) });
  await world.bind("api", { targetGroupARN: second, serviceRef: { name: "api", port: 80 }, networking: from(source, 30090) });
  await world.world.advance(5_000);
  const both = [`tcp 30080-30080 ${source}`, `tcp 30090-30090 ${source}`];
  assert.deepEqual(rules(world), both);
  kill();
  world.start("--disable-restricted-sg-rules");
  await world.edit("web", { spec: { networking: from(source, 30081) } });
  await world.world.advance(60_000);
  assert.deepEqual(rules(world), [`tcp 30081-30081 ${source}`, both[1]], "api was not looked at yet");
  world.resetCalls();
  await world.world.advance(60 * 60_000);
  assert.deepEqual(rules(world), [`tcp 30081-30081 ${source}`, both[1]]);
  assert.equal(world.calls().RevokeSecurityGroupIngress, undefined);
});

test("a binding that cannot be carried out keeps what it let in, and holds back no revocation of others after a restart", async (t) => {
  const world = await bed(t);
  const source = world.network.nodeGroupId;
  const kill = world.start("--disable-restricted-sg-rules");
  const ports = { bad: 30070, role: 30071, ghost: 30072, named: 30073, web: 30080 };
  const arns: Record<string, string> = {};
  for (const [name, port] of Object.entries(ports)) {
    arns[name] = await nodePorts(world, name, port);
    await world.bind(name, { targetGroupARN: arns[name], serviceRef: { name, port: 80 }, networking: from(source, port) });
  }
  await world.world.advance(5_000);
  const before = rules(world);
  assert.equal(before.length, 5);
  kill();
  await world.edit("bad", { spec: { networking: { ingress: [{ from: [{}], ports: [] }, ...from(source, 30070).ingress] } } });
  await world.edit("role", { spec: { iamRoleArnToAssume: "arn:aws:iam::111122223333:role/nobody" } });
  await world.tamper(arns.ghost!, "delete");
  await world.edit("named", { spec: { networking: { ingress: [...from(source, 30073).ingress, ...from(source, "web").ingress] } } });
  world.start("--disable-restricted-sg-rules");
  await world.edit("web", { spec: { networking: from(source, 30081) } });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), [...before.filter((rule) => !rule.includes("30080")), `tcp 30081-30081 ${source}`]);
  await world.unbind("web");
  await world.until("it goes", () => world.binding("web") === undefined, 600_000);
  assert.deepEqual(
    rules(world),
    before.filter((rule) => !rule.includes("30080")),
  );
});

test("a block of addresses with host bits is the one that AWS makes of it", async (t) => {
  const world = await bed(t);
  const arn = await nodePorts(world, "web", 30080);
  const kill = world.start();
  const ingress = [{ from: [{ ipBlock: { cidr: "10.1.2.3/16" } }, { ipBlock: { cidr: "2001:DB8::1/32" } }], ports: [{ port: 30080 }] }];
  await world.bind("web", { targetGroupARN: arn, networking: { ingress } });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), ["tcp 30080-30080 10.1.0.0/16", "tcp 30080-30080 2001:db8::/32"]);
  world.resetCalls();
  kill();
  world.start();
  await world.edit("web", { spec: { serviceRef: { port: "http" } } });
  await world.world.advance(60_000);
  const { AuthorizeSecurityGroupIngress, RevokeSecurityGroupIngress } = world.calls();
  assert.deepEqual([AuthorizeSecurityGroupIngress, RevokeSecurityGroupIngress], [undefined, undefined]);
  assert.equal(world.condition("web", "NetworkingReady")?.status, "True");
});

test("pods let in by the group of the interface that has their address, by numbers and by names of ports", async (t) => {
  const world = await bed(t, { nodes: 1 });
  const arn = await world.group("shop");
  await world.service("web");
  await world.pods("web", 2);
  const [node = ""] = world.nodes.values();
  const { ec2 } = world.aws.account;
  const eni = ec2.interfaces.values().find(({ attachment }) => attachment?.instanceId === node)!;
  const [first] = world.addresses("web").map((each) => each.replace(":8080", ""));
  ec2.interfaces.update(eni.id, { privateAddresses: [...eni.privateAddresses, first!] });
  world.start();
  await world.bind("web", { targetGroupARN: arn, networking: from(world.network.nodeGroupId, "web", 9000) });
  await world.world.advance(5_000);
  assert.deepEqual(world.targets(arn), world.addresses("web"), "a pod that is not found keeps nobody from being registered");
  assert.equal(world.condition("web", "NetworkingReady")?.status, "False");
  assert.match(world.condition("web", "NetworkingReady")?.message ?? "", /cannot resolve pod ENI for pods: \[default\/web-2\]/);
  assert.match(world.events("web").join("\n"), /Warning FailedNetworkReconcile: cannot resolve pod ENI/);
  assert.deepEqual(rules(world), [`tcp 8080-9000 ${world.network.nodeGroupId}`]);
});

test("rules that AWS refuses hold no target back, and are tried again", async (t) => {
  const world = await bed(t);
  const arn = await nodePorts(world, "web", 30080);
  const lift = world.aws.controls.deny("ec2:AuthorizeSecurityGroupIngress");
  world.start();
  await world.bind("web", { targetGroupARN: arn, networking: from(world.network.nodeGroupId, 30080) });
  await world.world.advance(5_000);
  assert.equal(world.targets(arn).length, 2);
  assert.match(world.condition("web", "NetworkingReady")?.message ?? "", /AuthorizeSecurityGroupIngress/);
  lift();
  await world.world.advance(120_000);
  assert.deepEqual(rules(world), [`tcp 30080-30080 ${world.network.nodeGroupId}`]);
  assert.equal(world.condition("web", "NetworkingReady")?.status, "True");
});

test("an empty list of ports lets nothing in, and says what to write", async (t) => {
  const world = await bed(t);
  const arn = await nodePorts(world, "web", 30080);
  world.start();
  await world.bind("web", { targetGroupARN: arn, networking: { ingress: [{ from: [{ ipBlock: { cidr: "0.0.0.0/0" } }], ports: [] }] } });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), []);
  assert.match(world.condition("web", "NetworkingReady")?.message ?? "", /ports is empty: nothing is allowed; write \[\{protocol: TCP\}\]/);
});

test("a source that does not exist is named, and keeps no other binding from its rules", async (t) => {
  const world = await bed(t);
  const first = await nodePorts(world, "web", 30080);
  const second = await nodePorts(world, "api", 30090);
  const source = world.network.nodeGroupId;
  world.start();
  await world.bind("web", { targetGroupARN: first, networking: from(missing, 30080) });
  await world.bind("api", { targetGroupARN: second, serviceRef: { name: "api", port: 80 }, networking: from(source, 30090) });
  await world.world.advance(5_000);
  assert.match(world.condition("web", "NetworkingReady")?.message ?? "", new RegExp(missing));
  assert.equal(world.condition("api", "NetworkingReady")?.status, "True");
  assert.deepEqual(rules(world), [`tcp 30090-30090 ${source}`]);
  assert.equal(world.targets(first).length, 2);
  await world.edit("web", { spec: { networking: from(source, 30080) } });
  await world.world.advance(5_000);
  assert.equal(world.condition("web", "NetworkingReady")?.status, "True");
  assert.deepEqual(rules(world), [`tcp 30080-30090 ${source}`]);
});

test("a binding goes only when what it let in is gone, also when AWS refuses at first", async (t) => {
  const world = await bed(t);
  const arn = await nodePorts(world, "web", 30080);
  world.start();
  await world.bind("web", { targetGroupARN: arn, networking: from(world.network.nodeGroupId, 30080) });
  await world.world.advance(5_000);
  assert.equal(rules(world).length, 1);
  const lift = world.aws.controls.deny("ec2:RevokeSecurityGroupIngress");
  await world.unbind("web");
  await world.world.advance(60_000);
  assert.ok(world.binding("web"), "what it let in is still there");
  assert.match(world.events("web").join("\n"), /FailedCleanup/);
  lift();
  await world.until("it goes", () => world.binding("web") === undefined, 600_000);
  assert.deepEqual(rules(world), []);
});

test("what a binding let in where another goes on letting in is taken back too, when AWS allows it again", async (t) => {
  const world = await bed(t);
  const source = world.network.nodeGroupId;
  const first = await nodePorts(world, "web", 30080);
  const second = await nodePorts(world, "api", 30090);
  world.start("--disable-restricted-sg-rules");
  await world.bind("web", { targetGroupARN: first, networking: from(source, 30080) });
  await world.bind("api", { targetGroupARN: second, serviceRef: { name: "api", port: 80 }, networking: from(source, 30090) });
  await world.world.advance(5_000);
  const lift = world.aws.controls.deny("ec2:RevokeSecurityGroupIngress");
  await world.unbind("api");
  await world.world.advance(60_000);
  lift();
  await world.until("it goes", () => world.binding("api") === undefined, 600_000);
  assert.deepEqual(rules(world), [`tcp 30080-30080 ${source}`]);
});

test("the last binding, deleted while nobody was in charge, takes with it what it let in", async (t) => {
  const world = await bed(t);
  const arn = await nodePorts(world, "web", 30080);
  const kill = world.start();
  await world.bind("web", { targetGroupARN: arn, networking: from(world.network.nodeGroupId, 30080) });
  await world.world.advance(5_000);
  assert.equal(rules(world).length, 1);
  kill();
  await world.unbind("web");
  world.start();
  await world.until("it goes", () => world.binding("web") === undefined, 600_000);
  assert.deepEqual(rules(world), []);
});

test("a binding whose Service is missing lets nothing in, and keeps nothing open that others no longer need", async (t) => {
  const world = await bed(t);
  const source = world.network.nodeGroupId;
  const first = await nodePorts(world, "web", 30080);
  const ghostly = await nodePorts(world, "ghost", 30090);
  world.start();
  await world.bind("web", { targetGroupARN: first, networking: from(source, 30080) });
  await world.bind("ghost", { targetGroupARN: ghostly, serviceRef: { name: "nobody", port: 80 }, networking: from(source, 30090) });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), [`tcp 30080-30080 ${source}`]);
  await world.unbind("web");
  await world.until("it goes", () => world.binding("web") === undefined, 600_000);
  assert.deepEqual(rules(world), []);
});

test("a binding that was never carried out keeps no rule of another from being revoked, and one without a backend lets nothing in", async (t) => {
  const world = await bed(t);
  const source = world.network.nodeGroupId;
  const first = await nodePorts(world, "web", 30080);
  const second = await nodePorts(world, "api", 30090);
  world.start("--disable-restricted-sg-rules");
  await world.bind("bad", { targetGroupName: "nothing-of-this-name", networking: from(source, 1) });
  await world.bind("web", { targetGroupARN: first, networking: from(source, 30080) });
  await world.bind("api", { targetGroupARN: second, serviceRef: { name: "api", port: 80 }, networking: from(source, 30090) });
  await world.world.advance(5_000);
  assert.deepEqual(rules(world), [`tcp 30080-30080 ${source}`, `tcp 30090-30090 ${source}`]);
  await world.edit("web", { spec: { serviceRef: { port: 81 } } });
  await world.world.advance(5_000);
  assert.deepEqual([world.targets(first), rules(world)], [[], [`tcp 30090-30090 ${source}`]]);
});

test("a group that somebody has deleted keeps no binding from going, nor another from its rules", async (t) => {
  const world = await bed(t);
  const { securityGroups, rules: all, instances, interfaces } = world.aws.account.ec2;
  const arn = await nodePorts(world, "web", 30080);
  world.start();
  await world.bind("web", {
    targetGroupARN: arn,
    networking: { ingress: [{ from: [{ ipBlock: { cidr: "10.1.0.0/16" } }], ports: [{}] }] },
  });
  await world.world.advance(5_000);
  assert.equal(rules(world).length, 1);
  // The nodes have another group from now on, and the one before is gone with its rules.
  const { nodeGroupId } = world.network;
  const other = "sg-0a0a0a0a0a0a0a0a0";
  securityGroups.put(other, { ...securityGroups.get(nodeGroupId)!, id: other, name: "other" });
  for (const { id } of instances.values()) for (const eni of instances.get(id)!.interfaceIds) interfaces.update(eni, { groupIds: [other] });
  for (const { id, groupId } of all.values()) if (groupId === nodeGroupId) all.delete(id);
  securityGroups.delete(nodeGroupId);
  await world.world.advance(11 * 60_000);
  await world.edit("web", { spec: { networking: { ingress: [{ from: [{ ipBlock: { cidr: "10.2.0.0/16" } }], ports: [{ port: 80 }] }] } } });
  await world.world.advance(60_000);
  assert.deepEqual(rules(world, other), ["tcp 80-80 10.2.0.0/16"], world.lines.slice(-5).join("\n"));
  await world.unbind("web");
  await world.until("it goes", () => world.binding("web") === undefined, 600_000);
  assert.deepEqual(rules(world, other), []);
});
