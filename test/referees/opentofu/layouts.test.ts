/** Whole clusters, made, changed and destroyed by OpenTofu on the simulated account, in every layout. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DescribeAddressesCommand,
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeVolumesCommand,
} from "@aws-sdk/client-ec2";
import { policyOf } from "../../bed/policies.ts";
import { type LayoutBed, layoutBed } from "./bed.ts";
import { ami, type Configuration, clusterUUID, configuration, inputs, type Layout, layouts } from "./inputs.ts";
import type { Step } from "./tofu.ts";

const region = "eu-central-1";
const zones = (count: number) => ["a", "b", "c"].slice(0, count).map((letter) => `${region}${letter}`);
const cloudConfig = Buffer.from("#cloud-config\n").toString("base64");
const clusterTag = `kubernetes.io/cluster/${clusterUUID}`;

/** A cluster of three masters and two permanent groups. */
function wanted(layout: Layout, count: number, changes: Configuration = {}): Configuration {
  return configuration(layout, region, {
    zones: zones(count),
    tags: { team: "platform" },
    ...(layout.name === "WithNAT" && { withNAT: { bastionInstance: { instanceClass: { instanceType: "t3.small", ami } } } }),
    masterNodeGroup: {
      replicas: 3,
      zones: zones(count),
      instanceClass: { instanceType: "m5.large", ami, diskSizeGb: 50, diskType: "gp3" },
    },
    nodeGroups: [
      { name: "system", replicas: 2, instanceClass: { instanceType: "m5.large", ami }, additionalTags: { team: "system" } },
      { name: "front", replicas: 1, instanceClass: { instanceType: "c5.large", ami }, zones: zones(count).slice(-1) },
    ],
    ...changes,
  });
}

/**
 * The steps of a cluster with the inputs that each takes besides the configuration, in the order in which they are run. Only
 * with three zones all of them: the others would show nothing more.
 */
function stepsOf(bed: LayoutBed, layout: Layout, count: number) {
  const node = (nodeGroupName: string, nodeIndex: number) => ({
    step: bed.node(layout, nodeGroupName, nodeIndex),
    more: { nodeGroupName, nodeIndex, cloudConfig },
  });
  return [
    { step: bed.base(layout), more: {} },
    ...mastersOf(count).map((nodeIndex) => ({
      step: bed.master(layout, nodeIndex),
      more: { nodeIndex, ...(nodeIndex > 0 && { cloudConfig }) },
    })),
    ...(count === 3 ? [node("system", 0), node("system", 1)] : []),
    node("front", 0),
  ];
}

function mastersOf(count: number): number[] {
  return count === 3 ? [0, 1, 2] : [count - 1];
}

for (const layout of layouts) {
  for (const count of [1, 2, 3]) {
    test(`${layout.name} with ${count} zone(s): a cluster is made, planned again without a change, changed, and destroyed to nothing`, async (t) => {
      const bed = await layoutBed(t, region);
      const steps = stepsOf(bed, layout, count);
      // Whoever runs a step may do what its own policy allows, and nothing else.
      const [base, ...nodes] = steps;
      const run = async <T>(each: (typeof steps)[number], work: (step: Step, more: Configuration) => Promise<T>): Promise<T> => {
        bed.cloud.controls.change({ policy: policyOf(each === base ? "layouts-base" : "layouts-nodes") });
        return await work(each.step, each.more);
      };
      for (const each of steps) await run(each, (step, more) => step.apply(inputs(wanted(layout, count), more)));
      const writes = bed.cloud.controls.journal.entries().length;
      for (const each of steps) assert.deepEqual(await run(each, (step, more) => step.plan(inputs(wanted(layout, count), more))), {});
      assert.equal(bed.cloud.controls.journal.entries().length, writes);
      // Each thing is made once: 13 or 20 of the network, then volume, instance and address of each machine that has them.
      const made = { WithoutNAT: 13 + 3 * 3 + 3 * 2, WithNAT: 20 + 2 + 3 * 2 + 3, Standard: 20 + 3 * 2 + 3 }[layout.name];
      if (count === 3) assert.equal(createsIn(bed), made);

      bed.cloud.controls.change({ policy: [{ effect: "allow", actions: ["*"] }] });
      await checkInstances(bed, layout, count);

      const changed = wanted(layout, count, { tags: { team: "platform", stage: "test" }, sshAllowList: ["192.0.2.0/24"] });
      const plan = await run(base!, (step, more) => step.plan(inputs(changed, more)));
      const rule = "module.security-groups.aws_security_group_rule.allow-ssh-for-everyone[0]";
      assert.deepEqual([plan["module.vpc.aws_vpc.kube[0]"], plan[rule]], ["update", "delete,create"]);
      assert.deepEqual(new Set(Object.values(plan)), new Set(["update", "delete,create"]));
      const [node] = nodes;
      const planned = await run(node!, (step, more) => step.plan(inputs(changed, more)));
      assert.deepEqual(new Set(Object.values(planned)), new Set(["update"]));
      for (const each of steps) await run(each, (step, more) => step.apply(inputs(changed, more)));
      for (const each of steps) assert.deepEqual(await run(each, (step, more) => step.plan(inputs(changed, more))), {});

      for (const each of steps.toReversed()) await run(each, (step, more) => step.destroy(inputs(changed, more)));
      assert.deepEqual(bed.leftOver(), []);
    });
  }
}

/** How many things were made by the calls so far. */
function createsIn({ cloud }: LayoutBed): number {
  const creating = /^(ec2|iam):(Create(?!Tags)|Run|Allocate|Import)/;
  return cloud.controls.journal.entries().filter(({ action }) => creating.test(action)).length;
}

async function checkInstances({ aws: { ec2 } }: LayoutBed, layout: Layout, count: number): Promise<void> {
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
  const all = Reservations.flatMap(({ Instances = [] }) => Instances).map((instance) => ({
    ...instance,
    tags: Object.fromEntries((instance.Tags ?? []).map(({ Key, Value }) => [Key!, Value!])) as Record<string, string>,
    zone: instance.Placement!.AvailabilityZone!,
  }));
  const byName = Object.fromEntries(all.map((instance) => [instance.tags.Name!, instance]));
  // Masters go round the zones, by their index.
  for (const index of mastersOf(count)) assert.equal(byName[`demo-master-${index}`]!.zone, zones(count)[index % count]);
  assert.equal(byName["demo-front-0"]!.zone, zones(count).at(-1));
  assert.equal(byName["demo-front-0"]!.tags.team, "platform");
  if (count === 3) assert.equal(byName["demo-system-0"]!.tags.team, "system");

  const nodes = all.filter(({ tags }) => tags.Name !== "demo-bastion");
  for (const { tags, PublicIpAddress, KeyName, IamInstanceProfile, SourceDestCheck } of nodes) {
    assert.deepEqual([tags[clusterTag], tags["kubernetes.io/cluster/demo"], KeyName], ["shared", "shared", "demo"]);
    assert.match(IamInstanceProfile!.Arn!, /:instance-profile\/demo-node$/);
    assert.equal(SourceDestCheck, false);
    assert.equal(PublicIpAddress !== undefined, !layout.nat);
  }
  const groups = (name: string) => byName[name]!.SecurityGroups!.map(({ GroupName }) => GroupName!).sort();
  assert.deepEqual(groups(`demo-master-${count - 1}`), layout.name === "WithNAT" ? ["demo-node"] : ["demo-node", "demo-ssh-accessible"]);
  assert.deepEqual(groups("demo-front-0"), ["demo-node"]);
  if (layout.name === "WithNAT") assert.deepEqual(groups("demo-bastion"), ["demo-node", "demo-ssh-accessible"]);

  const { Volumes = [] } = await ec2.send(new DescribeVolumesCommand({}));
  const etcd = Volumes.filter(({ Tags = [] }) => Tags.some(({ Value }) => Value?.startsWith("demo-kubernetes-data-")));
  assert.deepEqual(
    etcd.map(({ Size, VolumeType, Attachments }) => [Size, VolumeType, Attachments?.[0]?.Device]),
    mastersOf(count).map(() => [20, "gp3", "/dev/xvdf"]),
  );

  const { Addresses = [] } = await ec2.send(new DescribeAddressesCommand({}));
  assert.equal(Addresses.length, { WithoutNAT: nodes.length, WithNAT: 2, Standard: 1 }[layout.name]);

  const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({ Filters: [{ Name: "tag-key", Values: [clusterTag] }] }));
  const names = RouteTables.map(({ Tags = [] }) => Tags.find(({ Key }) => Key === "Name")?.Value);
  assert.deepEqual(names, [layout.nat ? "demo-internal" : "demo-public"]);
}
