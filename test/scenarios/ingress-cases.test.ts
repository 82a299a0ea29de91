/** What happens around an Ingress: its Service made anew, its status changed by hand, groups that are lent, defaults that come and go. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  return world;
}

const toWeb = { "*": ["Prefix / web:80"] };
const served = (world: IngressWorld, name: string) => world.until(`${name} has an address`, () => world.hostname(name) !== "", 300_000);
const servicePath = "/api/v1/namespaces/default/services";
const spec = { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };
const classPath = "/apis/networking.k8s.io/v1/ingressclasses";

test("a Service that is made anew keeps its target group and its binding, though their names came from its UID", async (t) => {
  const world = await bed(t);
  let end = world.serve();
  await world.ingress("shop", toWeb);
  await served(world, "shop");
  await world.world.advance(300_000);
  const names = () =>
    [world.all<{ name: string }>("elbv2/target-groups"), world.bindings().map(({ metadata }) => metadata)].flat().map(({ name }) => name);
  const before = names();
  end();
  await world.say("DELETE", `${servicePath}/web`);
  await world.say("POST", servicePath, { metadata: { name: "web" }, spec });
  world.resetCalls();
  end = world.serve();
  await world.world.advance(300_000);
  assert.deepEqual(
    [names(), world.mutations(), world.targets(world.all<{ arn: string }>("elbv2/target-groups")[0]!.arn)],
    [before, {}, world.addresses("web")],
  );
});

test("a status is written only where it says something else, and what others wrote into it goes", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", toWeb, { "listen-ports": '[{"HTTP":81},{"HTTP":80}]' });
  await served(world, "shop");
  const published = () => world.get("shop")?.status?.loadBalancer?.ingress;
  const [entry] = published() ?? [];
  assert.deepEqual(
    entry?.ports,
    [80, 81].map((port) => ({ port, protocol: "TCP" })),
  );
  const write = (ingress: readonly object[]) =>
    world.say(
      "PATCH",
      "/apis/networking.k8s.io/v1/namespaces/default/ingresses/shop/status",
      { status: { loadBalancer: { ingress } } },
      "merge",
    );
  const look = async () => {
    world.resetCalls();
    await world.change("shop", { "example.com/looked-at": String(world.world.clock.monotonic()) });
    await world.world.advance(30_000);
  };
  await write([
    {
      hostname: entry!.hostname,
      ports: [
        { port: 81, protocol: "TCP" },
        { port: 80, protocol: "TCP" },
      ],
    },
  ]);
  await look();
  assert.deepEqual(
    published()?.[0]?.ports?.map(({ port }) => port),
    [81, 80],
    "the order of ports means nothing",
  );
  for (const wrong of [[{ ip: "10.0.0.1" }], [entry!, { hostname: "other.example.com" }], [{ hostname: "other.example.com" }]]) {
    await write(wrong);
    await look();
    assert.deepEqual(published(), [entry], JSON.stringify(wrong));
  }
});

test("an Ingress that protects its load balancer from deletion is told so, and goes when it does no longer", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", toWeb, { "load-balancer-attributes": "deletion_protection.enabled=true" });
  await served(world, "shop");
  await world.drop("shop");
  await world.world.advance(120_000);
  assert.match(world.events("shop").join("\n"), /FailedBuildModel: .*deletion_protection is enabled, cannot delete the ingress: shop/);
  assert.equal(world.all("elbv2/load-balancers").length, 1);
  await world.change("shop", { "load-balancer-attributes": null });
  await world.until("gone", () => world.get("shop") === undefined, 600_000);
  assert.deepEqual(world.all("elbv2/load-balancers"), [], "what the console protects is let go of, and deleted");
});

test("a security group that is given for all load balancers is used, and never tagged, opened or deleted", async (t) => {
  const world = await bed(t);
  const { nodeGroupId } = world.network;
  const before = world.all<{ id: string }>("ec2/security-groups").find(({ id }) => id === nodeGroupId);
  world.serve(`--backend-security-group=${nodeGroupId}`);
  await world.ingress("shop", toWeb);
  await served(world, "shop");
  const [lb] = world.all<{ groupIds: readonly string[] }>("elbv2/load-balancers");
  assert.ok(lb?.groupIds.includes(nodeGroupId));
  await world.drop("shop");
  await world.until("gone", () => world.get("shop") === undefined, 600_000);
  await world.world.advance(300_000);
  assert.deepEqual(
    world.all<{ id: string }>("ec2/security-groups").find(({ id }) => id === nodeGroupId),
    before,
  );
});

test("the group that load balancers share is found again after a restart, and goes with the last of them", async (t) => {
  const world = await bed(t);
  const groups = () =>
    world
      .all<{ name: string }>("ec2/security-groups")
      .map(({ name }) => name)
      .filter((name) => name.startsWith("k8s-traffic-"));
  let end = world.serve();
  await world.ingress("one", toWeb);
  await world.ingress("two", toWeb, { "security-groups": world.network.nodeGroupId });
  await served(world, "one");
  assert.equal(groups().length, 1);
  end();
  end = world.serve();
  await world.world.advance(120_000);
  assert.equal(groups().length, 1);
  await world.drop("one");
  await world.until("gone", () => world.get("one") === undefined, 600_000);
  await world.drop("two");
  await world.until("gone", () => world.get("two") === undefined, 600_000);
  await world.until("the shared group is gone", () => groups().length === 0, 600_000);
});

test("the group that load balancers share is not touched before every Ingress, and every class, is known", async (t) => {
  const world = await bed(t);
  const end = world.serve();
  await world.ingress("one", toWeb);
  await served(world, "one");
  await world.world.advance(10 * 60_000);
  end();
  for (const kind of ["ingresses", "ingressclasses"]) {
    const know = world.cluster.faults.add({
      match: ({ method, url }) => method === "GET" && url.pathname.endsWith(`/${kind}`),
      effect: { kind: "refuse", status: 500 },
    });
    world.resetCalls();
    const stop = world.serve();
    await world.world.advance(10 * 60_000);
    assert.deepEqual(world.mutations(), {}, `without ${kind} nobody knows whether it is needed`);
    know();
    stop();
  }
});

test("a class that becomes the default, and parameters that it is given, reach the Ingresses that name none", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.say("POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
    metadata: { name: "shop" },
    spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
  });
  await world.world.advance(60_000);
  assert.equal(world.hostname("shop"), "");
  const isDefault = (value: string) => ({ metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": value } } });
  await world.say("PATCH", `${classPath}/alb`, isDefault("true"), "merge");
  await served(world, "shop");

  await world.say("POST", classPath, {
    metadata: { name: "second", ...isDefault("true").metadata },
    spec: { controller: "example.com/x" },
  });
  await world.ingress("other", toWeb);
  await served(world, "other");
  await world.say(
    "PATCH",
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses/shop",
    { metadata: { labels: { a: "b" }, annotations: { a: "b" } } },
    "merge",
  );
  await world.world.advance(60_000);
  assert.match(world.events("shop").join("\n"), /multiple default IngressClasses found/);
  assert.doesNotMatch(world.events("other").join("\n"), /Failed/, "nobody else is concerned");
  assert.equal(world.all("elbv2/load-balancers").length, 2, "and nothing is taken away");
});

test("a Service that gets IPv6 addresses gets a target group for them, and back", async (t) => {
  const world = await ingressWorld({ ipv6: true });
  t.after(() => world.close());
  await world.service("web", { ipFamilies: ["IPv4"] });
  await world.pods("web", 1);
  world.serve();
  await world.ingress("shop", toWeb, { "ip-address-type": "dualstack" });
  await served(world, "shop");
  const types = () => world.all<{ ipAddressType: string }>("elbv2/target-groups").map(({ ipAddressType }) => ipAddressType);
  assert.deepEqual(types(), ["ipv4"]);
  for (const [ipFamilies, type] of [
    [["IPv4", "IPv6"], "ipv6"],
    [["IPv4"], "ipv4"],
  ] as const) {
    await world.say("PATCH", `${servicePath}/web`, { spec: { ipFamilies } }, "merge");
    await world.until(`replaced by one of ${type}`, () => types().join() === type && world.bindings().length === 1, 600_000);
    assert.doesNotMatch(world.events("shop").join("\n"), /Failed/);
  }
});

test("an Ingress can leave a group of which nobody else was ever understood, and that has nothing", async (t) => {
  const world = await bed(t);
  let end = world.serve();
  const [group, bad] = [{ "group.name": "g" }, { "listen-ports": "[" }];
  await world.ingress("one", toWeb, { ...group, ...bad });
  await world.ingress("two", toWeb, { ...group, ...bad });
  await world.until("both have the finalizer", () => ["one", "two"].every((name) => world.get(name)?.metadata.finalizers?.length), 60_000);
  end();
  end = world.serve();
  await world.drop("one");
  await world.until("gone", () => world.get("one") === undefined, 600_000);
  assert.deepEqual([world.all("elbv2/load-balancers"), world.get("two")?.metadata.finalizers], [[], ["group.ingress.k8s.aws/g"]]);
});

test("an Ingress can leave a group of which nobody else is understood, and that has no more than its target group", async (t) => {
  const world = await bed(t);
  const fault = world.aws.controls.faults.add({
    action: "elasticloadbalancing:CreateLoadBalancer",
    effect: { kind: "fail", code: "InternalFailure", status: 500 },
    probability: 1,
  });
  let end = world.serve();
  const group = { "group.name": "g" };
  await world.ingress("one", toWeb, group);
  await world.ingress("two", toWeb, { ...group, "listen-ports": "[" });
  await world.until("a target group", () => world.all("elbv2/target-groups").length > 0, 60_000);
  end();
  await world.drop("one");
  end = world.serve();
  await world.until("gone", () => world.get("one") === undefined, 900_000);
  assert.deepEqual([world.all("elbv2/target-groups"), world.bindings()], [[], []]);
  world.aws.controls.faults.remove(fault);
});

test("what AWS refuses of one Ingress keeps nobody waiting, also when its first deployment got no answer", async (t) => {
  const world = await bed(t);
  const fault = world.aws.controls.faults.add({
    action: "elasticloadbalancing:CreateTargetGroup",
    effect: { kind: "fail", code: "InternalFailure", status: 500 },
    probability: 1,
  });
  world.serve();
  const group = { "group.name": "g" };
  await world.ingress("bad", { "bad.example.com": ["Prefix / web:80"] }, { ...group, "target-group-attributes": "no.such.attribute=1" });
  await world.ingress("good", { "good.example.com": ["Prefix / web:80"] }, group);
  await world.world.advance(60_000);
  world.aws.controls.faults.remove(fault);
  await served(world, "good");
  assert.match(world.events("bad").join("\n"), /no.such.attribute/);
});

test("capacity is reserved when the load balancer is active, and changed when the last change is done; nobody is told of a failure", async (t) => {
  const world = await bed(t);
  world.aws.controls.change({ provisioningMs: 150_000 });
  const units = "minimum-load-balancer-capacity";
  const [lb] = [() => world.all<{ state: string; capacity?: { units: number; state: string } }>("elbv2/load-balancers")[0]];
  const reserved: (string | undefined)[] = [];
  world.onAwsMutation((action) => {
    if (action === "ModifyCapacityReservation") reserved.push(lb()?.state);
  });
  world.serve();
  await world.ingress("shop", toWeb, { [units]: "CapacityUnits=100" });
  await served(world, "shop");
  assert.deepEqual([lb()?.state, reserved], ["provisioning", []], "it is served meanwhile");
  await world.until("it is reserved", () => lb()?.capacity?.units === 100, 300_000);
  assert.deepEqual(reserved, ["active"]);
  assert.equal(lb()?.capacity?.state, "pending");
  await world.change("shop", { [units]: "CapacityUnits=200" });
  await world.world.advance(60_000);
  assert.deepEqual([lb()?.capacity?.units, world.hostname("shop") !== ""], [100, true], "AWS makes one change at a time");
  await world.until("it is changed", () => lb()?.capacity?.units === 200, 600_000);
  assert.doesNotMatch(world.events("shop").join("\n"), /Failed/);
  await world.world.advance(600_000);
  world.resetCalls();
  await world.world.advance(60 * 60_000);
  assert.deepEqual(world.calls(), {}, "what is as it should be is not asked about");
  await world.change("shop", { [units]: "CapacityUnits=0" });
  await world.until("it is cancelled", () => lb()?.capacity === undefined, 60_000);
});

test("a load balancer that cannot grow serves: capacity is reserved for it, and it takes the place of another", async (t) => {
  const world = await bed(t);
  world.aws.controls.change({ provisioningMs: 24 * 3_600_000 });
  const balancers = () => world.all<{ arn: string; scheme: string; state: string; capacity?: { units: number } }>("elbv2/load-balancers");
  const impair = () => {
    const table = world.aws.account.store.table("elbv2/load-balancers");
    for (const { arn } of balancers()) table.update(arn, { state: "active_impaired" } as never);
  };
  world.serve();
  await world.ingress("shop", toWeb, { "minimum-load-balancer-capacity": "CapacityUnits=100" });
  await served(world, "shop");
  await world.world.advance(5 * 60_000);
  assert.equal(balancers()[0]?.capacity, undefined);
  impair();
  await world.until("it is reserved", () => balancers()[0]?.capacity?.units === 100, 600_000);
  await world.change("shop", { scheme: "internet-facing" });
  await world.until("the new one is made", () => balancers().length === 2, 60_000);
  impair();
  await world.until(
    "the new one alone stands",
    () =>
      balancers()
        .map(({ scheme }) => scheme)
        .join() === "internet-facing",
    3_600_000,
  );
  assert.doesNotMatch(world.events("shop").join("\n"), /Failed/);
});

test("a Service that is named in an action alone, or beside one that cannot be read, wakes its Ingress when it comes", async (t) => {
  const world = await bed(t);
  world.serve("--tolerate-non-existent-backend-service=false");
  const forward = { type: "forward", forwardConfig: { targetGroups: [{ serviceName: "late", servicePort: 80 }] } };
  await world.ingress("action", { "*": ["Prefix / send:use-annotation"] }, { "actions.send": JSON.stringify(forward) });
  await world.ingress("half", { "*": ["Exact /a late:80", "Exact /b bad:use-annotation"] }, { "actions.bad": "{" });
  await world.world.advance(30 * 60_000);
  const last = (name: string) => world.events(name).at(-1) ?? "";
  assert.match(last("action"), /late/);
  assert.match(last("half"), /late/);
  await world.service("late");
  await world.pods("late", 1);
  await world.world.advance(5_000);
  assert.match(last("half"), /actions\.bad/, "it was looked at at once, not when its last failure is forgotten");
  await world.until("its address is published", () => world.hostname("action") !== "", 10_000);
});

test("a mistake in the one Ingress that says whom a group lets in opens the group to nobody, also after a restart", async (t) => {
  const world = await bed(t);
  const end = world.serve();
  const group = { "group.name": "g" };
  await world.ingress("close", toWeb, { ...group, "inbound-cidrs": "10.0.0.0/8" });
  await world.ingress("plain", toWeb, group);
  await world.until("both are served", () => ["close", "plain"].every((name) => world.hostname(name) !== ""), 120_000);
  await world.world.advance(15 * 60_000);
  end();
  await world.change("close", { "listen-ports": "[" });
  world.resetCalls();
  world.serve();
  await world.world.advance(15 * 60_000);
  assert.deepEqual(world.mutations(), {});
});

test("a binding that somebody deletes comes back, also of an Ingress whose name is too long for a label", async (t) => {
  const world = await bed(t);
  const name = `shop-${"x".repeat(80)}`;
  world.serve();
  await world.ingress(name, toWeb);
  await served(world, name);
  await world.world.advance(60_000);
  const uids = () => world.cluster.objects("targetgroupbindings.elbv2.k8s.aws").map(({ metadata }) => metadata.uid);
  const [before] = uids();
  const [{ metadata }] = world.bindings() as [{ metadata: { name: string } }];
  await world.say("DELETE", `/apis/elbv2.k8s.aws/v1beta1/namespaces/default/targetgroupbindings/${metadata.name}`);
  await world.until("another one is there", () => uids().some((uid) => uid !== before), 600_000);
});

test("one that goes to another controller no longer shows the address of a load balancer of a chosen name, nor of one in front", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", toWeb, { "load-balancer-name": "a-name-of-thirty-one-characters", "enable-frontend-nlb": "true" });
  await world.until("both are shown", () => world.get("shop")?.status?.loadBalancer?.ingress?.length === 2, 600_000);
  await world.change("shop", { "kubernetes.io/ingress.class": "nginx" });
  await world.until("it is let go", () => (world.get("shop")?.metadata.finalizers ?? []).length === 0, 900_000);
  assert.equal(world.hostname("shop"), "");
});

test("the shared security group that somebody has deleted by hand is made again when the next load balancer needs it", async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  world.serve();
  await world.ingress("first", { "*": ["Prefix / web:80"] });
  await world.until("it is served", () => world.hostname("first") !== "", 120_000);
  // Refused for as long as a load balancer has it; the controller keeps it for whoever comes next.
  await world.ingress("waits", { "*": ["Prefix / web:80"] }, { "backend-protocol": "SMTP" });
  await world.drop("first");
  await world.until("it is gone", () => world.get("first") === undefined, 600_000);
  const groups = world.aws.account.store.table<{ id: string; name: string }>("ec2/security-groups");
  const shared = groups.values().find(({ name }) => name.startsWith("k8s-traffic-"))!;
  groups.delete(shared.id);
  await world.ingress("second", { "*": ["Prefix / web:80"] });
  await world.until("it is served again", () => world.hostname("second") !== "", 10 * 60_000);
  assert.ok(groups.values().some(({ name }) => name.startsWith("k8s-traffic-")));
});
