/** What the tests of network load balancers share. */
import {
  CreateListenerCommand,
  type CreateListenerCommandInput,
  CreateLoadBalancerCommand,
  type CreateLoadBalancerCommandInput,
  CreateTargetGroupCommand,
  type CreateTargetGroupCommandInput,
  DescribeLoadBalancersCommand,
  DescribeTargetGroupsCommand,
  type Listener,
  type LoadBalancer,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import type { BalancingBed } from "../balancing/testing.ts";

/** A network load balancer over three subnets, unless said otherwise. */
export async function network(bed: BalancingBed, input: Partial<CreateLoadBalancerCommandInput> = {}): Promise<LoadBalancer> {
  const where = input.SubnetMappings === undefined ? { Subnets: [...bed.subnets] } : {};
  const made = await bed.elbv2.send(new CreateLoadBalancerCommand({ Name: "web", Type: "network", ...where, ...input }));
  return made.LoadBalancers![0]!;
}

/** A target group of instances on TCP port 31080, unless said otherwise. */
export async function group(bed: BalancingBed, input: Partial<CreateTargetGroupCommandInput> = {}): Promise<TargetGroup> {
  const usual = { Name: "web", Protocol: "TCP", Port: 31080, VpcId: bed.vpcId } as const;
  return (await bed.elbv2.send(new CreateTargetGroupCommand({ ...usual, ...input }))).TargetGroups![0]!;
}

/** A listener on TCP port 80 that forwards to the group. */
export async function listener(
  bed: BalancingBed,
  { LoadBalancerArn }: LoadBalancer,
  { TargetGroupArn }: TargetGroup,
  input: Partial<CreateListenerCommandInput> = {},
): Promise<Listener> {
  const DefaultActions = [{ Type: "forward" as const, TargetGroupArn }];
  const command = new CreateListenerCommand({ LoadBalancerArn, Protocol: "TCP", Port: 80, DefaultActions, ...input });
  return (await bed.elbv2.send(command)).Listeners![0]!;
}

/** A load balancer as it is described now. */
export async function described(bed: BalancingBed, Name = "web"): Promise<LoadBalancer> {
  return (await bed.elbv2.send(new DescribeLoadBalancersCommand({ Names: [Name] }))).LoadBalancers![0]!;
}

/** A target group as it is described now. */
export async function describedGroup(bed: BalancingBed, Name = "web"): Promise<TargetGroup> {
  return (await bed.elbv2.send(new DescribeTargetGroupsCommand({ Names: [Name] }))).TargetGroups![0]!;
}
