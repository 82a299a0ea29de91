import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AddTagsCommand,
  type CreateTargetGroupCommandInput,
  DeleteListenerCommand,
  DeleteTargetGroupCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeTagsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetGroupsCommand,
  type DescribeTargetGroupsCommandInput,
  ModifyLoadBalancerAttributesCommand,
  ModifyTargetGroupAttributesCommand,
  ModifyTargetGroupCommand,
  type ModifyTargetGroupCommandInput,
  RemoveTagsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { balancingBed } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { describedGroup, group, listener, network } from "./testing.ts";

test("a target group for an application load balancer is checked by HTTP, and not by TCP", async () => {
  const bed = await balancingBed();
  const http = await group(bed, { Name: "http", Protocol: "HTTP" });
  assert.deepEqual([http.Protocol, http.HealthCheckProtocol], ["HTTP", "HTTP"]);
  await refused(group(bed, { Name: "tcp", Protocol: "HTTPS", HealthCheckProtocol: "TCP" }), "InvalidConfigurationRequestException");
});

test("an identical target group is returned, one with other settings is DuplicateTargetGroupName", async () => {
  const bed = await balancingBed();
  const first = await group(bed);
  assert.match(first.TargetGroupArn!, /:targetgroup\/web\/[0-9a-f]{16}$/);
  assert.equal((await group(bed, { Tags: [{ Key: "a", Value: "b" }] })).TargetGroupArn, first.TargetGroupArn);
  await refused(group(bed, { Port: 31081 }), "DuplicateTargetGroupNameException", 400);
  await refused(group(bed, { HealthCheckIntervalSeconds: 10 }), "DuplicateTargetGroupNameException");
});

test("a new target group of a network load balancer has AWS's health check defaults", async () => {
  const bed = await balancingBed();
  const tcp = await group(bed);
  assert.deepEqual(
    [tcp.HealthCheckProtocol, tcp.HealthCheckPort, tcp.HealthCheckIntervalSeconds, tcp.HealthCheckTimeoutSeconds, tcp.HealthCheckPath],
    ["TCP", "traffic-port", 30, 10, undefined],
  );
  assert.deepEqual([tcp.HealthyThresholdCount, tcp.UnhealthyThresholdCount, tcp.Matcher], [5, 2, undefined]);
  assert.deepEqual([tcp.TargetType, tcp.IpAddressType, tcp.LoadBalancerArns], ["instance", "ipv4", []]);
  const http = await group(bed, { Name: "http", HealthCheckProtocol: "HTTP" });
  assert.deepEqual([http.HealthCheckPath, http.Matcher?.HttpCode, http.HealthCheckTimeoutSeconds], ["/", "200-399", 6]);
});

test("every protocol of network load balancers makes a target group, QUIC too", async () => {
  const bed = await balancingBed();
  for (const Protocol of ["TCP", "UDP", "TCP_UDP", "TLS", "QUIC", "TCP_QUIC"] as const) {
    assert.equal((await group(bed, { Name: Protocol.replace("_", "-"), Protocol })).Protocol, Protocol);
  }
});

test("names, ports, VPCs and health checks out of AWS's rules are refused", async () => {
  const bed = await balancingBed();
  const invalid: Partial<CreateTargetGroupCommandInput>[] = [
    { Name: "-web" },
    { Name: "x".repeat(33) },
    { Port: 0 },
    { VpcId: "vpc-0123456789abcdef0" },
    { HealthCheckIntervalSeconds: 4 },
    { HealthCheckIntervalSeconds: 301 },
    { HealthyThresholdCount: 1 },
    { UnhealthyThresholdCount: 11 },
    { HealthCheckTimeoutSeconds: 121 },
    { HealthCheckTimeoutSeconds: 31 },
    { HealthCheckPort: "0" },
    { HealthCheckProtocol: "HTTP", HealthCheckPath: "healthz" },
    { HealthCheckProtocol: "HTTP", Matcher: { HttpCode: "199" } },
  ];
  for (const change of invalid) await refused(group(bed, change), "ValidationError");
  const contradictory: Partial<CreateTargetGroupCommandInput>[] = [
    { HealthCheckProtocol: "UDP" },
    { HealthCheckPath: "/healthz" },
    { HealthCheckEnabled: false },
    { TargetControlPort: 3000 },
  ];
  for (const change of contradictory) await refused(group(bed, change), "InvalidConfigurationRequestException");
});

test("a target group's health check is modified field by field, its interval and protocol too", async () => {
  const bed = await balancingBed();
  const { TargetGroupArn } = await group(bed);
  const modify = async (input: Partial<ModifyTargetGroupCommandInput>) =>
    (await bed.elbv2.send(new ModifyTargetGroupCommand({ TargetGroupArn, ...input }))).TargetGroups![0]!;
  await refused(modify({ HealthCheckIntervalSeconds: 3 }), "ValidationError");
  const changed = await modify({
    HealthCheckProtocol: "HTTP",
    HealthCheckPort: "10256",
    HealthCheckPath: "/healthz",
    HealthyThresholdCount: 3,
  });
  assert.deepEqual(
    [
      changed.HealthCheckProtocol,
      changed.HealthCheckPort,
      changed.HealthCheckPath,
      changed.HealthyThresholdCount,
      changed.UnhealthyThresholdCount,
    ],
    ["HTTP", "10256", "/healthz", 3, 2],
  );
  const back = await modify({ HealthCheckProtocol: "TCP", HealthCheckIntervalSeconds: 10 });
  assert.deepEqual([back.HealthCheckPath, back.Matcher, back.HealthCheckIntervalSeconds], [undefined, undefined, 10]);
});

test("a target group in use is ResourceInUse; deleting it twice succeeds", async () => {
  const bed = await balancingBed();
  const tg = await group(bed);
  const { ListenerArn } = await listener(bed, await network(bed), tg);
  const remove = () => bed.elbv2.send(new DeleteTargetGroupCommand({ TargetGroupArn: tg.TargetGroupArn }));
  await refused(remove(), "ResourceInUseException");
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn }));
  await remove();
  await remove();
});

test("a load balancer without groups has an empty list; unknown groups and load balancers are named as such", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed);
  assert.deepEqual((await bed.elbv2.send(new DescribeTargetGroupsCommand({ LoadBalancerArn }))).TargetGroups, []);
  await group(bed);
  const describe = (input: DescribeTargetGroupsCommandInput) => bed.elbv2.send(new DescribeTargetGroupsCommand(input));
  await refused(describe({ Names: ["web", "absent"] }), "TargetGroupNotFoundException");
  await refused(describe({ LoadBalancerArn: `${LoadBalancerArn}0` }), "LoadBalancerNotFoundException");
  await refused(describe({ Names: ["web"], LoadBalancerArn }), "ValidationError");
});

test("target groups come in pages no larger than asked", async () => {
  const bed = await balancingBed();
  for (const Name of ["a", "b", "c"]) await group(bed, { Name });
  const first = await bed.elbv2.send(new DescribeTargetGroupsCommand({ PageSize: 2 }));
  assert.equal(first.TargetGroups?.length, 2);
  const second = await bed.elbv2.send(new DescribeTargetGroupsCommand({ PageSize: 2, Marker: first.NextMarker }));
  assert.deepEqual([second.TargetGroups?.length, second.NextMarker], [1, undefined]);
});

test("the quota of target groups is TooManyTargetGroups", async () => {
  const bed = await balancingBed();
  bed.cloud.controls.change({ quotas: { targetGroups: 1 } });
  await group(bed);
  await refused(group(bed, { Name: "second" }), "TooManyTargetGroupsException");
});

test("all target group attributes are listed with AWS's defaults, by protocol and target type", async () => {
  const bed = await balancingBed();
  const attributes = async (input: Partial<CreateTargetGroupCommandInput>) => {
    const { TargetGroupArn } = await group(bed, input);
    const { Attributes } = await bed.elbv2.send(new DescribeTargetGroupAttributesCommand({ TargetGroupArn }));
    return Object.fromEntries(Attributes!.map(({ Key, Value }) => [Key!, Value]));
  };
  const tcp = await attributes({});
  assert.deepEqual(tcp, {
    "deregistration_delay.timeout_seconds": "300",
    "deregistration_delay.connection_termination.enabled": "false",
    "stickiness.enabled": "false",
    "stickiness.type": "source_ip",
    "proxy_protocol_v2.enabled": "false",
    "preserve_client_ip.enabled": "true",
    "load_balancing.cross_zone.enabled": "use_load_balancer_configuration",
    "target_group_health.dns_failover.minimum_healthy_targets.count": "1",
    "target_group_health.dns_failover.minimum_healthy_targets.percentage": "off",
    "target_group_health.unhealthy_state_routing.minimum_healthy_targets.count": "1",
    "target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage": "off",
    "target_health_state.unhealthy.connection_termination.enabled": "true",
    "target_health_state.unhealthy.draining_interval_seconds": "0",
  });
  assert.equal((await attributes({ Name: "ip", TargetType: "ip" }))["preserve_client_ip.enabled"], "false");
  const udp = await attributes({ Name: "udp", Protocol: "UDP", TargetType: "ip" });
  assert.equal(udp["preserve_client_ip.enabled"], "true");
  assert.equal(udp["deregistration_delay.connection_termination.enabled"], "true");
});

test("unknown attributes and values are refused, and a modification answers with all attributes", async () => {
  const bed = await balancingBed();
  const { TargetGroupArn } = await group(bed);
  const udp = await group(bed, { Name: "udp", Protocol: "UDP" });
  const modify = (arn: string | undefined, Key: string, Value: string) =>
    bed.elbv2.send(new ModifyTargetGroupAttributesCommand({ TargetGroupArn: arn, Attributes: [{ Key, Value }] }));
  await refused(modify(TargetGroupArn, "no.such", "true"), "InvalidConfigurationRequestException");
  await refused(modify(TargetGroupArn, "proxy_protocol_v2.enabled", "True"), "InvalidConfigurationRequestException");
  await refused(modify(TargetGroupArn, "deregistration_delay.timeout_seconds", "3601"), "InvalidConfigurationRequestException");
  await refused(modify(udp.TargetGroupArn, "preserve_client_ip.enabled", "false"), "InvalidConfigurationRequestException");
  const { Attributes } = await modify(TargetGroupArn, "preserve_client_ip.enabled", "false");
  assert.equal(Attributes?.length, 13);
  assert.equal(Attributes?.find(({ Key }) => Key === "preserve_client_ip.enabled")?.Value, "false");
});

test("all attributes of a network load balancer are listed with AWS's defaults, and those of other types refused", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed, { Scheme: "internal" });
  const { Attributes } = await bed.elbv2.send(new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn }));
  assert.deepEqual(Object.fromEntries(Attributes!.map(({ Key, Value }) => [Key!, Value ?? ""])), {
    "deletion_protection.enabled": "false",
    "load_balancing.cross_zone.enabled": "false",
    "access_logs.s3.enabled": "false",
    "access_logs.s3.bucket": "",
    "access_logs.s3.prefix": "",
    "ipv6.deny_all_igw_traffic": "true",
    "zonal_shift.config.enabled": "false",
    "dns_record.client_routing_policy": "any_availability_zone",
    "secondary_ips.auto_assigned.per_subnet": "0",
  });
  const modify = (Key: string, Value: string) =>
    bed.elbv2.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes: [{ Key, Value }] }));
  await refused(modify("idle_timeout.timeout_seconds", "60"), "InvalidConfigurationRequestException");
  await refused(modify("access_logs.s3.enabled", "true"), "InvalidConfigurationRequestException");
  await modify("secondary_ips.auto_assigned.per_subnet", "2");
  await refused(modify("secondary_ips.auto_assigned.per_subnet", "1"), "InvalidConfigurationRequestException");
});

test("tags are written on one resource of any kind, read of at most 20 at once, and an unknown ARN is named by its kind", async () => {
  const bed = await balancingBed();
  const lb = await network(bed, { Tags: [{ Key: "a", Value: "1" }] });
  const tg = await group(bed);
  const one = await listener(bed, lb, tg);
  const ResourceArns = [lb.LoadBalancerArn!, tg.TargetGroupArn!, one.ListenerArn!];
  const Tags = [{ Key: "b", Value: "2" }];
  for (const arn of ResourceArns) await bed.elbv2.send(new AddTagsCommand({ ResourceArns: [arn], Tags }));
  const oneOnly = { name: "ValidationError", message: "Only one resource can be tagged at a time" };
  await assert.rejects(bed.elbv2.send(new AddTagsCommand({ ResourceArns, Tags })), oneOnly);
  await assert.rejects(bed.elbv2.send(new RemoveTagsCommand({ ResourceArns, TagKeys: ["b"] })), oneOnly);
  await bed.elbv2.send(new RemoveTagsCommand({ ResourceArns: [lb.LoadBalancerArn!], TagKeys: ["a"] }));
  const { TagDescriptions } = await bed.elbv2.send(new DescribeTagsCommand({ ResourceArns }));
  assert.deepEqual(
    TagDescriptions?.map((description) => description.Tags),
    Array(3).fill([{ Key: "b", Value: "2" }]),
  );
  const describe = (...arns: string[]) => bed.elbv2.send(new DescribeTagsCommand({ ResourceArns: arns }));
  await refused(describe(...Array(21).fill(lb.LoadBalancerArn!)), "ValidationError");
  await refused(describe(`${lb.LoadBalancerArn}0`), "LoadBalancerNotFoundException");
  await refused(describe(`${tg.TargetGroupArn}0`), "TargetGroupNotFoundException");
  await refused(describe(`${one.ListenerArn}0`), "ListenerNotFoundException");
  const many = Array.from({ length: 50 }, (_, index) => ({ Key: `k${index}`, Value: "" }));
  await refused(bed.elbv2.send(new AddTagsCommand({ ResourceArns: [tg.TargetGroupArn!], Tags: many })), "TooManyTagsException");
  assert.equal((await describedGroup(bed)).TargetGroupName, "web");
});
