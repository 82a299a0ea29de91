/** What a group of Ingresses gets only where somebody asks for it: settings that go back, subnets that are followed, a web ACL that is left. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  ElasticLoadBalancingV2Client,
  ModifyLoadBalancerAttributesCommand,
  ModifyTargetGroupAttributesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { AssociateWebACLCommand, CreateWebACLCommand, WAFV2Client } from "@aws-sdk/client-wafv2";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  return world;
}

interface Thing {
  readonly arn: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly capacity?: { readonly units: number };
  readonly zones: readonly { readonly subnetId: string }[];
}
const [balancers, groups, listeners] = ["load-balancers", "target-groups", "listeners"].map(
  (kind) => (world: IngressWorld) => world.all<Thing>(`elbv2/${kind}`),
) as [Of, Of, Of];
type Of = (world: IngressWorld) => readonly Thing[];

const rules = { "*": ["Prefix / web:80"] };
const served = (world: IngressWorld, ...names: readonly string[]) =>
  world.until("all have an address", () => names.every((name) => world.hostname(name) !== ""), 120_000);
const gate = "--feature-gates=IngressController=true,EnhancedDefaultBehavior=true";
const idle = "idle_timeout.timeout_seconds";
const delay = "deregistration_delay.timeout_seconds";
const server = "routing.http.response.server.enabled";
const asked = {
  "load-balancer-attributes": `${idle}=90,deletion_protection.enabled=true`,
  "target-group-attributes": `${delay}=17`,
  "listener-attributes.HTTP-80": `${server}=false`,
  "minimum-load-balancer-capacity": "CapacityUnits=200",
};
const unasked = Object.fromEntries(Object.keys(asked).map((key) => [key, null]));
const state = (world: IngressWorld) => {
  const [lb] = balancers(world);
  return [
    lb?.attributes[idle],
    lb?.attributes["deletion_protection.enabled"],
    groups(world)[0]?.attributes[delay],
    listeners(world)[0]?.attributes[server],
    lb?.capacity?.units,
  ];
};

test("with EnhancedDefaultBehavior what is no longer asked for goes back to AWS's values, also after a restart; what others set stays", async (t) => {
  const world = await bed(t);
  let end = world.serve(gate);
  await world.ingress("shop", rules, asked);
  await served(world, "shop");
  await world.world.advance(15 * 60_000);
  assert.deepEqual(state(world), ["90", "true", "17", "false", 200]);
  const client = new ElasticLoadBalancingV2Client(sdkConfig(world.aws));
  const byHand = [{ Key: "routing.http2.enabled", Value: "false" }];
  await client.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: balancers(world)[0]!.arn, Attributes: byHand }));
  const slow = [{ Key: "slow_start.duration_seconds", Value: "60" }];
  await client.send(new ModifyTargetGroupAttributesCommand({ TargetGroupArn: groups(world)[0]!.arn, Attributes: slow }));

  end();
  await world.change("shop", unasked);
  end = world.serve(gate);
  await world.world.advance(15 * 60_000);
  const [lb] = balancers(world);
  assert.deepEqual(state(world), ["60", "false", "300", "true", undefined], world.events("shop").join("\n"));
  assert.deepEqual([lb?.attributes["routing.http2.enabled"], groups(world)[0]?.attributes["slow_start.duration_seconds"]], ["false", "60"]);
  assert.doesNotMatch(JSON.stringify(world.get("shop")), /set-attributes/);

  await client.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: lb!.arn, Attributes: [{ Key: idle, Value: "77" }] }));
  world.resetCalls();
  await world.world.advance(12 * 3_600_000);
  assert.deepEqual([world.mutations(), state(world)[0]], [{}, "77"], "it is nobody's business any more");
});

test("one that joins another group brings no record of what its own has set: what others set on the load balancer there stays", async (t) => {
  const world = await bed(t);
  world.serve(gate);
  await world.ingress("shop", rules, { "group.name": "shop" });
  await served(world, "shop");
  const [lb] = balancers(world);
  await world.ingress("web", rules, { "group.name": "other", "load-balancer-attributes": `${idle}=90` });
  await world.ingress("xyz", rules, { "group.name": "other" });
  await served(world, "web", "xyz");
  await world.world.advance(15 * 60_000);
  const client = new ElasticLoadBalancingV2Client(sdkConfig(world.aws));
  await client.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: lb!.arn, Attributes: [{ Key: idle, Value: "300" }] }));
  await world.change("web", { "group.name": "shop", "load-balancer-attributes": null });
  await world.world.advance(30 * 60_000);
  assert.deepEqual(
    balancers(world).map(({ arn, attributes }) => [arn === lb!.arn, attributes[idle]]),
    [
      [true, "300"],
      [false, "60"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(world.get("web")), /set-attributes/);
});

test("what one has set who leaves while another is not understood goes back when that one is", async (t) => {
  const world = await bed(t);
  world.serve(gate);
  const shared = { "group.name": "shop" };
  await world.ingress("a", rules, { ...shared, "load-balancer-attributes": `${idle}=90` });
  await world.ingress("b", rules, { ...shared });
  await world.ingress("c", { "c.example.com": ["Prefix / web:80"] }, { ...shared, "listen-ports": "[" });
  await served(world, "a");
  await world.world.advance(15 * 60_000);
  assert.equal(state(world)[0], "90");
  await world.drop("a");
  await world.until("it is let go", () => world.get("a") === undefined, 15 * 60_000);
  await world.change("c", { "listen-ports": null });
  await world.world.advance(15 * 60_000);
  assert.equal(state(world)[0], "60");
});

test("without the gate what is no longer asked for stays, and nothing is written down", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", rules, asked);
  await served(world, "shop");
  await world.world.advance(15 * 60_000);
  await world.change("shop", unasked);
  await world.world.advance(15 * 60_000);
  assert.deepEqual(state(world), ["90", "true", "17", "false", 200]);
  assert.doesNotMatch(JSON.stringify(world.get("shop")), /set-attributes/);
});

test("a crash after any call, while attributes are set and taken back, leaves none of them behind", async (t) => {
  const world = await bed(t);
  let end = world.serve(gate);
  let crashes = 0;
  const off = world.onAwsMutation((action) => {
    if (!/^Modify/.test(action)) return;
    crashes += 1;
    end();
    end = world.serve(gate);
  });
  await world.ingress("shop", rules, asked);
  await served(world, "shop");
  await world.world.advance(30 * 60_000);
  assert.deepEqual(state(world), ["90", "true", "17", "false", 200]);
  await world.change("shop", unasked);
  await world.world.advance(30 * 60_000);
  off?.();
  assert.deepEqual(state(world), ["60", "false", "300", "true", undefined]);
  assert.ok(crashes >= 8, `${crashes}`);
});

test("with subnet-discovery=always a load balancer follows subnets that come, and keeps those that it is in; without it nothing moves", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  const role = "kubernetes.io/role/internal-elb";
  const [first = "", second = "", third = ""] = world.network.privateSubnetIds;
  const untag = (id: string) => {
    const { [role]: _, ...tags } = ec2.subnets.get(id)!.tags;
    ec2.subnets.update(id, { tags });
  };
  const tag = (id: string) => ec2.subnets.update(id, { tags: { ...ec2.subnets.get(id)!.tags, [role]: "1" } });
  untag(third);
  world.serve();
  await world.ingress("follows", rules, { "subnet-discovery": "always" });
  await world.ingress("stays", rules);
  await served(world, "follows", "stays");
  const placesOf = () =>
    world
      .all<Thing & { readonly tags: object }>("elbv2/load-balancers")
      .map(({ zones, tags }) => [JSON.stringify(tags).includes("follows"), zones.map(({ subnetId }) => subnetId).toSorted()] as const)
      .toSorted();
  const both = [first, second].toSorted();
  assert.deepEqual(placesOf(), [
    [false, both],
    [true, both],
  ]);
  tag(third);
  await world.world.advance(12 * 3_600_000);
  const all = [first, second, third].toSorted();
  assert.deepEqual(placesOf(), [
    [false, both],
    [true, all],
  ]);
  for (const id of all) untag(id);
  await world.world.advance(12 * 3_600_000);
  assert.deepEqual(placesOf()[1], [true, all], "where none can be discovered it keeps what it has");
});

test("with wafv2-acl-association=if-none a web ACL that is in front already stays, whoever put it there", async (t) => {
  const world = await bed(t);
  const client = new WAFV2Client(sdkConfig(world.aws));
  const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
  const make = async (Name: string) => {
    const input = { Name, Scope: "REGIONAL" as const, DefaultAction: { Allow: {} }, VisibilityConfig };
    return (await client.send(new CreateWebACLCommand(input))).Summary?.ARN ?? "";
  };
  const [own, theirs] = [await make("own"), await make("firewall-manager")];
  const inFront = () => world.all<{ acl: string }>("wafv2/associations").map(({ acl }) => acl);
  world.serve();
  await world.ingress("shop", rules, { "wafv2-acl-arn": own, "wafv2-acl-association": "if-none" });
  await served(world, "shop");
  await world.world.advance(60_000);
  assert.deepEqual(inFront(), [own], "there was none");
  await client.send(new AssociateWebACLCommand({ ResourceArn: balancers(world)[0]!.arn, WebACLArn: theirs }));
  world.resetCalls();
  await world.world.advance(12 * 3_600_000);
  assert.deepEqual([inFront(), world.mutations()], [[theirs], {}]);
  await world.change("shop", { "wafv2-acl-association": null });
  await world.world.advance(60 * 60_000);
  assert.deepEqual(inFront(), [own]);
  await world.change("shop", { "wafv2-acl-association": "sometimes" });
  await world.world.advance(60_000);
  assert.match(world.events("shop").join("\n"), /wafv2-acl-association must be always or if-none, not sometimes/);
});

test("what the class of a later Ingress, and an annotation beside a class, say in vain is told to their Ingress, which is served", async (t) => {
  const world = await bed(t);
  for (const [name, value] of Object.entries({ one: "61", two: "62" })) {
    const spec = { group: { name: "g" }, loadBalancerAttributes: [{ key: idle, value }] };
    const kind = "IngressClassParams";
    await world.say("POST", "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams", {
      apiVersion: "elbv2.k8s.aws/v1beta1",
      kind,
      metadata: { name },
      spec,
    });
    const parameters = { apiGroup: "elbv2.k8s.aws", kind, name };
    await world.say("POST", "/apis/networking.k8s.io/v1/ingressclasses", {
      metadata: { name },
      spec: { controller: "ingress.k8s.aws/alb", parameters },
    });
  }
  world.serve();
  await world.ingress("a", rules, { "load-balancer-attributes": `${idle}=63` }, "one");
  await world.ingress("b", { "b.example.com": ["Prefix / web:80"] }, {}, "two");
  await served(world, "a", "b");
  await world.world.advance(60_000);
  assert.equal(balancers(world)[0]?.attributes[idle], "61");
  const because = `the class of Ingress default/a, the first of the group, decides, and load balancer attribute ${idle} is 61`;
  const told = (name: string) => world.events(name).filter((event) => event.includes("LoadBalancerWarning"));
  assert.deepEqual(told("b"), [
    `Warning LoadBalancerWarning: IngressClassParams two: load balancer attribute ${idle} 62 is not used: ${because}`,
  ]);
  assert.deepEqual(told("a"), [
    `Warning LoadBalancerWarning: alb.ingress.kubernetes.io/load-balancer-attributes: load balancer attribute ${idle} 63 is not used: ${because}`,
  ]);
  assert.doesNotMatch([...world.events("a"), ...world.events("b")].join("\n"), /Failed/);
});
