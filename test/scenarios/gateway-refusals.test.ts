/** What AWS refuses of one rule, one target group or one listener of a Gateway: what stood in its place stays, and nobody else waits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { issue } from "../bed/certificates.ts";
import { configured, type GatewayWorld, gatewayBed, settle } from "../bed/gateway-world.ts";

const served = ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"];
const refused = ["Accepted=False UnsupportedValue", "ResolvedRefs=True ResolvedRefs"];
const inPart = [...served, "PartiallyInvalid=True UnsupportedValue"];
const accepted = ["Accepted=True Accepted", "Programmed=True Programmed"];

/** A character that AWS takes in no path pattern. */
const badPath = "/a=b";

interface StoredRule {
  readonly priority: number;
  readonly conditions: readonly { readonly PathPatternConfig?: { readonly Values?: readonly string[] } }[];
}

/** The first path of each rule, by priority. */
const paths = (world: GatewayWorld) =>
  world
    .all<StoredRule>("elbv2/rules")
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ conditions }) => conditions.flatMap(({ PathPatternConfig: path }) => path?.Values ?? [])[0]);
const ports = (world: GatewayWorld) =>
  world
    .all<{ port: number; protocol: string }>("elbv2/listeners")
    .map(({ port, protocol }) => `${protocol}:${port}`)
    .toSorted();
const rule = (value: string, name = "web") => ({
  matches: [{ path: { type: "PathPrefix", value } }],
  backendRefs: [{ name, port: 80 }],
});
const targets = (name: string, healthCheckInterval: number) => ({
  targetReference: { name },
  defaultConfiguration: { healthCheckConfig: { healthCheckInterval } },
});

test("of a new rule that AWS refuses the others of its route are served", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", {}, { rules: [rule("/a"), rule(badPath), rule("/c", "api")] });
  await world.programmed("edge");
  assert.deepEqual(paths(world), ["/a", "/c"]);
  assert.deepEqual(world.conditions("httproutes", "shop"), inPart);
  assert.deepEqual(world.conditions("gateways", "edge"), accepted);
});

test("a rule that AWS refuses to change stays what it was, and the route's other changes are made", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", {}, { rules: [rule("/a"), rule("/b", "api"), rule("/")] });
  await world.route("other", { "/other": ["web:80"] });
  await world.programmed("edge");
  assert.deepEqual(paths(world), ["/other", "/a", "/b", "/*"]);
  await world.change("httproutes", "shop", {
    metadata: { generation: 2 },
    spec: { rules: [rule("/changed"), rule(badPath, "api"), rule("/")] },
  });
  await settle(world, 180_000);
  assert.deepEqual(paths(world), ["/changed", "/other", "/b", "/*"]);
  assert.deepEqual([world.conditions("httproutes", "shop"), world.conditions("httproutes", "other")], [inPart, served]);
  await world.drop("httproutes", "other");
  await settle(world);
  assert.deepEqual(paths(world), ["/changed", "/b", "/*"], "who goes, goes");
  await world.change("httproutes", "shop", {
    metadata: { generation: 3 },
    spec: { rules: [rule("/changed"), rule("/mended", "api"), rule("/")] },
  });
  await settle(world);
  assert.deepEqual([paths(world), world.conditions("httproutes", "shop")], [["/changed", "/mended", "/*"], served]);
});

for (const restart of [false, true]) {
  test(`a route whose only rule AWS refuses keeps the one that stands${restart ? ", also after a restart" : ""}`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    const end = world.serve();
    await world.gateway("edge", ["HTTP:80"]);
    await world.route("shop", { "/": ["web:80"] });
    await world.route("other", { "/other": ["api:80"] });
    await world.programmed("edge");
    if (restart) end();
    // It leads elsewhere, too: what it led to stays with it.
    await world.change("httproutes", "shop", { metadata: { generation: 2 }, spec: { rules: [rule(badPath, "api")] } });
    if (restart) world.serve();
    await settle(world, 300_000);
    assert.deepEqual(paths(world), ["/other", "/*"]);
    assert.deepEqual([world.conditions("httproutes", "shop"), world.conditions("httproutes", "other")], [refused, served]);
    const groups = world.all<{ arn: string }>("elbv2/target-groups").map(({ arn }) => world.targets(arn).length);
    assert.ok(groups.length >= 2 && groups.every((count) => count === 1), `all have targets: ${groups}`);
    await world.change("httproutes", "shop", { metadata: { generation: 3 }, spec: { rules: [rule("/good", "api")] } });
    await settle(world, 300_000);
    assert.deepEqual([paths(world), world.all("elbv2/target-groups").length, world.bindings().length], [["/other", "/good"], 2, 2]);
    assert.deepEqual(world.conditions("httproutes", "shop"), served);
  });
}

test("what stays in the place of a refused rule stays with it when rules before it come and go", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  let generation = 1;
  const edit = async (...rules: readonly object[]) => {
    generation += 1;
    await world.change("httproutes", "shop", { metadata: { generation }, spec: { rules } });
    await settle(world, 180_000);
    return paths(world);
  };
  await world.route("shop", {}, { rules: [rule("/first"), rule("/b", "api"), rule("/")] });
  await world.programmed("edge");
  const bad = rule(badPath, "api");
  assert.deepEqual(await edit(rule("/first"), bad, rule("/")), ["/first", "/b", "/*"]);
  assert.deepEqual(await edit(bad, rule("/")), ["/b", "/*"], "the one that was deleted is gone");
  assert.deepEqual(await edit(rule("/longer"), bad, rule("/")), ["/longer", "/b", "/*"]);
  assert.deepEqual(await edit(rule("/longer"), rule("/mended", "api"), rule("/")), ["/longer", "/mended", "/*"]);
});

for (const restart of [false, true]) {
  const when = restart ? "while nobody looked" : "at once";
  test(`what stands for a refused rule is made into no other route's, nor put behind one that answers everything: ${when}`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    let end = world.serve();
    const together = async (change: () => Promise<void>) => {
      if (restart) end();
      await change();
      if (restart) end = world.serve();
      await settle(world, 180_000);
      return paths(world);
    };
    await world.gateway("edge", ["HTTP:80"]);
    await world.route("shop", {}, { rules: [rule("/b", "api")] });
    await world.route("all", { "/": ["web:80"] });
    await world.programmed("edge");
    const added = await together(async () => {
      await world.change("httproutes", "shop", { metadata: { generation: 2 }, spec: { rules: [rule(badPath, "api")] } });
      await world.route("other", { "/longer": ["web:80"] });
    });
    assert.deepEqual(added, ["/longer", "/b", "/*"]);
    await world.change("httproutes", "shop", { metadata: { generation: 3 }, spec: { rules: [rule("/b", "api")] } });
    await settle(world, 180_000);
    const dropped = await together(async () => {
      await world.change("httproutes", "shop", { metadata: { generation: 4 }, spec: { rules: [rule(badPath, "api")] } });
      await world.drop("httproutes", "other");
    });
    assert.deepEqual(dropped, ["/b", "/*"]);
  });
}

test("a redirect that AWS refuses to change stays what it was", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  const redirect = (value: string) => ({
    matches: [{ path: { type: "PathPrefix", value } }],
    filters: [{ type: "RequestRedirect", requestRedirect: { hostname: "elsewhere.example.com" } }],
  });
  await world.route("shop", {}, { rules: [redirect("/old")] });
  await world.programmed("edge");
  await world.change("httproutes", "shop", { metadata: { generation: 2 }, spec: { rules: [redirect(badPath)] } });
  await settle(world);
  assert.deepEqual([paths(world), world.conditions("httproutes", "shop")], [["/old"], refused]);
});

for (const [className, listener, plural] of [
  ["alb", "HTTP:80", "httproutes"],
  ["nlb", "TCP:80", "tcproutes"],
] as const) {
  test(`a route led to a target group that AWS refuses to make stays where it leads: class ${className}`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    const end = world.serve();
    await world.gateway("edge", [listener], { gatewayClassName: className });
    const rules = (name: string) => [{ backendRefs: [{ name, port: 80 }] }];
    await world.add(plural, "shop", { parentRefs: [{ name: "edge" }], rules: rules("web") });
    await world.programmed("edge");
    const [group] = world.all<{ arn: string }>("elbv2/target-groups");
    await world.add("targetgroupconfigurations", "api", targets("api", 1));
    await world.change(plural, "shop", { metadata: { generation: 2 }, spec: { rules: rules("api") } });
    await settle(world, 180_000);
    const state = () => [
      ports(world),
      world.all<{ arn: string }>("elbv2/target-groups").map(({ arn }) => [arn, world.targets(arn).length]),
    ];
    assert.deepEqual(state(), [[listener], [[group!.arn, 1]]]);
    assert.deepEqual([world.conditions(plural, "shop"), world.conditions("gateways", "edge")], [refused, accepted]);
    end();
    world.serve();
    await settle(world, 180_000);
    assert.deepEqual(state(), [[listener], [[group!.arn, 1]]], "nor does a restart");
    await world.change("targetgroupconfigurations", "api", { spec: targets("api", 20) });
    await settle(world, 300_000);
    assert.deepEqual([world.conditions(plural, "shop"), world.all("elbv2/target-groups").length, world.bindings().length], [served, 1, 1]);
  });
}

test("a certificate that AWS does not know keeps its own listener from being made or changed, and no other", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  const [known] = await issue(world, [["shop.example.com"]]);
  const unknown = known!.replace(/[^/]+$/, "00000000-0000-0000-0000-000000000000");
  const listenerConfigurations = (defaultCertificate: string) => [{ protocolPort: "HTTPS:443", defaultCertificate }];
  await world.add("loadbalancerconfigurations", "own", { listenerConfigurations: listenerConfigurations(unknown) });
  await world.gateway("edge", ["HTTP:80", "HTTPS:443"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  assert.deepEqual(ports(world), ["HTTP:80"]);
  const programmed = () =>
    world.get("gateways", "edge")?.status?.listeners?.map(({ conditions }) => conditions.find(({ type }) => type === "Programmed")?.status);
  assert.deepEqual(programmed(), ["True", "False"]);
  assert.match(world.events("edge").join("\n"), /port 443 is not served: .*CertificateNotFound/);
  await world.change("loadbalancerconfigurations", "own", { spec: { listenerConfigurations: listenerConfigurations(known!) } });
  await settle(world);
  assert.deepEqual(
    [ports(world), programmed()],
    [
      ["HTTP:80", "HTTPS:443"],
      ["True", "True"],
    ],
  );
  await world.change("loadbalancerconfigurations", "own", { spec: { listenerConfigurations: listenerConfigurations(unknown) } });
  await world.route("late", { "/late": ["api:80"] });
  await settle(world, 180_000);
  assert.deepEqual([ports(world), paths(world).length], [["HTTP:80", "HTTPS:443"], 4], "the new route is on both");
  assert.deepEqual(world.conditions("gateways", "edge"), accepted);
});

test("a look for certificates that is denied holds up the listener that needs one, and no other", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  await issue(world, [["shop.example.com"]]);
  const lift = world.aws.controls.deny("acm:ListCertificates");
  world.serve();
  await world.gateway("edge", ["HTTP:80", "HTTPS:443 shop.example.com"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  assert.deepEqual(ports(world), ["HTTP:80"]);
  assert.match(world.events("edge").join("\n"), /ListCertificates/);
  assert.deepEqual(world.conditions("gateways", "edge"), accepted);
  lift();
  await settle(world, 600_000);
  assert.deepEqual(ports(world), ["HTTP:80", "HTTPS:443"]);

  world.aws.controls.deny("acm:ListCertificates");
  await settle(world, 120_000);
  await world.route("late", { "/late": ["api:80"] });
  await settle(world, 180_000);
  assert.deepEqual(
    [ports(world), paths(world).length],
    [["HTTP:80", "HTTPS:443"], 4],
    "one that stands keeps its certificate, and gets the route",
  );
  assert.deepEqual(world.conditions("httproutes", "late"), served);
});

test("a trust store that cannot be looked up holds up the listener that names it, and no other", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  const [defaultCertificate] = await issue(world, [["shop.example.com"]]);
  world.aws.controls.deny("elasticloadbalancing:DescribeTrustStores");
  const mutualAuthentication = { mode: "verify", trustStore: "people" };
  await world.add("loadbalancerconfigurations", "own", {
    listenerConfigurations: [{ protocolPort: "HTTPS:443", defaultCertificate, mutualAuthentication }],
  });
  world.serve();
  await world.gateway("edge", ["HTTP:80", "HTTPS:443"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  assert.deepEqual(ports(world), ["HTTP:80"], "nobody listens without asking for certificates where they are asked for");
  await world.change("loadbalancerconfigurations", "own", {
    spec: { listenerConfigurations: [{ protocolPort: "HTTPS:443", defaultCertificate }] },
  });
  await settle(world, 400_000);
  assert.deepEqual(ports(world), ["HTTP:80", "HTTPS:443"]);
  await world.change("loadbalancerconfigurations", "own", {
    spec: { listenerConfigurations: [{ protocolPort: "HTTPS:443", defaultCertificate, mutualAuthentication }] },
  });
  await world.route("late", { "/late": ["api:80"] });
  await settle(world, 180_000);
  assert.deepEqual([ports(world), paths(world).length], [["HTTP:80", "HTTPS:443"], 4]);
});

test("what is refused is tried six times an hour, for two looks each, and nothing is written anew", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("good", { "/": ["web:80"] });
  await world.programmed("edge");
  await world.route("bad", { [badPath]: ["web:80"] });
  await settle(world, 3_600_000);
  const before = world.events("edge").length;
  world.resetCalls();
  await settle(world, 3_600_000);
  const { CreateRule = 0, DescribeRules = 0, DescribeListeners = 0 } = world.calls();
  assert.ok(CreateRule >= 5 && CreateRule <= 6, `tried ${CreateRule} times`);
  assert.deepEqual([DescribeRules, DescribeListeners], [2 * CreateRule, 2 * CreateRule]);
  assert.deepEqual([world.writes, world.events("edge").length], [[], before]);
});
