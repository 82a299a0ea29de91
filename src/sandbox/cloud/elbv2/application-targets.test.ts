import assert from "node:assert/strict";
import { test } from "node:test";
import { AuthorizeSecurityGroupIngressCommand } from "@aws-sdk/client-ec2";
import {
  DeregisterTargetsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetHealthCommand,
  ModifyTargetGroupAttributesCommand,
  ModifyTargetGroupCommand,
  RegisterTargetsCommand,
  type TargetDescription,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import type { ProbeTarget } from "../account.ts";
import { type BalancingBed, balancingBed } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { application, forwardTo, HTTPS, rule, ruleBed, webGroup, webListener } from "./application-testing.ts";
import { group } from "./testing.ts";

const register = (bed: BalancingBed, TargetGroupArn: string | undefined, ...Targets: TargetDescription[]) =>
  bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn, Targets }));

async function health(bed: BalancingBed, TargetGroupArn: string | undefined): Promise<Record<string, string>> {
  const { TargetHealthDescriptions } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
  return Object.fromEntries(
    TargetHealthDescriptions!.map(({ Target, TargetHealth }) => [
      `${Target!.Id}:${Target!.Port}`,
      [TargetHealth!.State, TargetHealth!.Reason, TargetHealth!.Description].filter(Boolean).join(" "),
    ]),
  );
}

test("groups for application load balancers have their own defaults: HTTP checks of / every 30 s, 5 s to answer with 200", async () => {
  const bed = await balancingBed();
  const tg = await webGroup(bed, "web");
  assert.deepEqual(
    [
      tg.ProtocolVersion,
      tg.HealthCheckProtocol,
      tg.HealthCheckPath,
      tg.HealthCheckPort,
      tg.HealthCheckIntervalSeconds,
      tg.HealthCheckTimeoutSeconds,
    ],
    ["HTTP1", "HTTP", "/", "traffic-port", 30, 5],
  );
  assert.deepEqual([tg.HealthyThresholdCount, tg.UnhealthyThresholdCount, tg.Matcher], [5, 2, { HttpCode: "200" }]);
  const grpc = await webGroup(bed, "grpc", { ProtocolVersion: "GRPC" });
  assert.deepEqual([grpc.ProtocolVersion, grpc.HealthCheckPath, grpc.Matcher], ["GRPC", "/AWS.ALB/healthcheck", { GrpcCode: "12" }]);
  assert.equal((await webGroup(bed, "control", { TargetControlPort: 3000 })).TargetControlPort, 3000);
});

test("checks that AWS does not take are refused", async () => {
  const bed = await balancingBed();
  const bad: readonly (readonly [Parameters<typeof webGroup>[2], string])[] = [
    [{ HealthCheckProtocol: "TCP" }, "InvalidConfigurationRequestException"],
    [{ Matcher: { HttpCode: "500" } }, "ValidationError"],
    [{ Matcher: { GrpcCode: "0" } }, "InvalidConfigurationRequestException"],
    [{ ProtocolVersion: "GRPC", Matcher: { HttpCode: "200" } }, "InvalidConfigurationRequestException"],
    [{ ProtocolVersion: "GRPC", Matcher: { GrpcCode: "100" } }, "ValidationError"],
    [{ ProtocolVersion: "HTTP3" }, "ValidationError"],
    [{ Protocol: "TCP", ProtocolVersion: "HTTP1" }, "InvalidConfigurationRequestException"],
    [{ Protocol: "TCP", TargetControlPort: 3000 }, "InvalidConfigurationRequestException"],
    [{ HealthCheckIntervalSeconds: 10, HealthCheckTimeoutSeconds: 10 }, "ValidationError"],
    [{ HealthCheckEnabled: false }, "InvalidConfigurationRequestException"],
  ];
  for (const [input, code] of bad) await refused(webGroup(bed, "bad", input), code);
  const tg = await webGroup(bed, "web");
  const modify = (input: object) => bed.elbv2.send(new ModifyTargetGroupCommand({ TargetGroupArn: tg.TargetGroupArn, ...input }));
  assert.deepEqual((await modify({ Matcher: { HttpCode: "200,301-302" } })).TargetGroups?.[0]?.Matcher, { HttpCode: "200,301-302" });
  await refused(modify({ HealthCheckProtocol: "TCP" }), "InvalidConfigurationRequestException");
});

test("groups have the attributes of the load balancers that can use them, all listed in every answer", async () => {
  const bed = await balancingBed();
  const { TargetGroupArn } = await webGroup(bed, "web");
  const { Attributes } = await bed.elbv2.send(new DescribeTargetGroupAttributesCommand({ TargetGroupArn }));
  const all = Object.fromEntries(Attributes!.map(({ Key, Value }) => [Key, Value]));
  assert.equal(Object.keys(all).length, 14);
  assert.deepEqual(
    [
      all["stickiness.type"],
      all["load_balancing.algorithm.type"],
      all["slow_start.duration_seconds"],
      all["stickiness.lb_cookie.duration_seconds"],
    ],
    ["lb_cookie", "round_robin", "0", "86400"],
  );
  const set = (...pairs: [string, string][]) =>
    bed.elbv2.send(new ModifyTargetGroupAttributesCommand({ TargetGroupArn, Attributes: pairs.map(([Key, Value]) => ({ Key, Value })) }));
  assert.equal((await set(["stickiness.enabled", "true"])).Attributes?.length, 14);
  for (const [key, value] of [
    ["proxy_protocol_v2.enabled", "true"],
    ["stickiness.type", "source_ip"],
    ["slow_start.duration_seconds", "10"],
    ["stickiness.app_cookie.cookie_name", "AWSALBMINE"],
    ["load_balancing.algorithm.anomaly_mitigation", "on"],
    ["colour", "red"],
  ] as const) {
    await refused(set([key, value]), "InvalidConfigurationRequestException");
  }
  await set(["load_balancing.algorithm.type", "weighted_random"], ["load_balancing.algorithm.anomaly_mitigation", "on"]);
});

test("targets are addresses with ports: one address on two ports is two targets, deregistered one by one", async () => {
  const bed = await ruleBed();
  const { TargetGroupArn } = await webGroup(bed, "web");
  await register(bed, TargetGroupArn, { Id: "10.0.0.10" }, { Id: "10.0.0.10", Port: 9090 }, { Id: "10.1.0.1", AvailabilityZone: "all" });
  assert.deepEqual(Object.keys(await health(bed, TargetGroupArn)), ["10.0.0.10:8080", "10.0.0.10:9090", "10.1.0.1:8080"]);
  await bed.elbv2.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets: [{ Id: "10.0.0.10", Port: 9090 }, { Id: "10.0.0.77" }] }));
  assert.deepEqual(Object.keys(await health(bed, TargetGroupArn)), ["10.0.0.10:8080", "10.1.0.1:8080"]);
  const message = await refused(register(bed, TargetGroupArn, { Id: "10.1.0.2" }), "ValidationError");
  assert.match(message, /Availability Zone/);
  await refused(register(bed, TargetGroupArn, { Id: "8.8.8.8", AvailabilityZone: "all" }), "ValidationError");
  await refused(register(bed, TargetGroupArn, { Id: "i-0123456789abcdef0" }), "ValidationError");
});

test("the health of an address is what answers there, on the port and path of the check, over time", async () => {
  const answers = new Map([
    ["10.0.0.10", 200],
    ["10.0.0.11", 500],
  ]);
  const asked: ProbeTarget[] = [];
  const bed = await ruleBed({
    probe: (target) => {
      asked.push(target);
      const status = answers.get(target.address);
      return status === undefined ? { kind: "silent" } : { kind: "answered", status };
    },
  });
  const { TargetGroupArn } = await webGroup(bed, "web", { HealthCheckPath: "/ready", HealthCheckPort: "9000", HealthyThresholdCount: 2 });
  await register(bed, TargetGroupArn, { Id: "10.0.0.10" }, { Id: "10.0.0.11" }, { Id: "10.0.0.12" });
  const unused = "unused Target.NotInUse Target group is not configured to receive traffic from the load balancer";
  assert.equal((await health(bed, TargetGroupArn))["10.0.0.10:8080"], unused);
  await rule(bed, bed.web, 1, { Actions: [forwardTo({ TargetGroupArn })] });
  assert.match((await health(bed, TargetGroupArn))["10.0.0.10:8080"]!, /^initial Elb\.RegistrationInProgress/);
  bed.world.pass(120_000);
  await health(bed, TargetGroupArn);
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, TargetGroupArn), {
    "10.0.0.10:8080": "healthy",
    "10.0.0.11:8080": "unhealthy Target.ResponseCodeMismatch Health checks failed with these codes: [500]",
    "10.0.0.12:8080": "unhealthy Target.Timeout Request timed out",
  });
  assert.deepEqual(asked.at(-1), {
    instanceId: undefined,
    address: "10.0.0.12",
    port: 9000,
    protocol: "HTTP",
    path: "/ready",
    grpc: false,
  });
  answers.set("10.0.0.10", 503).set("10.0.0.12", 200);
  bed.world.pass(60_000);
  const later = await health(bed, TargetGroupArn);
  assert.match(later["10.0.0.10:8080"]!, /^unhealthy .*503/);
  assert.equal(later["10.0.0.12:8080"], "healthy");
  await bed.elbv2.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets: [{ Id: "10.0.0.12" }] }));
  assert.match((await health(bed, TargetGroupArn))["10.0.0.12:8080"]!, /^draining Target\.DeregistrationInProgress/);
  bed.world.pass(300_000);
  assert.equal((await health(bed, TargetGroupArn))["10.0.0.12:8080"], undefined);
});

test("gRPC targets are healthy by their gRPC status, and one that does not know the method has the default one", async () => {
  const statuses = new Map<string, number | undefined>([
    ["10.0.0.10", undefined],
    ["10.0.0.11", 0],
  ]);
  const bed = await ruleBed(
    {
      probe: ({ address }) => {
        const grpcStatus = statuses.get(address);
        return { kind: "answered", status: 200, ...(grpcStatus !== undefined && { grpcStatus }) };
      },
    },
    HTTPS,
  );
  const { TargetGroupArn } = await webGroup(bed, "grpc", { ProtocolVersion: "GRPC", HealthyThresholdCount: 2 });
  await register(bed, TargetGroupArn, { Id: "10.0.0.10" }, { Id: "10.0.0.11" });
  await rule(bed, bed.web, 1, { Actions: [forwardTo({ TargetGroupArn })] });
  bed.world.pass(240_000);
  assert.deepEqual(await health(bed, TargetGroupArn), {
    "10.0.0.10:8080": "healthy",
    "10.0.0.11:8080": "unhealthy Target.ResponseCodeMismatch Health checks failed with these codes: [0]",
  });
});

test("a function is one target without a port, whose health is unavailable until checks are switched on", async () => {
  const bed = await ruleBed();
  const lambda = { Name: "fn", TargetType: "lambda" as const, Protocol: undefined, Port: undefined, VpcId: undefined };
  const tg = await group(bed, lambda);
  assert.deepEqual(
    [tg.Protocol, tg.Port, tg.VpcId, tg.HealthCheckEnabled, tg.HealthCheckIntervalSeconds],
    [undefined, undefined, undefined, false, 35],
  );
  const { TargetGroupArn } = tg;
  const Id = "arn:aws:lambda:us-east-1:123456789012:function:hello";
  await register(bed, TargetGroupArn, { Id });
  await refused(register(bed, TargetGroupArn, { Id: `${Id}2` }), "TooManyTargetsException");
  await refused(register(bed, TargetGroupArn, { Id: "10.0.0.1" }), "ValidationError");
  await rule(bed, bed.web, 1, { Actions: [forwardTo(tg)] });
  const { TargetHealthDescriptions } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
  assert.deepEqual(TargetHealthDescriptions![0]!.Target, { Id });
  assert.equal(TargetHealthDescriptions![0]!.TargetHealth?.Reason, "Target.HealthCheckDisabled");
  await bed.elbv2.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets: [{ Id }] }));
  assert.deepEqual(await health(bed, TargetGroupArn), {});
  await refused(group(bed, { ...lambda, Name: "b", Port: 80 }), "InvalidConfigurationRequestException");
});

test("an application load balancer is a target of a network one when it is active and listens on the port", async () => {
  const bed = await balancingBed();
  const lb = await application(bed);
  await webListener(bed, lb);
  const { TargetGroupArn } = await group(bed, { Name: "front", TargetType: "alb", Port: 80, HealthCheckProtocol: "HTTP" });
  const Id = lb.LoadBalancerArn!;
  await refused(register(bed, TargetGroupArn, { Id, Port: 80 }), "InvalidTargetException");
  bed.world.pass(120_000);
  await refused(register(bed, TargetGroupArn, { Id, Port: 81 }), "InvalidTargetException");
  await register(bed, TargetGroupArn, { Id, Port: 80 });
  assert.deepEqual(Object.keys(await health(bed, TargetGroupArn)), [`${Id}:80`]);
  await refused(group(bed, { Name: "web", TargetType: "alb", Protocol: "HTTP" }), "InvalidConfigurationRequestException");
  await refused(group(bed, { Name: "web", TargetType: "alb", HealthCheckProtocol: "TCP" }), "InvalidConfigurationRequestException");
});

test("one application load balancer has at most 1000 targets, over its groups", async () => {
  const bed = await ruleBed();
  bed.cloud.controls.change({ quotas: { targetsPerApplicationLoadBalancer: 2 } });
  const [a, b] = [await webGroup(bed, "a"), await webGroup(bed, "b")];
  await rule(bed, bed.web, 1, { Actions: [forwardTo(a, b)] });
  await register(bed, a.TargetGroupArn, { Id: "10.0.0.1" });
  await register(bed, b.TargetGroupArn, { Id: "10.0.0.2" });
  await refused(register(bed, b.TargetGroupArn, { Id: "10.0.0.3" }), "TooManyTargetsException");
});

test("where targets are guarded, a check passes when a rule of their security group names the load balancer's group or addresses", async () => {
  const bed = await ruleBed({ settings: { guardTargets: true } });
  const [id] = await bed.instances(1);
  const { TargetGroupArn } = await webGroup(bed, "web", { TargetType: "instance", HealthyThresholdCount: 2 });
  await register(bed, TargetGroupArn, { Id: id });
  await rule(bed, bed.web, 1, { Actions: [forwardTo({ TargetGroupArn })] });
  const state = async () => Object.values(await health(bed, TargetGroupArn))[0];
  const open = async (name: string, peer: object) => {
    // The machine has the default group of its VPC, as the load balancer has, which lets its own members in.
    const own = await bed.group(name);
    const first = bed.cloud.account.ec2.interfaces.values().find(({ attachment }) => attachment?.instanceId === id)!;
    bed.cloud.account.ec2.interfaces.update(first.id, { groupIds: [own] });
    const IpPermissions = [{ IpProtocol: "tcp", FromPort: 8000, ToPort: 9000, ...peer }];
    await bed.ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: own, IpPermissions }));
    bed.world.pass(200_000);
  };
  await open("elsewhere", { IpRanges: [{ CidrIp: "192.168.0.0/16" }] });
  assert.equal(await state(), "unhealthy Target.Timeout Request timed out");
  await open("group", { UserIdGroupPairs: [{ GroupId: bed.lb.SecurityGroups![0] }] });
  assert.equal(await state(), "healthy");
  await open("nowhere", { IpRanges: [{ CidrIp: "10.9.0.0/16" }] });
  assert.match((await state())!, /^unhealthy/);
  await open("addresses", { IpRanges: [{ CidrIp: "10.0.0.0/16" }] });
  assert.equal(await state(), "healthy");
});
