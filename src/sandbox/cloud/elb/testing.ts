/** What the tests of classic load balancers share. */
import {
  CreateLoadBalancerCommand,
  type CreateLoadBalancerCommandInput,
  DescribeLoadBalancersCommand,
  type LoadBalancerDescription,
} from "@aws-sdk/client-elastic-load-balancing";
import type { BalancingBed } from "../balancing/testing.ts";

/** A load balancer that forwards port 80, over three subnets, unless said otherwise. */
export function classic(bed: BalancingBed, input: Partial<CreateLoadBalancerCommandInput> = {}): CreateLoadBalancerCommand {
  return new CreateLoadBalancerCommand({
    LoadBalancerName: "web",
    Listeners: [{ Protocol: "tcp", LoadBalancerPort: 80, InstanceProtocol: "tcp", InstancePort: 31080 }],
    Subnets: [...bed.subnets],
    SecurityGroups: [bed.groupId],
    ...input,
  });
}

/** The load balancer `web` as it is described now. */
export async function described({ elb }: BalancingBed): Promise<LoadBalancerDescription> {
  const answer = await elb.send(new DescribeLoadBalancersCommand({ LoadBalancerNames: ["web"] }));
  return answer.LoadBalancerDescriptions![0]!;
}
