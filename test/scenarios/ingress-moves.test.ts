/** Ingresses that move: most are in the group that their class names, and move when its parameters change. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

const paramsPath = "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams";
const classPath = "/apis/networking.k8s.io/v1/ingressclasses";
const ofClass = { controller: "ingress.k8s.aws/alb", parameters: { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: "teams" } };

const inGroup = (name: string) => ({ spec: { group: { name } } });
const makeClass = (world: IngressWorld) => world.say("POST", classPath, { metadata: { name: "teams" }, spec: ofClass });
const move = (world: IngressWorld, group: string) => world.say("PATCH", `${paramsPath}/teams`, inGroup(group), "merge");
const isAt = (world: IngressWorld, name: string, group: string) => world.hostname(name).startsWith(`internal-k8s-${group}-`);

/** `moves` is of a class whose parameters name the group `old`; `stays` names it itself. */
async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  await world.say("POST", paramsPath, {
    apiVersion: "elbv2.k8s.aws/v1beta1",
    kind: "IngressClassParams",
    metadata: { name: "teams" },
    ...inGroup("old"),
  });
  await makeClass(world);
  await world.ingress("moves", { "m.example.com": ["Prefix / web:80"] }, {}, "teams");
  await world.ingress("stays", { "s.example.com": ["Prefix / web:80"] }, { "group.name": "old" });
  return world;
}

test("one that its class moves to another group keeps the address that it got there, however long a pass of the old group takes", async (t) => {
  const world = await bed(t);
  world.aws.controls.faults.add({ action: "elasticloadbalancing:CreateRule", effect: { kind: "delay", ms: 25_000 }, times: 1 });
  world.serve();
  await world.world.advance(2_000);
  await move(world, "new");
  await world.until("it has its new address", () => isAt(world, "moves", "new"), 20_000);
  await world.world.advance(10 * 60_000);
  assert.ok(isAt(world, "moves", "new"), world.hostname("moves"));
  assert.deepEqual(world.get("moves")?.metadata.finalizers, ["group.ingress.k8s.aws/new"]);
  assert.ok(isAt(world, "stays", "old"));
});

test("one that is between two groups when its class vanishes keeps the address that it has", async (t) => {
  const world = await bed(t);
  let end = world.serve();
  await world.until("both are served", () => isAt(world, "moves", "old") && isAt(world, "stays", "old"), 120_000);
  // The old group cannot let it go yet.
  world.aws.controls.faults.add({ action: "elasticloadbalancing:DeleteRule", effect: { kind: "throttle" }, probability: 1 });
  await move(world, "new");
  await world.until("it has its new address", () => isAt(world, "moves", "new"), 120_000);
  assert.equal(world.get("moves")?.metadata.finalizers?.length, 2);
  await world.say("DELETE", `${classPath}/teams`);
  end();
  world.aws.controls.faults.remove(undefined);
  end = world.serve();
  await world.change("stays", {}, { "t.example.com": ["Prefix / web:80"] });
  for (let i = 0; i < 30; i++) {
    await world.world.advance(20_000);
    assert.ok(isAt(world, "moves", "new"), world.hostname("moves"));
  }
  await makeClass(world);
  for (let i = 0; i < 30; i++) {
    await world.world.advance(20_000);
    assert.ok(isAt(world, "moves", "new"), world.hostname("moves"));
  }
  assert.deepEqual(world.get("moves")?.metadata.finalizers, ["group.ingress.k8s.aws/new"]);
});

test("what AWS refuses of one that is between two groups is asked for once by each of them", async (t) => {
  const world = await bed(t);
  world.aws.controls.faults.add({ action: "elasticloadbalancing:DescribeTags", effect: { kind: "delay", ms: 5_000 }, probability: 1 });
  await world.change("moves", { "target-group-attributes": "no.such.attribute=1" });
  world.serve();
  await world.world.advance(1_000);
  await move(world, "new");
  await world.world.advance(5 * 60_000);
  const { ModifyTargetGroupAttributes: asked = 0 } = world.calls();
  assert.ok(asked === 1 || asked === 2, `${asked} calls`);
  assert.match(world.events("moves").join("\n"), /no\.such\.attribute/);
});

test("a finalizer that is taken away by hand comes back, and one of a group that it is not in goes", async (t) => {
  const world = await bed(t);
  const own = "group.ingress.k8s.aws/old";
  const hold = (finalizers: readonly string[] | null) =>
    world.say("PATCH", "/apis/networking.k8s.io/v1/namespaces/default/ingresses/stays", { metadata: { finalizers } }, "merge");
  world.serve();
  await world.until("both are served", () => isAt(world, "moves", "old") && isAt(world, "stays", "old"), 120_000);
  await hold([own, "group.ingress.k8s.aws/elsewhere", "example.com/other"]);
  await world.world.advance(60_000);
  assert.deepEqual(world.get("stays")?.metadata.finalizers, [own, "example.com/other"]);
  await hold(null);
  await world.world.advance(60_000);
  assert.deepEqual(world.get("stays")?.metadata.finalizers, [own]);
  await world.drop("stays");
  await world.drop("moves");
  await world.until("nothing is left", () => world.all("elbv2/load-balancers").length === 0 && world.get("stays") === undefined, 600_000);
});

test("a Secret that changes while its Ingress moves is sent, although the old group's pass looks at it too", async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  const [arn = ""] = await world.issue(["s.example.com", "m.example.com"]);
  const endpoints = { authorizationEndpoint: "https://idp/a", tokenEndpoint: "https://idp/t", userInfoEndpoint: "https://idp/u" };
  const logIn = { "auth-type": "oidc", "auth-idp-oidc": JSON.stringify({ issuer: "https://idp", ...endpoints, secretName: "client" }) };
  const coded = (text: string) => Buffer.from(text).toString("base64");
  const data = (secret: string) => ({ clientID: coded("id"), clientSecret: coded(secret) });
  await world.say("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "client" }, data: data("first-secret") });
  world.serve();
  const secure = { "group.name": "old", "listen-ports": '[{"HTTPS":443}]' };
  await world.ingress("moves", { "m.example.com": ["Prefix / web:80"] }, { ...secure, ...logIn, "certificate-arn": arn });
  await world.ingress("stays", { "s.example.com": ["Prefix / web:80"] }, secure);
  await world.until("both are served", () => isAt(world, "moves", "old") && isAt(world, "stays", "old"), 120_000);
  await world.world.advance(10 * 60_000);
  const delay = (action: string, ms: number) => world.aws.controls.faults.add({ action, effect: { kind: "delay", ms }, times: 1 });
  // The old group begins to read while the new one has read and is not done, and reads on when it is.
  delay("acm:ListCertificates", 5_000);
  delay("elasticloadbalancing:CreateLoadBalancer", 10_000);
  delay("elasticloadbalancing:DescribeRules", 20_000);
  await world.change("stays", { "group.order": "5" });
  await world.world.advance(1_000);
  await world.change("moves", { "group.name": "new" });
  await world.until("it has its new address", () => isAt(world, "moves", "new"), 14_000);
  await world.say("PATCH", "/api/v1/namespaces/default/secrets/client", { data: data("second-secret") }, "merge");
  await world.world.advance(10 * 60_000);
  assert.deepEqual(JSON.stringify(world.all("elbv2/rules")).match(/(first|second)-secret/g), ["second-secret"]);
});
