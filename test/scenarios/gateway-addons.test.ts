/** Add-ons of a Gateway that need more than its load balancer, and where it stands. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CreateTagsCommand, EC2Client } from "@aws-sdk/client-ec2";
import { AddTagsCommand, ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { CreateSubscriptionCommand, ShieldClient } from "@aws-sdk/client-shield";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { configured, type GatewayWorld, gatewayBed, settle } from "../bed/gateway-world.ts";

const subscribe = (world: GatewayWorld) => new ShieldClient(sdkConfig(world.aws)).send(new CreateSubscriptionCommand({}));
const protectedOnes = (world: GatewayWorld) => world.all<{ name: string; resourceArn: string }>("shield/protections");
/** Shortly before the old one is retired. */
const givenAtMs = 460_000;
const recorded = (world: GatewayWorld) => world.get("gateways", "edge")?.metadata.annotations?.["gateway.k8s.aws.addon.shield"];

/** A Gateway whose load balancer Shield protects. */
async function protectedBed(t: TestContext): Promise<GatewayWorld> {
  const world = await gatewayBed(t, "web");
  await subscribe(world);
  await world.add("loadbalancerconfigurations", "own", { shieldConfiguration: { enabled: true } });
  world.serve();
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await settle(world);
  return world;
}

test("Shield protects a load balancer while it is asked to, and no protection outlasts one that goes", async (t) => {
  const world = await protectedBed(t);
  const [balancer] = world.all<{ arn: string }>("elbv2/load-balancers");
  assert.deepEqual(
    protectedOnes(world).map(({ name, resourceArn }) => [name, resourceArn]),
    [["managed by aws-load-balancer-controller", balancer?.arn]],
  );
  assert.equal(recorded(world), "true");

  await world.change("loadbalancerconfigurations", "own", { spec: { shieldConfiguration: { enabled: false } } });
  await settle(world, 120_000);
  assert.deepEqual([protectedOnes(world), recorded(world)], [[], "false"]);

  await world.change("loadbalancerconfigurations", "own", { spec: { shieldConfiguration: { enabled: true }, scheme: "internet-facing" } });
  await settle(world, 40 * 60_000);
  const [moved] = world.all<{ arn: string }>("elbv2/load-balancers");
  assert.notEqual(moved?.arn, balancer?.arn);
  assert.deepEqual(
    protectedOnes(world).map(({ resourceArn }) => resourceArn),
    [moved?.arn],
    "nothing is left of the one that was replaced",
  );

  const lift = world.aws.controls.deny("shield:DeleteProtection");
  await world.drop("gateways", "edge");
  await settle(world, 300_000);
  assert.ok(world.get("gateways", "edge"), "it is not let go before its protection is gone");
  assert.match(world.events("edge").join("\n"), /FailedDeployModel: .*shield:DeleteProtection/);
  lift();
  await world.until("the Gateway is gone", () => world.get("gateways", "edge") === undefined, 60 * 60_000);
  assert.deepEqual([protectedOnes(world), world.all("elbv2/load-balancers").length], [[], 0]);
});

for (const [what, isGiven] of [
  ["no protection outlasts a load balancer of another scheme from which it was taken in the same moment", false],
  ["the protection of a load balancer that was given to somebody else is theirs", true],
] as const) {
  test(what, async (t) => {
    const world = await protectedBed(t);
    const [old] = world.all<{ arn: string }>("elbv2/load-balancers");
    await world.change("loadbalancerconfigurations", "own", {
      spec: { shieldConfiguration: { enabled: isGiven }, scheme: "internet-facing" },
    });
    if (isGiven) {
      await settle(world, givenAtMs);
      const tags = [{ Key: "elbv2.k8s.aws/cluster", Value: "another" }];
      await new ElasticLoadBalancingV2Client(sdkConfig(world.aws)).send(new AddTagsCommand({ ResourceArns: [old!.arn], Tags: tags }));
    }
    await settle(world, isGiven ? 60_000 : 40 * 60_000);
    const balancers = world.all<{ arn: string }>("elbv2/load-balancers").map(({ arn }) => arn);
    assert.equal(balancers.length, isGiven ? 2 : 1);
    assert.deepEqual(
      protectedOnes(world)
        .map(({ resourceArn }) => resourceArn)
        .toSorted(),
      isGiven ? balancers.toSorted() : [],
    );
  });
}

test("an account without Shield Advanced is served without it", async (t) => {
  const world = await gatewayBed(t, "web");
  await world.add("loadbalancerconfigurations", "own", { shieldConfiguration: { enabled: true } });
  world.serve();
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  assert.deepEqual([protectedOnes(world), world.mutations().CreateProtection], [[], undefined]);
});

test("subnets are chosen by the tags of a selector", async (t) => {
  const world = await gatewayBed(t, "web");
  const chosen = [...world.network.publicSubnetIds].toSorted();
  await new EC2Client(sdkConfig(world.aws)).send(new CreateTagsCommand({ Resources: chosen, Tags: [{ Key: "place", Value: "edge" }] }));
  await world.add("loadbalancerconfigurations", "own", { loadBalancerSubnetsSelector: { place: ["edge", "elsewhere"] } });
  world.serve();
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  const [balancer] = world.all<{ subnets: readonly { subnetId: string }[] }>("elbv2/load-balancers");
  assert.deepEqual(
    JSON.stringify(balancer)
      .match(/subnet-[0-9a-f]+/g)
      ?.toSorted(),
    chosen,
  );
});
