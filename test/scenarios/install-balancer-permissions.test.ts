/** The policy of load balancers against what the controller of Services really calls. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CreateSecurityGroupCommand, CreateTagsCommand, DeleteSecurityGroupCommand, EC2Client } from "@aws-sdk/client-ec2";
import {
  AddTagsCommand,
  ElasticLoadBalancingClient as ClassicClient,
  CreateLoadBalancerCommand as CreateClassicCommand,
  DeleteLoadBalancerCommand as DeleteClassicCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import {
  ElasticLoadBalancingV2Client as BalancerClient,
  CreateTargetGroupCommand,
  DeleteTargetGroupCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Statement } from "../../src/sandbox/cloud/access/policy.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { actionsIn, strictPolicy } from "../bed/policies.ts";
import { certificate, type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

const shipped = actionsIn("load-balancers");

/** Checked with a create, or asked for by AWS itself: no call of their own need be seen. */
const implicit = ["ec2:CreateTags", "ec2:DescribeAccountAttributes", "ec2:DescribeInternetGateways", "iam:CreateServiceLinkedRole"];

type PolicyFor = (world: ServiceWorld) => readonly Statement[];
const only =
  (actions: readonly string[]): PolicyFor =>
  () => [{ effect: "allow", actions }];
const strict: PolicyFor = ({ aws, network }) => strictPolicy(aws, network, "test", "load-balancers");

async function busyServices(t: TestContext, policyFor: PolicyFor, config = ""): Promise<ServiceWorld> {
  const world = await serviceWorld({ config });
  t.after(() => world.close());
  world.aws.controls.change({ policy: policyFor(world) });
  world.aws.controls.journal.resetCounts();
  world.start();
  return world;
}

/** Services of both kinds are made, changed in every way, and deleted. */
async function live(world: ServiceWorld, patienceMs = 600_000): Promise<void> {
  const { publicSubnetIds, nodeGroupId } = world.network;
  const [leaving] = world.instances.keys();
  const before = world.snapshot();
  await world.create("classic", {
    annotations: {
      "ssl-cert": certificate,
      "ssl-ports": "443",
      "backend-protocol": "http",
      "proxy-protocol": "*",
      subnets: publicSubnetIds.slice(0, 2).join(","),
    },
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
      ],
    },
  });
  await world.create("network", {
    annotations: { type: "nlb" },
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    },
  });
  await world.published("classic", "network");

  await world.edit(
    "classic",
    {
      "cross-zone-load-balancing-enabled": "true",
      "ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01",
      "extra-security-groups": nodeGroupId,
      "additional-resource-tags": "team=a",
      subnets: publicSubnetIds.slice(1).join(","),
      "healthcheck-interval": "20",
    },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
        { name: "c", port: 8080 },
      ],
    },
  );
  await world.edit(
    "network",
    {
      "cross-zone-load-balancing-enabled": "true",
      "target-group-attributes": "preserve_client_ip.enabled=false",
      "healthcheck-healthy-threshold": "4",
      "additional-resource-tags": "team=a",
    },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "c", port: 82 },
      ],
    },
  );
  await world.world.advance(60_000);
  await world.leave(leaving!);
  await world.edit(
    "network",
    { "security-groups": nodeGroupId },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "c", port: 82, protocol: "TCP" },
      ],
    },
  );
  await world.edit("network", { "ssl-cert": certificate, "ssl-ports": "82" });
  await world.edit("classic", {}, { ports: [{ name: "a", port: 80 }] });
  await world.world.advance(60_000);
  for (const name of ["classic", "network"]) await world.delete(name);
  for (const name of ["classic", "network"]) await world.gone(name, patienceMs);
  assert.deepEqual(world.differences(before), []);
}

/** Network load balancers without groups of their own share rules in the nodes' group; one becomes a classic one. */
async function share(world: ServiceWorld, patienceMs = 600_000): Promise<void> {
  const before = world.snapshot();
  for (const name of ["one", "two"])
    await world.create(name, { annotations: { type: "nlb", "type-change": "replace", "healthcheck-port": "10256" } });
  await world.published("one", "two");
  await world.delete("one");
  await world.gone("one", patienceMs);
  const first = world.hostname("two");
  await world.edit("two", { type: null });
  await world.until("the classic one serves", () => world.hostname("two") !== first, patienceMs);
  await world.delete("two");
  await world.gone("two", patienceMs);
  assert.deepEqual(world.differences(before), []);
}

test("under the policy of load balancers everything is done, and every action it allows is used", async (t) => {
  const counts = await everything(t, only(shipped));
  assert.deepEqual([...new Set([...counts.map(([action]) => action), ...implicit])].sort(), shipped);
  assert.deepEqual(counts.filter(isRefused), []);
});

test("under the strict policy everything is done just as well", async (t) => {
  assert.deepEqual((await everything(t, strict)).filter(isRefused), []);
});

test("under the strict policy what is not marked as the cluster's is out of reach", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  const { aws, network } = world;
  const [ec2, elb, elbv2] = [new EC2Client(sdkConfig(aws)), new ClassicClient(sdkConfig(aws)), new BalancerClient(sdkConfig(aws))];
  const { GroupId } = await ec2.send(new CreateSecurityGroupCommand({ GroupName: "web", Description: "d", VpcId: network.vpcId }));
  const group = { Name: "theirs", Protocol: "TCP", Port: 80, VpcId: network.vpcId } as const;
  const { TargetGroups } = await elbv2.send(new CreateTargetGroupCommand(group));
  const { TargetGroupArn } = TargetGroups![0]!;
  const Listeners = [{ Protocol: "TCP", LoadBalancerPort: 80, InstancePort: 80 }];
  const classic = { LoadBalancerName: "theirs", Listeners, Subnets: [network.publicSubnetIds[0]!] };
  await elb.send(new CreateClassicCommand(classic));
  aws.controls.change({ policy: strict(world) });
  const owned = [{ Key: "kubernetes.io/cluster/test", Value: "owned" }];
  await elbv2.send(new CreateTargetGroupCommand({ ...group, Name: "ours", Tags: owned }));
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["elasticloadbalancing:CreateTargetGroup", () => elbv2.send(new CreateTargetGroupCommand({ ...group, Name: "unmarked" }))],
    ["elasticloadbalancing:DeleteTargetGroup", () => elbv2.send(new DeleteTargetGroupCommand({ TargetGroupArn }))],
    ["elasticloadbalancing:DeleteLoadBalancer", () => elb.send(new DeleteClassicCommand({ LoadBalancerName: "theirs" }))],
    ["elasticloadbalancing:AddTags", () => elb.send(new AddTagsCommand({ LoadBalancerNames: ["theirs"], Tags: owned }))],
    ["ec2:CreateTags", () => ec2.send(new CreateTagsCommand({ Resources: [GroupId!], Tags: owned }))],
    ["ec2:DeleteSecurityGroup", () => ec2.send(new DeleteSecurityGroupCommand({ GroupId }))],
    ["ec2:CreateSecurityGroup", () => ec2.send(new CreateSecurityGroupCommand({ GroupName: "x", Description: "d", VpcId: network.vpcId }))],
  ];
  for (const [action, attempt] of attempts) await assert.rejects(attempt, new RegExp(`not authorized to perform: ${action} `), action);
});

/** Both lives of Services under this policy; what was called and what came of it. */
async function everything(t: TestContext, policyFor: PolicyFor) {
  const managed = await busyServices(t, policyFor, "NLBSecurityGroupMode=Managed");
  const shared = await busyServices(t, policyFor);
  await live(managed);
  await share(shared);
  return [managed, shared].flatMap(({ aws }) => Object.entries(aws.controls.journal.counts()));
}

function isRefused([, results]: readonly [string, object]): boolean {
  return "AccessDenied" in results || "UnauthorizedOperation" in results;
}

for (const missing of shipped) {
  test(`without ${missing} the work is not done, and Events of the Services concerned name exactly that action`, async (t) => {
    const allowed = only(shipped.filter((action) => action !== missing));
    const events: string[] = [];
    for (const [config, work] of [
      ["NLBSecurityGroupMode=Managed", live],
      ["", share],
    ] as const) {
      const world = await busyServices(t, allowed, config);
      await work(world, 200_000).catch(() => {});
      events.push(...["classic", "network", "one", "two"].flatMap((name) => world.events(name)));
    }
    const said = events.filter((event) => event.includes("; allow "));
    assert.deepEqual([...new Set(said.flatMap((event) => event.match(/allow ([a-z0-9]+:\w+)/)?.[1] ?? []))], [missing]);
    for (const event of said) assert.match(event, /^Warning \w+: .*(AccessDenied|UnauthorizedOperation): .*\[request id [\w-]+\]/);
  });
}
