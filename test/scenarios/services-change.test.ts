import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { classicOf, groupNamed, networkOf, nodeRules, rulesOf } from "../bed/balancers.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

const kinds = [
  { from: "classic", before: {}, after: { type: "nlb" }, old: classicOf, fresh: networkOf },
  { from: "network", before: { type: "nlb" }, after: { type: null }, old: networkOf, fresh: classicOf },
] as const;

for (const { from, before, after, old, fresh } of kinds) {
  test(`the kind of a ${from} load balancer is not changed unasked, and its targets go on following the nodes`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations: before });
    await world.published("web");
    const hostname = world.hostname("web");
    await world.edit("web", after);
    await world.world.advance(15_000);
    assert.equal(world.hostname("web"), hostname);
    const what = from === "classic" ? "NLB" : "Classic Load Balancer";
    const text = `cannot update Load Balancer Type annotation "service.beta.kubernetes.io/aws-load-balancer-type" after creation for ${what}`;
    const event = world.events("web").find((each) => each.includes(text));
    assert.match(event ?? "", /set service\.beta\.kubernetes\.io\/aws-load-balancer-type-change: replace/);
    assert.equal(fresh(world, "web"), undefined);
    const [added = ""] = await world.join(1);
    await world.world.advance(310_000);
    assert.ok(JSON.stringify(old(world, "web")).includes(world.instances.get(added)!.id), "the new node is a target");
    await world.delete("web");
    await world.gone("web");
    assert.deepEqual([classicOf(world, "web"), networkOf(world, "web"), nodeRules(world)], [undefined, undefined, []]);
  });

  test(`asked to, a ${from} load balancer is replaced: new one first, address when healthy, old one kept to drain`, async (t) => {
    const world = await bed(t);
    const start = world.snapshot();
    await world.create("web", { annotations: { ...before, "type-change": "replace" } });
    await world.published("web");
    const first = world.hostname("web");
    await world.world.advance(300_000);
    await world.edit("web", after);
    await world.until("the new one stands", () => fresh(world, "web") !== undefined);
    assert.equal(world.hostname("web"), first, "not yet published");
    await world.until("the new address is published", () => world.hostname("web") !== first, 400_000);
    const second = world.hostname("web");
    await world.world.advance(9 * 60_000);
    assert.ok(old(world, "web"), "it is kept while clients learn the new address");
    await world.until("the old one is gone", () => old(world, "web") === undefined, 300_000);
    await world.world.advance(600_000);
    assert.equal(world.hostname("web"), second);
    assert.ok(fresh(world, "web"));
    assert.deepEqual(world.service("web")?.status?.conditions ?? [], []);
    await world.delete("web");
    await world.gone("web");
    await world.world.advance(600_000);
    assert.deepEqual(world.differences(start), []);
  });
}

test("a kind that is changed back while the old load balancer is drained leaves clients as long to learn of it", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { "type-change": "replace" } });
  await world.published("web");
  const first = world.hostname("web");
  await world.edit("web", { type: "nlb" });
  await world.until("the new address is published", () => world.hostname("web") !== first, 400_000);
  await world.world.advance(9 * 60_000);
  await world.edit("web", { type: null });
  await world.until("the first address is published again", () => world.hostname("web") === first, 400_000);
  await world.join(1);
  await world.world.advance(9 * 60_000);
  assert.ok(networkOf(world, "web"), "it is kept while clients learn the first address");
  await world.until("it is gone", () => networkOf(world, "web") === undefined, 300_000);
  await world.until("over", () => (world.service("web")?.status?.conditions ?? []).length === 0, 300_000);
  assert.ok(classicOf(world, "web"));
});

test("a new load balancer that never gets healthy is published after five minutes all the same", async (t) => {
  const world = await bed(t, { probe: () => ({ kind: "refused" }) });
  await world.create("web", { annotations: { "type-change": "replace" } });
  await world.published("web");
  const first = world.hostname("web");
  await world.edit("web", { type: "nlb" });
  await world.world.advance(4 * 60_000);
  assert.equal(world.hostname("web"), first);
  await world.world.advance(2 * 60_000);
  assert.notEqual(world.hostname("web"), first);
});

test("a kind that changes before anything was published leaves nothing behind", async (t) => {
  const world = await bed(t);
  const lift = world.aws.controls.deny("elasticloadbalancing:ConfigureHealthCheck");
  await world.create("web");
  await world.world.advance(3_000);
  assert.ok(classicOf(world, "web"));
  lift();
  await world.edit("web", { type: "nlb" });
  await world.published("web");
  await world.world.advance(300_000);
  assert.ok(networkOf(world, "web"));
  assert.equal(classicOf(world, "web"), undefined);
});

for (const type of ["external", "nlb-ip"]) {
  test(`a Service given to another controller by ${type} loses what was made for it`, async (t) => {
    const world = await bed(t);
    await world.create("web");
    await world.published("web");
    const before = world.loadBalancerOf("web");
    await world.edit("web", { type });
    await world.until("ours is gone", () => classicOf(world, "web", before) === undefined, 300_000);
    assert.equal(world.hostname("web"), undefined);
    await world.world.advance(300_000);
    assert.deepEqual(nodeRules(world), []);
    const calls = world.mutations().length;
    await world.create("theirs", { annotations: { type } });
    await world.world.advance(60_000);
    assert.equal(world.mutations().length, calls);
    assert.deepEqual(world.service("theirs")?.metadata?.finalizers, ["service.kubernetes.io/load-balancer-cleanup"]);
    await world.delete("theirs");
    await world.gone("theirs");
  });
}

test("a Service that becomes a ClusterIP loses its load balancer, finalizer and address, and gets new ones when it is one again", async (t) => {
  const world = await bed(t);
  const start = world.snapshot();
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  await world.edit("web", {}, { type: "ClusterIP", externalTrafficPolicy: null });
  await world.until("it is let go", () => world.service("web")?.metadata?.finalizers === undefined, 300_000);
  assert.equal(world.hostname("web"), undefined);
  await world.world.advance(600_000);
  assert.deepEqual(world.differences(start), []);
  await world.edit("web", {}, { type: "LoadBalancer" });
  await world.published("web");
});

for (const restarted of [false, true]) {
  const when = restarted ? ", by the next process too" : "";
  test(`a removal that is broken off because the Service wants the other kind is brought to its end${when}`, async (t) => {
    const world = await serviceWorld();
    t.after(() => world.close());
    const manager = world.start();
    const start = world.snapshot();
    await world.create("web");
    await world.published("web");
    const group = `k8s-elb-${world.loadBalancerOf("web")}`;
    await world.edit("web", {}, { type: "ClusterIP", externalTrafficPolicy: null });
    await world.until("the load balancer is gone", () => classicOf(world, "web") === undefined);
    await world.edit("web", { type: "nlb" }, { type: "LoadBalancer" });
    assert.ok(groupNamed(world, group), "its group is not");
    if (restarted) {
      manager.kill();
      world.start();
    }
    await world.published("web");
    await world.world.advance(120_000);
    assert.equal(groupNamed(world, group), undefined);
    assert.deepEqual(
      nodeRules(world).filter((rule) => rule.includes(group)),
      [],
    );
    await world.delete("web");
    await world.gone("web");
    await world.world.advance(600_000);
    assert.deepEqual(world.differences(start), []);
  });
}

test("Services that are none of ours cost no call", async (t) => {
  const world = await bed(t);
  await world.create("plain", { spec: { type: "ClusterIP" } });
  await world.create("classed", { spec: { loadBalancerClass: "example.com/other" } });
  await world.world.advance(60_000);
  assert.deepEqual(world.calls(), {});
  assert.deepEqual(world.writes, []);
});

test("a bad annotation changes nothing, says what is allowed, and is forgotten when it is mended", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { "connection-idle-timeout": "100" } });
  await world.create("other");
  await world.published("web", "other");
  const stands = JSON.stringify(classicOf(world, "web"));
  await world.edit(
    "web",
    { "connection-idle-timeout": "soon", "cross-zone-load-balancing-enabled": "true" },
    { ports: [{ port: 81, nodePort: 31081 }] },
  );
  await world.world.advance(30_000);
  assert.equal(JSON.stringify(classicOf(world, "web")), stands);
  const [condition] = world.service("web")?.status?.conditions ?? [];
  assert.deepEqual([condition?.type, condition?.status, condition?.reason], ["LoadBalancerConfigured", "False", "InvalidConfiguration"]);
  assert.match(condition?.message ?? "", /aws-load-balancer-connection-idle-timeout=soon \(takes a number of seconds\)/);
  assert.ok(
    world
      .events("web")
      .some((text) =>
        /^Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: .*connection-idle-timeout=soon/.test(
          text,
        ),
      ),
  );
  await world.edit("other", {}, { ports: [{ port: 82, nodePort: 31082 }] });
  await world.world.advance(15_000);
  assert.deepEqual(
    classicOf(world, "other")?.listeners.map(({ port }) => port),
    [82],
    "others go on",
  );
  await world.edit("web", { "connection-idle-timeout": "200" });
  await world.world.advance(15_000);
  assert.deepEqual(world.service("web")?.status?.conditions ?? [], []);
  assert.equal(classicOf(world, "web")?.attributes.idleTimeout, 200);
  assert.deepEqual(
    classicOf(world, "web")?.listeners.map(({ port }) => port),
    [81],
  );
});

test("an annotation that looks like a typo is spoken of, and the load balancer is made", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { "proxy-protocl": "*" } });
  await world.published("web");
  const said =
    "annotation service.beta.kubernetes.io/aws-load-balancer-proxy-protocl is not known and has no effect: did you mean service.beta.kubernetes.io/aws-load-balancer-proxy-protocol?";
  assert.ok(world.events("web").includes(`Warning LoadBalancerWarning: ${said}`), world.events("web").join("\n"));
  assert.equal(world.service("web")?.status?.conditions?.[0]?.message, said);
});

test("a name of the user's choice is used for a new load balancer, found again, and refused when it is taken", async (t) => {
  const world = await bed(t);
  const start = world.snapshot();
  await world.create("web", { annotations: { type: "nlb", name: "shop" } });
  await world.published("web");
  assert.ok(networkOf(world, "web", "shop"));
  await world.create("copy", { annotations: { type: "nlb", name: "shop" } });
  await world.world.advance(10_000);
  assert.ok(world.events("copy").some((text) => /aws-load-balancer-name="shop": a load balancer of this name exists/.test(text)));
  await world.delete("copy");
  await world.gone("copy");
  assert.ok(networkOf(world, "web", "shop"), "it was not the copy's");
  await world.edit("web", { name: "another" });
  await world.world.advance(15_000);
  assert.ok(networkOf(world, "web", "shop"), "a name is for new ones");
  await world.delete("web");
  await world.gone("web");
  await world.world.advance(600_000);
  assert.deepEqual(world.differences(start), []);
});

test("what somebody changes by hand is put right within the hour, and hourly looks change nothing else", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.create("fast", { annotations: { type: "nlb" } });
  await world.published("web", "fast");
  const { account } = world.aws;
  const classics = account.store.table<NonNullable<ReturnType<typeof classicOf>>>("elb/load-balancers");
  const name = world.loadBalancerOf("web");
  classics.update(name, { instances: [], attributes: { ...classics.get(name)!.attributes, idleTimeout: 7 } });
  for (const rule of account.ec2.rules.values().filter(({ peer }) => peer.kind === "ipv4" && peer.cidr === "0.0.0.0/0")) {
    if (!rule.egress) account.ec2.rules.delete(rule.id);
  }
  world.aws.controls.journal.resetCounts();
  const mutations = world.mutations().length;
  await world.world.advance(70 * 60_000);
  assert.equal(classicOf(world, "web")?.attributes.idleTimeout, 60);
  assert.equal(classicOf(world, "web")?.instances.length, 2);
  assert.equal(rulesOf(world, groupNamed(world, `k8s-elb-${name}`) ?? "").length, 2);
  assert.equal(nodeRules(world).length, 3);
  const repairs = world.mutations().length;
  assert.ok(repairs > mutations);
  await world.world.advance(120 * 60_000);
  assert.equal(world.mutations().length, repairs);
});

for (const { kind, annotations } of [
  { kind: "classic", annotations: {} },
  { kind: "network", annotations: { type: "nlb" } },
] as const) {
  test(`attributes of a ${kind} load balancer are not read for an edit that asks for no others, and are for one that does`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations });
    await world.published("web");
    const reads = () => world.aws.controls.journal.calls("elasticloadbalancing:DescribeLoadBalancerAttributes");
    await world.edit("web", {}, { ports: [{ port: 81, nodePort: 31081 }] });
    await world.world.advance(15_000);
    assert.equal(reads(), 0);
    await world.edit("web", { "cross-zone-load-balancing-enabled": "true" });
    await world.world.advance(15_000);
    assert.equal(reads(), 1);
    await world.edit("web", {}, { ports: [{ port: 82, nodePort: 31082 }] });
    await world.world.advance(15_000);
    assert.equal(reads(), 1);
    await world.world.advance(70 * 60_000);
    assert.ok(reads() >= 2, "the hourly look reads everything");
  });
}

test("an edit that asks for other attributes puts right those that somebody has changed by hand", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.published("web");
  const classics = world.aws.account.store.table<NonNullable<ReturnType<typeof classicOf>>>("elb/load-balancers");
  const name = world.loadBalancerOf("web");
  classics.update(name, { attributes: { ...classics.get(name)!.attributes, idleTimeout: 7 } });
  await world.edit("web", { "cross-zone-load-balancing-enabled": "true" });
  await world.world.advance(15_000);
  const { idleTimeout, crossZone } = classicOf(world, "web")!.attributes;
  assert.deepEqual({ idleTimeout, crossZone }, { idleTimeout: 60, crossZone: true });
});

test("a finalizer taken by force leaves nothing behind while the controller runs", async (t) => {
  const world = await bed(t);
  const start = world.snapshot();
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  await world.say("PATCH", "/api/v1/namespaces/default/services/web", { metadata: { finalizers: null } }, "merge");
  await world.delete("web");
  await world.world.advance(900_000);
  assert.deepEqual(world.differences(start), []);
});

test("a creation that AWS refuses half-way is cleaned up with the Service", async (t) => {
  const world = await bed(t, {
    settings: { quotas: { classicLoadBalancers: 0, networkLoadBalancers: 0 } },
    config: "NLBSecurityGroupMode=Managed",
  });
  const start = world.snapshot();
  await world.create("web");
  await world.create("fast", { annotations: { type: "nlb" } });
  await world.world.advance(60_000);
  assert.ok(
    world.events("web").some((text) => /TooManyLoadBalancers.*raise the quota/.test(text)),
    world.events("web").join("\n"),
  );
  await world.delete("web");
  await world.delete("fast");
  await world.gone("web");
  await world.gone("fast");
  assert.deepEqual(world.differences(start), []);
});

test("what does not carry the cluster's tags is left alone when its Service goes", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.published("web");
  const name = world.loadBalancerOf("web");
  world.aws.account.store.table<NonNullable<ReturnType<typeof classicOf>>>("elb/load-balancers").update(name, { tags: {} });
  await world.delete("web");
  await world.world.advance(60_000);
  assert.ok(classicOf(world, "web", name));
});

test("a dry run says what it would do and does nothing", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start("--dry-run");
  const start = world.snapshot();
  await world.create("web");
  await world.world.advance(30_000);
  assert.deepEqual(world.differences(start), []);
  assert.deepEqual(world.writes, []);
  const plan = world.events("web").find((text) => text.startsWith("Normal LoadBalancerPlan"));
  assert.match(plan ?? "", /create security group k8s-elb-\w+.*create classic load balancer/s);
});
