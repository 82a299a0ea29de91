import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AddTagsCommand,
  ApplySecurityGroupsToLoadBalancerCommand,
  AttachLoadBalancerToSubnetsCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeTagsCommand,
  DetachLoadBalancerFromSubnetsCommand,
  EnableAvailabilityZonesForLoadBalancerCommand,
  type LoadBalancerAttributes,
  ModifyLoadBalancerAttributesCommand,
  RemoveTagsCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import { type BalancingBed, balancingBed, createSubnet } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { classic, described } from "./testing.ts";

const LoadBalancerName = "web";
const DEFAULTS: LoadBalancerAttributes = {
  CrossZoneLoadBalancing: { Enabled: false },
  AccessLog: { Enabled: false },
  ConnectionDraining: { Enabled: false, Timeout: 300 },
  ConnectionSettings: { IdleTimeout: 60 },
  AdditionalAttributes: [{ Key: "elb.http.desyncmitigationmode", Value: "defensive" }],
};

async function attributes({ elb }: BalancingBed): Promise<LoadBalancerAttributes | undefined> {
  return (await elb.send(new DescribeLoadBalancerAttributesCommand({ LoadBalancerName }))).LoadBalancerAttributes;
}

test("a modification changes only what it names, and the desync mode stays one entry", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  assert.deepEqual(await attributes(bed), DEFAULTS);
  const modify = (changes: LoadBalancerAttributes) =>
    bed.elb.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerName, LoadBalancerAttributes: changes }));
  const idle = { ConnectionSettings: { IdleTimeout: 120 } };
  assert.deepEqual((await modify(idle)).LoadBalancerAttributes, idle);
  await modify({ AdditionalAttributes: [{ Key: "elb.http.desyncmitigationmode", Value: "strictest" }] });
  await modify({ ConnectionDraining: { Enabled: true } });
  assert.deepEqual(await attributes(bed), {
    ...DEFAULTS,
    ...idle,
    ConnectionDraining: { Enabled: true, Timeout: 300 },
    AdditionalAttributes: [{ Key: "elb.http.desyncmitigationmode", Value: "strictest" }],
  });
});

test("attributes that AWS does not know or take are refused", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const modify = (changes: LoadBalancerAttributes) =>
    bed.elb.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerName, LoadBalancerAttributes: changes }));
  await refused(modify({ ConnectionSettings: { IdleTimeout: 4001 } }), "ValidationError");
  await refused(modify({ AccessLog: { Enabled: true } }), "InvalidConfigurationRequestException", 409);
  const logs = { Enabled: true, S3BucketName: "logs", EmitInterval: 7 };
  await refused(modify({ AccessLog: logs }), "InvalidConfigurationRequestException", 409);
  await refused(modify({ AdditionalAttributes: [{ Key: "no.such", Value: "x" }] }), "LoadBalancerAttributeNotFoundException");
  assert.deepEqual(await attributes(bed), DEFAULTS);
});

test("more than 20 names in one classic DescribeTags are refused, and tags have their limits", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed, { Tags: [{ Key: "a", Value: "1" }] }));
  const LoadBalancerNames = [LoadBalancerName];
  await refused(bed.elb.send(new DescribeTagsCommand({ LoadBalancerNames: Array(21).fill(LoadBalancerName) })), "ValidationError");
  await bed.elb.send(new AddTagsCommand({ LoadBalancerNames, Tags: [{ Key: "b", Value: "2" }] }));
  await bed.elb.send(new RemoveTagsCommand({ LoadBalancerNames, Tags: [{ Key: "a" }] }));
  const { TagDescriptions } = await bed.elb.send(new DescribeTagsCommand({ LoadBalancerNames }));
  assert.deepEqual(TagDescriptions, [{ LoadBalancerName, Tags: [{ Key: "b", Value: "2" }] }]);
  const many = Array.from({ length: 50 }, (_, index) => ({ Key: `k${index}`, Value: "" }));
  await refused(bed.elb.send(new AddTagsCommand({ LoadBalancerNames, Tags: many })), "TooManyTagsException");
  const twice = [many[0]!, many[0]!];
  await refused(bed.elb.send(new AddTagsCommand({ LoadBalancerNames, Tags: twice })), "DuplicateTagKeysException");
});

test("subnets are attached one a zone and detached down to one, and interfaces follow", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed, { Subnets: [bed.subnets[0]] }));
  const attach = (...Subnets: string[]) => bed.elb.send(new AttachLoadBalancerToSubnetsCommand({ LoadBalancerName, Subnets }));
  const detach = (...Subnets: string[]) => bed.elb.send(new DetachLoadBalancerFromSubnetsCommand({ LoadBalancerName, Subnets }));
  const twin = await createSubnet(bed.ec2, bed.vpcId, "10.0.9.0/24", "a");
  await refused(attach(twin), "InvalidConfigurationRequestException", 409);
  await refused(attach("subnet-0123456789abcdef0"), "SubnetNotFoundException");
  assert.deepEqual((await attach(bed.subnets[1])).Subnets, [bed.subnets[0], bed.subnets[1]]);
  assert.equal((await bed.interfaces("ELB web")).length, 2);
  assert.deepEqual((await detach(bed.subnets[0])).Subnets, [bed.subnets[1]]);
  await refused(detach(bed.subnets[1]), "InvalidConfigurationRequestException", 409);
  bed.world.pass(30_000);
  assert.deepEqual(
    (await bed.interfaces("ELB web")).map((one) => one.SubnetId),
    [bed.subnets[1]],
  );
  const zones = { LoadBalancerName, AvailabilityZones: ["us-east-1c"] };
  await refused(bed.elb.send(new EnableAvailabilityZonesForLoadBalancerCommand(zones)), "ValidationError");
});

test("security groups are replaced on the load balancer and its interfaces", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const other = await bed.group("other");
  const apply = (...SecurityGroups: string[]) =>
    bed.elb.send(new ApplySecurityGroupsToLoadBalancerCommand({ LoadBalancerName, SecurityGroups }));
  await refused(apply("sg-0123456789abcdef0"), "InvalidSecurityGroupException");
  await apply(other, bed.groupId);
  assert.deepEqual((await described(bed)).SecurityGroups, [other, bed.groupId]);
  assert.equal((await described(bed)).SourceSecurityGroup?.GroupName, "other");
  const groups = (await bed.interfaces("ELB web")).map((one) => one.Groups?.map((group) => group.GroupId));
  assert.deepEqual(groups, Array(3).fill([other, bed.groupId]));
});
