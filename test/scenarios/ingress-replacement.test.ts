/** An Ingress that asks for another scheme, and changes its mind, or meets somebody else, while one load balancer replaces another. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AddTagsCommand, ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

/** One that has an internal load balancer with healthy targets. */
async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 2);
  world.serve();
  await world.ingress("shop", { "*": ["Prefix / web:80"] });
  await world.until("it is published", () => world.hostname("shop") !== "", 120_000);
  await world.world.advance(300_000);
  return world;
}

const balancers = (world: IngressWorld) => world.all<{ arn: string; name: string; scheme: string }>("elbv2/load-balancers");
const schemes = (world: IngressWorld) => balancers(world).map(({ scheme }) => scheme);
const shown = (world: IngressWorld) => balancers(world).find(({ name }) => world.hostname("shop").includes(`${name}-`))?.scheme;

/** When load balancers were deleted. */
function deletions(world: IngressWorld): readonly number[] {
  const at: number[] = [];
  world.onAwsMutation((action) => {
    if (action === "DeleteLoadBalancer") at.push(world.world.clock.now());
  });
  return at;
}

test("a scheme that is taken back after the new address was published gives clients of that one their five minutes too", async (t) => {
  const world = await bed(t);
  const deleted = deletions(world);
  await world.change("shop", { scheme: "internet-facing" });
  await world.until("the new address is published", () => shown(world) === "internet-facing", 600_000);
  await world.world.advance(4.5 * 60_000);
  await world.change("shop", { scheme: "internal" });
  await world.until("the first address is published again", () => shown(world) === "internal", 60_000);
  const backAt = world.world.clock.now();
  await world.until("the second one is gone", () => deleted.length === 1, 1_200_000);
  assert.ok(deleted[0]! - backAt >= 299_000, `${(deleted[0]! - backAt) / 1000} s`);
  await world.world.advance(10 * 60_000);
  assert.deepEqual([schemes(world), shown(world), world.all("elbv2/target-groups").length], [["internal"], "internal", 1]);
});

test("the five minutes of the old one begin when the new address is in the status, not when it should have been", async (t) => {
  const world = await bed(t);
  const deleted = deletions(world);
  const mend = world.cluster.faults.add({
    match: ({ method, url }) => method === "PATCH" && url.pathname.endsWith("/ingresses/shop/status"),
    effect: { kind: "refuse", status: 403 },
  });
  await world.change("shop", { scheme: "internet-facing" });
  await world.world.advance(20 * 60_000);
  assert.deepEqual([shown(world), deleted.length], ["internal", 0]);
  mend();
  await world.until("the new address is published", () => shown(world) === "internet-facing", 600_000);
  const publishedAt = world.world.clock.now();
  await world.until("the old one is gone", () => deleted.length === 1, 600_000);
  assert.ok(deleted[0]! - publishedAt >= 299_000, `${(deleted[0]! - publishedAt) / 1000} s`);
});

test("a replaced load balancer that carries somebody else's mark by now is not deleted", async (t) => {
  const world = await bed(t);
  const [old] = balancers(world);
  await world.change("shop", { scheme: "internet-facing" });
  await world.until("the new address is published", () => shown(world) === "internet-facing", 600_000);
  const Tags = [{ Key: "ingress.k8s.aws/stack", Value: "somebody/else" }];
  await new ElasticLoadBalancingV2Client(sdkConfig(world.aws)).send(new AddTagsCommand({ ResourceArns: [old!.arn], Tags }));
  await world.world.advance(7 * 60_000);
  assert.ok(
    balancers(world).some(({ arn }) => arn === old!.arn),
    "it was given away",
  );
});

test("a target group of the user's own, which stands behind one load balancer only, does not keep the scheme from changing", async (t) => {
  const action = '{"type":"forward","forwardConfig":{"targetGroups":[{"targetGroupName":"theirs"}]}}';
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 2);
  await world.group("theirs", { protocol: "HTTP" });
  world.serve();
  await world.ingress("shop", { "*": ["Prefix / web:80", "Prefix /theirs theirs:use-annotation"] }, { "actions.theirs": action });
  await world.until("it is published", () => world.hostname("shop") !== "", 120_000);
  await world.world.advance(300_000);
  await world.change("shop", { scheme: "internet-facing" });
  await world.world.advance(30 * 60_000);
  assert.deepEqual([schemes(world), shown(world)], [["internet-facing"], "internet-facing"], world.events("shop").join("\n"));
});

test("what AWS refuses of one does not keep a load balancer of another scheme from taking over for the group", async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 2);
  world.serve();
  const group = { "group.name": "shared" };
  await world.ingress("shop", { "s.example.com": ["Prefix / web:80"] }, group);
  await world.ingress("wrong", { "w.example.com": ["Prefix / web:80"] }, group);
  await world.until("both are published", () => world.hostname("shop") !== "" && world.hostname("wrong") !== "", 120_000);
  await world.world.advance(300_000);
  await world.change("wrong", { "target-group-attributes": "no.such.attribute=1" });
  await world.world.advance(60_000);
  await world.change("shop", { scheme: "internet-facing" });
  await world.until("the new address is published", () => shown(world) === "internet-facing", 30 * 60_000);
  await world.until("the old one goes", () => balancers(world).length === 1, 15 * 60_000);
});
