/** Instances behind a classic load balancer, and how it finds them. */
import {
  ConfigureHealthCheck$,
  type ConfigureHealthCheckInput,
  type ConfigureHealthCheckOutput,
  type DeregisterEndPointsInput,
  type DeregisterEndPointsOutput,
  DeregisterInstancesFromLoadBalancer$,
  type DescribeEndPointStateInput,
  type DescribeEndPointStateOutput,
  DescribeInstanceHealth$,
  type Instance,
  type InstanceState,
  type RegisterEndPointsInput,
  type RegisterEndPointsOutput,
  RegisterInstancesWithLoadBalancer$,
} from "@aws-sdk/client-elastic-load-balancing";
import type { ProbeTarget } from "../account.ts";
import type { HealthCheck } from "../balancing/checks.ts";
import { guarded } from "../balancing/firewall.ts";
import type { Instance as Ec2Instance } from "../ec2/state.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type ClassicLoadBalancer, type Elb, loadBalancerNamed, type RegisteredInstance } from "./state.ts";

/** The operations on instances and their health. */
export function instanceOperations(elb: Elb): Operations {
  return [
    write<RegisterEndPointsInput, RegisterEndPointsOutput>(RegisterInstancesWithLoadBalancer$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      return { Instances: ids(elb, register(elb, loadBalancer, input.Instances ?? [])) };
    }),
    write<DeregisterEndPointsInput, DeregisterEndPointsOutput>(DeregisterInstancesFromLoadBalancer$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      return { Instances: ids(elb, deregister(elb, loadBalancer, input.Instances ?? [])) };
    }),
    write<ConfigureHealthCheckInput, ConfigureHealthCheckOutput>(ConfigureHealthCheck$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const healthCheck = checkedHealthCheck(input.HealthCheck as ClassicLoadBalancer["healthCheck"]);
      elb.loadBalancers.update(loadBalancer.name, { healthCheck });
      return { HealthCheck: healthCheck };
    }),
    read<DescribeEndPointStateInput, DescribeEndPointStateOutput>(DescribeInstanceHealth$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const asked = input.Instances?.length
        ? input.Instances.map((instance) => knownInstance(elb, instance).id)
        : present(elb, loadBalancer).map(({ id }) => id);
      return { InstanceStates: asked.map((id) => stateOf(elb, loadBalancer, id)) };
    }),
  ];
}

/** The registered instances that still exist; terminated ones drop out by themselves. */
export function present(elb: Elb, loadBalancer: ClassicLoadBalancer): readonly RegisteredInstance[] {
  return loadBalancer.instances.filter(({ id }) => {
    const instance = elb.account.ec2.instances.get(id);
    return instance !== undefined && instance.state !== "terminated";
  });
}

function ids(elb: Elb, loadBalancer: ClassicLoadBalancer): Instance[] {
  return present(elb, loadBalancer).map(({ id }) => ({ InstanceId: id }));
}

function register(elb: Elb, loadBalancer: ClassicLoadBalancer, given: readonly Instance[]): ClassicLoadBalancer {
  const instances = [...present(elb, loadBalancer)];
  for (const input of given) {
    const instance = knownInstance(elb, input);
    if (instance.vpcId !== loadBalancer.vpcId) {
      throw new ServiceError("InvalidInstance", `EC2 instance '${instance.id}' is not in the same VPC as ELB.`);
    }
    if (!instances.some(({ id }) => id === instance.id)) instances.push({ id: instance.id, verdict: { kind: "pending" } });
  }
  const updated = elb.loadBalancers.update(loadBalancer.name, { instances });
  watch(elb, updated);
  return updated;
}

function deregister(elb: Elb, loadBalancer: ClassicLoadBalancer, given: readonly Instance[]): ClassicLoadBalancer {
  const leaving = new Set<string>();
  for (const input of given) {
    const id = input.InstanceId ?? "";
    if (!loadBalancer.instances.some((registered) => registered.id === id)) knownInstance(elb, input);
    leaving.add(id);
    elb.checks.forget(keyOf(loadBalancer, id));
  }
  const instances = present(elb, loadBalancer).filter(({ id }) => !leaving.has(id));
  return elb.loadBalancers.update(loadBalancer.name, { instances });
}

function knownInstance(elb: Elb, { InstanceId: id = "" }: Instance): Ec2Instance {
  const instance = elb.account.ec2.instances.get(id);
  if (instance === undefined) {
    const why = /^i-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id) ? `Could not find EC2 instance ${id}.` : `Invalid id: "${id}"`;
    throw new ServiceError("InvalidInstance", why);
  }
  return instance;
}

function stateOf(elb: Elb, loadBalancer: ClassicLoadBalancer, id: string): InstanceState {
  const registered = loadBalancer.instances.find((other) => other.id === id);
  const instance = elb.account.ec2.instances.get(id);
  if (registered === undefined || instance === undefined) {
    return outOfService(id, "Instance", "Instance is not currently registered with the LoadBalancer.");
  }
  if (instance.state !== "running") return outOfService(id, "Instance", `Instance is in ${instance.state} state.`);
  const zones = loadBalancer.subnetIds.map((subnetId) => elb.account.ec2.subnets.get(subnetId)?.zone);
  if (!zones.includes(instance.zone)) {
    const where = "Instance is in the EC2 Availability Zone for which LoadBalancer is not configured to route traffic to.";
    return outOfService(id, "ELB", where);
  }
  switch (registered.verdict.kind) {
    case "healthy":
      return { InstanceId: id, State: "InService", ReasonCode: "N/A", Description: "N/A" };
    case "unhealthy":
      return outOfService(id, "Instance", "Instance has failed at least the UnhealthyThreshold number of health checks consecutively.");
    case "pending":
      return outOfService(id, "ELB", "Instance registration is still in progress.");
  }
}

function outOfService(id: string, ReasonCode: string, Description: string): InstanceState {
  return { InstanceId: id, State: "OutOfService", ReasonCode, Description };
}

/** Keeps checking while there are instances. */
function watch(elb: Elb, { name }: ClassicLoadBalancer): void {
  elb.checks.start(
    name,
    () => {
      const loadBalancer = elb.loadBalancers.get(name);
      return loadBalancer === undefined || loadBalancer.instances.length === 0 ? undefined : loadBalancer.healthCheck.Interval;
    },
    (checks) => round(elb, elb.loadBalancers.get(name)!, checks),
  );
}

function round(elb: Elb, loadBalancer: ClassicLoadBalancer, checks: number): void {
  const { check, port } = probeOf(loadBalancer.healthCheck);
  const { ec2 } = elb.account;
  const probe = guarded(elb.account, Object.values(loadBalancer.interfaceIds), elb.account.probe);
  const instances = present(elb, loadBalancer).map((registered): RegisteredInstance => {
    const { id, verdict } = registered;
    const instance = ec2.instances.get(id)!;
    if (instance.state !== "running") {
      elb.checks.forget(keyOf(loadBalancer, id));
      return verdict.kind === "pending" ? registered : { id, verdict: { kind: "pending" } };
    }
    const address = ec2.interfaces.get(instance.interfaceIds[0] ?? "")?.privateAddresses[0] ?? "";
    const now = elb.checks.ask(keyOf(loadBalancer, id), { instanceId: id, address, port }, check, checks, verdict, probe);
    return now.kind === verdict.kind ? registered : { id, verdict: now };
  });
  const changed = instances.length < loadBalancer.instances.length || instances.some((one, index) => one !== loadBalancer.instances[index]);
  if (changed) elb.loadBalancers.update(loadBalancer.name, { instances });
}

function keyOf(loadBalancer: ClassicLoadBalancer, id: string): string {
  return `${loadBalancer.dnsName} ${id}`;
}

const TARGET = /^(?:(TCP|SSL):(\d{1,5})|(HTTP|HTTPS):(\d{1,5})(\/.*))$/i;

function probeOf(input: ClassicLoadBalancer["healthCheck"]): { readonly check: HealthCheck; readonly port: number } {
  const parts = TARGET.exec(input.Target ?? "")!;
  const check = {
    protocol: (parts[1] ?? parts[3]!).toUpperCase() as ProbeTarget["protocol"],
    path: parts[5],
    healthyThreshold: input.HealthyThreshold!,
    unhealthyThreshold: input.UnhealthyThreshold!,
    accepts: (status: number) => status === 200,
  };
  return { check, port: Number(parts[2] ?? parts[4]) };
}

function checkedHealthCheck(input: ClassicLoadBalancer["healthCheck"]): ClassicLoadBalancer["healthCheck"] {
  const parts = TARGET.exec(input.Target ?? "");
  const port = Number(parts?.[2] ?? parts?.[4] ?? 0);
  if (parts === null || port < 1 || port > 65_535 || input.Target!.length > 1024) {
    throw new ServiceError(
      "ValidationError",
      "HealthCheck Target must begin with one of HTTP, TCP, HTTPS, SSL and name a port; HTTP and HTTPS a path too",
    );
  }
  const ranges: [string, number, number, number][] = [
    ["Interval", input.Interval!, 5, 300],
    ["Timeout", input.Timeout!, 2, 60],
    ["UnhealthyThreshold", input.UnhealthyThreshold!, 2, 10],
    ["HealthyThreshold", input.HealthyThreshold!, 2, 10],
  ];
  for (const [what, value, from, to] of ranges) {
    if (value < from || value > to) throw new ServiceError("ValidationError", `HealthCheck ${what} must be between ${from} and ${to}`);
  }
  if (input.Timeout! >= input.Interval!) {
    throw new ServiceError("ValidationError", "HealthCheck timeout must be less than interval");
  }
  return input;
}
