import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateVpcCommand, RunInstancesCommand, StopInstancesCommand, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import {
  DeleteListenerCommand,
  DeregisterTargetsCommand,
  DescribeTargetHealthCommand,
  ModifyTargetGroupAttributesCommand,
  RegisterTargetsCommand,
  SetSubnetsCommand,
  type TargetDescription,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type BalancingBed, balancingBed, createSubnet } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { group, listener, network } from "./testing.ts";

const CHECK = { HealthCheckIntervalSeconds: 10, HealthyThresholdCount: 3, UnhealthyThresholdCount: 2 } as const;

function register(bed: BalancingBed, { TargetGroupArn }: TargetGroup, ...Targets: TargetDescription[]) {
  return bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn, Targets }));
}

function deregister(bed: BalancingBed, { TargetGroupArn }: TargetGroup, ...Targets: TargetDescription[]) {
  return bed.elbv2.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets }));
}

/** `state/reason` of each target. */
async function health(bed: BalancingBed, { TargetGroupArn }: TargetGroup, Targets?: TargetDescription[]): Promise<readonly string[]> {
  const { TargetHealthDescriptions: all } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn, Targets }));
  return all!.map(({ TargetHealth: one }) => (one?.Reason === undefined ? one!.State! : `${one.State}/${one.Reason}`));
}

/** A network load balancer, active, with a group in use and one instance in it. */
async function served(input: Parameters<typeof group>[1] = {}) {
  const bed = await balancingBed({ settings: { provisioningMs: 0 } });
  const lb = await network(bed);
  const tg = await group(bed, { ...CHECK, ...input });
  const made = await listener(bed, lb, tg);
  const [id] = (await bed.instances(1)) as [string];
  await register(bed, tg, { Id: id });
  return { bed, lb, tg, listener: made, id };
}

test("a target is initial first, healthy after the threshold, unhealthy with the reason, and healthy again", async () => {
  const { bed, tg } = await served({ HealthCheckProtocol: "HTTP" });
  assert.deepEqual(await health(bed, tg), ["initial/Elb.RegistrationInProgress"]);
  bed.world.pass(5_000);
  assert.deepEqual(await health(bed, tg), ["initial/Elb.InitialHealthChecking"]);
  bed.world.pass(20_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
  bed.answer({ kind: "answered", status: 503 });
  bed.world.pass(10_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
  bed.world.pass(10_000);
  assert.deepEqual(await health(bed, tg), ["unhealthy/Target.ResponseCodeMismatch"]);
  bed.answer({ kind: "silent" });
  bed.world.pass(10_000);
  assert.deepEqual(await health(bed, tg), ["unhealthy/Target.Timeout"]);
  bed.answer({ kind: "answered", status: 200 });
  bed.world.pass(30_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
});

test("a refused connection is FailedHealthChecks, and each target has its own health", async () => {
  const { bed, tg, id } = await served();
  const [, , other] = await bed.instances(3);
  await register(bed, tg, { Id: other });
  bed.answer({ kind: "refused" }, id);
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), ["unhealthy/Target.FailedHealthChecks", "healthy"]);
});

test("targets stay initial while their load balancer is being provisioned", async () => {
  const bed = await balancingBed();
  const tg = await group(bed, CHECK);
  await listener(bed, await network(bed), tg);
  bed.world.pass(1_000);
  const [Id] = await bed.instances(1);
  await register(bed, tg, { Id });
  bed.world.pass(50_000);
  assert.deepEqual(await health(bed, tg), ["initial/Elb.RegistrationInProgress"]);
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
});

test("without a listener a target is unused, and checks begin anew when the group comes into use", async () => {
  const { bed, lb, tg, listener: made } = await served();
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn: made.ListenerArn }));
  assert.deepEqual(await health(bed, tg), ["unused/Target.NotInUse"]);
  await listener(bed, lb, tg);
  assert.deepEqual(await health(bed, tg), ["initial/Elb.RegistrationInProgress"]);
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
});

test("a deregistered target drains for the group's delay and is then gone; registered again meanwhile it stays", async () => {
  const { bed, tg, id } = await served();
  bed.world.pass(60_000);
  await deregister(bed, tg, { Id: id });
  assert.deepEqual(await health(bed, tg), ["draining/Target.DeregistrationInProgress"]);
  bed.world.pass(200_000);
  await register(bed, tg, { Id: id });
  assert.deepEqual(await health(bed, tg), ["initial/Elb.RegistrationInProgress"]);
  bed.world.pass(200_000);
  assert.deepEqual(await health(bed, tg), ["healthy"]);
  const Attributes = [{ Key: "deregistration_delay.timeout_seconds", Value: "10" }];
  await bed.elbv2.send(new ModifyTargetGroupAttributesCommand({ TargetGroupArn: tg.TargetGroupArn, Attributes }));
  await deregister(bed, tg, { Id: id });
  bed.world.pass(9_000);
  assert.equal((await health(bed, tg)).length, 1);
  bed.world.pass(2_000);
  assert.deepEqual(await health(bed, tg), []);
  assert.deepEqual(await health(bed, tg, [{ Id: id }]), ["unused/Target.NotRegistered"]);
});

test("targets are keyed by id and port", async () => {
  const { bed, tg, id } = await served();
  await register(bed, tg, { Id: id, Port: 31081 }, { Id: id, Port: 31081 });
  assert.equal((await health(bed, tg)).length, 2);
  await deregister(bed, tg, { Id: id, Port: 31081 }, { Id: id, Port: 9 });
  assert.deepEqual(await health(bed, tg, [{ Id: id, Port: 31081 }, { Id: id }]), [
    "draining/Target.DeregistrationInProgress",
    "initial/Elb.RegistrationInProgress",
  ]);
});

test("a stopped instance is unused, a terminated one drops out", async () => {
  const { bed, tg, id } = await served();
  bed.world.pass(60_000);
  await bed.ec2.send(new StopInstancesCommand({ InstanceIds: [id] }));
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), ["unused/Target.InvalidState"]);
  await bed.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), []);
});

test("a target in a zone that the load balancer does not serve is unused", async () => {
  const { bed, lb, tg } = await served();
  await bed.elbv2.send(new SetSubnetsCommand({ LoadBalancerArn: lb.LoadBalancerArn, Subnets: [bed.subnets[1]] }));
  bed.world.pass(60_000);
  assert.deepEqual(await health(bed, tg), ["unused/Target.NotInUse"]);
});

test("an unknown instance, one that does not run, one of another VPC and an address are refused in a group of instances", async () => {
  const bed = await balancingBed();
  const tg = await group(bed);
  const [stopped] = (await bed.instances(1)) as [string];
  await bed.ec2.send(new StopInstancesCommand({ InstanceIds: [stopped] }));
  bed.world.pass(60_000);
  const vpc = (await bed.ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" }))).Vpc!.VpcId!;
  const SubnetId = await createSubnet(bed.ec2, vpc, "10.9.0.0/24", "a");
  const launch = new RunInstancesCommand({ ImageId: "ami-12345678", InstanceType: "t3.micro", MinCount: 1, MaxCount: 1, SubnetId });
  const foreign = (await bed.ec2.send(launch)).Instances![0]!.InstanceId!;
  bed.world.pass(60_000);
  for (const Id of ["i-0123456789abcdef0", stopped, foreign]) await refused(register(bed, tg, { Id }), "InvalidTargetException");
  await refused(register(bed, tg, { Id: "10.0.0.10" }), "ValidationError");
  assert.deepEqual(await health(bed, tg), []);
});

test("an instance of an old family is refused by a network load balancer's group", async () => {
  const bed = await balancingBed();
  const [Id] = (await bed.instances(1)) as [string];
  bed.cloud.account.ec2.instances.update(Id, { type: "m3.large" });
  const tg = await group(bed);
  await refused(register(bed, tg, { Id }), "InvalidTargetException");
  assert.deepEqual(await health(bed, tg), []);
});

test("addresses get the zone of their subnet, and those outside the VPC must name one", async () => {
  const bed = await balancingBed();
  const tg = await group(bed, { TargetType: "ip" });
  await register(bed, tg, { Id: "10.0.1.10" });
  await refused(register(bed, tg, { Id: "192.168.0.10" }), "ValidationError");
  await register(bed, tg, { Id: "192.168.0.10", AvailabilityZone: "all" });
  await refused(register(bed, tg, { Id: "8.8.8.8", AvailabilityZone: "all" }), "ValidationError");
  await refused(register(bed, tg, { Id: "i-0123456789abcdef0" }), "ValidationError");
  const { TargetHealthDescriptions } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn: tg.TargetGroupArn }));
  assert.deepEqual(
    TargetHealthDescriptions?.map((one) => [one.Target?.Id, one.Target?.AvailabilityZone]),
    [
      ["10.0.1.10", "us-east-1b"],
      ["192.168.0.10", "all"],
    ],
  );
});

test("QUIC targets carry their server id", async () => {
  const bed = await balancingBed();
  const tg = await group(bed, { Protocol: "QUIC", TargetType: "ip" });
  await refused(register(bed, tg, { Id: "10.0.1.10" }), "ValidationError");
  await register(bed, tg, { Id: "10.0.1.10", QuicServerId: "0x0123456789abcdef" });
  const { TargetHealthDescriptions } = await bed.elbv2.send(new DescribeTargetHealthCommand({ TargetGroupArn: tg.TargetGroupArn }));
  assert.equal(TargetHealthDescriptions?.[0]?.Target?.QuicServerId, "0x0123456789abcdef");
});

test("deregistering what is not there succeeds, and a group that nothing uses lets go at once", async () => {
  const bed = await balancingBed();
  const tg = await group(bed);
  const [id] = (await bed.instances(1)) as [string];
  await deregister(bed, tg, { Id: id }, { Id: "i-0123456789abcdef0" });
  await register(bed, tg, { Id: id });
  await deregister(bed, tg, { Id: id });
  assert.deepEqual(await health(bed, tg), []);
});

test("the quota of targets is TooManyTargets; draining ones do not count, and a refused call registers nothing", async () => {
  const { bed, tg, id } = await served();
  bed.cloud.controls.change({ quotas: { targetsPerTargetGroup: 1 } });
  const [, other, third] = (await bed.instances(3)) as [string, string, string];
  await refused(register(bed, tg, { Id: other }), "TooManyTargetsException");
  assert.equal((await health(bed, tg)).length, 1);
  await deregister(bed, tg, { Id: id });
  await register(bed, tg, { Id: other });
  await refused(register(bed, tg, { Id: third }), "TooManyTargetsException");
});

test("operations on an unknown target group are TargetGroupNotFound", async () => {
  const bed = await balancingBed();
  const tg = await group(bed);
  const unknown = { TargetGroupArn: `${tg.TargetGroupArn}0` };
  await refused(register(bed, unknown, { Id: "i-0123456789abcdef0" }), "TargetGroupNotFoundException");
  await refused(deregister(bed, unknown, { Id: "i-0123456789abcdef0" }), "TargetGroupNotFoundException");
  await refused(health(bed, unknown), "TargetGroupNotFoundException");
});

test("a cloud whose time runs without limit has targets healthy at the next request", async () => {
  const bed = await balancingBed({ settings: { speed: Number.POSITIVE_INFINITY } });
  const tg = await group(bed);
  await listener(bed, await network(bed), tg);
  const [Id] = await bed.instances(1);
  await register(bed, tg, { Id });
  assert.deepEqual(await health(bed, tg), ["healthy"]);
});
