import assert from "node:assert/strict";
import { test } from "node:test";
import { StopInstancesCommand, TerminateInstancesCommand } from "@aws-sdk/client-ec2";
import {
  ConfigureHealthCheckCommand,
  DeregisterInstancesFromLoadBalancerCommand,
  DescribeInstanceHealthCommand,
  DetachLoadBalancerFromSubnetsCommand,
  type HealthCheck,
  RegisterInstancesWithLoadBalancerCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import { type BalancingBed, balancingBed } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { classic, described } from "./testing.ts";

const LoadBalancerName = "web";
const CHECK: HealthCheck = { Target: "HTTP:10256/healthz", Interval: 10, Timeout: 5, UnhealthyThreshold: 3, HealthyThreshold: 2 };

async function bedWithInstances(count: number): Promise<BalancingBed & { readonly ids: readonly string[] }> {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  await bed.elb.send(new ConfigureHealthCheckCommand({ LoadBalancerName, HealthCheck: CHECK }));
  const ids = await bed.instances(count);
  await bed.elb.send(register(...ids));
  return { ...bed, ids };
}

function register(...ids: readonly string[]): RegisterInstancesWithLoadBalancerCommand {
  return new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName, Instances: ids.map((InstanceId) => ({ InstanceId })) });
}

async function states({ elb }: BalancingBed): Promise<readonly (string | undefined)[]> {
  const { InstanceStates } = await elb.send(new DescribeInstanceHealthCommand({ LoadBalancerName }));
  return InstanceStates!.map((one) => (one.State === "InService" ? one.State : one.Description));
}

test("registering answers with all instances of the load balancer, deregistering with those that stay", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const [one, two] = (await bed.instances(2)) as [string, string];
  await bed.elb.send(register(one));
  const both = [{ InstanceId: one }, { InstanceId: two }];
  assert.deepEqual((await bed.elb.send(register(two))).Instances, both);
  assert.deepEqual((await described(bed)).Instances, both);
  const leave = new DeregisterInstancesFromLoadBalancerCommand({ LoadBalancerName, Instances: [{ InstanceId: one }] });
  assert.deepEqual((await bed.elb.send(leave)).Instances, [{ InstanceId: two }]);
  assert.deepEqual((await bed.elb.send(leave)).Instances, [{ InstanceId: two }]);
});

test("an unknown instance is InvalidInstance and nothing is registered", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const [known] = (await bed.instances(1)) as [string];
  await refused(bed.elb.send(register(known, "i-0123456789abcdef0")), "InvalidEndPointException");
  assert.deepEqual((await described(bed)).Instances, []);
  const unknown = [{ InstanceId: "i-0123456789abcdef0" }];
  const leave = new DeregisterInstancesFromLoadBalancerCommand({ LoadBalancerName, Instances: unknown });
  await refused(bed.elb.send(leave), "InvalidEndPointException");
});

test("an instance comes into service after as many passed checks as the threshold says, and leaves it after as many failed ones", async () => {
  const bed = await bedWithInstances(1);
  assert.deepEqual(await states(bed), ["Instance registration is still in progress."]);
  bed.world.pass(5_000);
  assert.deepEqual(await states(bed), ["Instance registration is still in progress."]);
  bed.world.pass(10_000);
  assert.deepEqual(await states(bed), ["InService"]);
  bed.answer({ kind: "answered", status: 503 });
  bed.world.pass(20_000);
  assert.deepEqual(await states(bed), ["InService"]);
  bed.world.pass(10_000);
  const failed = "Instance has failed at least the UnhealthyThreshold number of health checks consecutively.";
  assert.deepEqual(await states(bed), [failed]);
  bed.answer({ kind: "answered", status: 200 });
  bed.world.pass(20_000);
  assert.deepEqual(await states(bed), ["InService"]);
});

test("stopped instances are out of service, terminated ones drop out, and so says the instance of a zone that is not served", async () => {
  const bed = await bedWithInstances(3);
  bed.world.pass(60_000);
  assert.deepEqual(await states(bed), ["InService", "InService", "InService"]);
  await bed.ec2.send(new StopInstancesCommand({ InstanceIds: [bed.ids[0]!] }));
  await bed.ec2.send(new TerminateInstancesCommand({ InstanceIds: [bed.ids[1]!] }));
  await bed.elb.send(new DetachLoadBalancerFromSubnetsCommand({ LoadBalancerName, Subnets: [bed.subnets[2]] }));
  bed.world.pass(60_000);
  assert.deepEqual(await states(bed), [
    "Instance is in stopped state.",
    "Instance is in the EC2 Availability Zone for which LoadBalancer is not configured to route traffic to.",
  ]);
});

test("an instance that is asked for and not registered is out of service, and says why", async () => {
  const bed = await bedWithInstances(0);
  const [InstanceId] = await bed.instances(1);
  const { InstanceStates } = await bed.elb.send(new DescribeInstanceHealthCommand({ LoadBalancerName, Instances: [{ InstanceId }] }));
  assert.deepEqual(InstanceStates, [
    {
      InstanceId,
      State: "OutOfService",
      ReasonCode: "Instance",
      Description: "Instance is not currently registered with the LoadBalancer.",
    },
  ]);
});

test("health checks out of range or without a path are refused", async () => {
  const bed = await bedWithInstances(0);
  const changes: Partial<HealthCheck>[] = [
    { Target: "HTTP:80" },
    { Target: ":31080" },
    { Target: "TCP:0" },
    { Interval: 4 },
    { Timeout: 10 },
    { HealthyThreshold: 1 },
    { UnhealthyThreshold: 11 },
  ];
  for (const change of changes) {
    const call = new ConfigureHealthCheckCommand({ LoadBalancerName, HealthCheck: { ...CHECK, ...change } });
    await refused(bed.elb.send(call), "ValidationError");
  }
  assert.deepEqual((await described(bed)).HealthCheck, CHECK);
});

test("a cloud whose time runs without limit has instances in service at the next request", async () => {
  const bed = await balancingBed({ settings: { speed: Number.POSITIVE_INFINITY } });
  await bed.elb.send(classic(bed));
  await bed.elb.send(register(...(await bed.instances(1))));
  assert.deepEqual(await states(bed), ["InService"]);
});
