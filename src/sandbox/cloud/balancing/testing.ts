/** What the tests of both load balancing services share: a network with room for load balancers, and machines in it. */
import {
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeNetworkInterfacesCommand,
  type EC2Client,
  type NetworkInterface,
  RunInstancesCommand,
} from "@aws-sdk/client-ec2";
import { ElasticLoadBalancingClient } from "@aws-sdk/client-elastic-load-balancing";
import { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Probe, ProbeResult } from "../account.ts";
import type { CloudOptions } from "../cloud.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { type CloudBed, cloudBed } from "../testing.ts";

/** A cloud on virtual time with a network, and clients of the services concerned. */
export interface BalancingBed extends CloudBed {
  readonly elb: ElasticLoadBalancingClient;
  readonly elbv2: ElasticLoadBalancingV2Client;
  readonly vpcId: string;
  /** In zones a, b and c. */
  readonly subnets: readonly [string, string, string];
  readonly groupId: string;
  /** What machines answer to health checks from now on; of this instance alone if one is given. */
  answer(result: ProbeResult, instanceId?: string): void;
  /** Running instances in zones a, b, c, a … */
  instances(count: number): Promise<readonly string[]>;
  /** A new security group. */
  group(name: string): Promise<string>;
  /** Interfaces whose description starts so. */
  interfaces(description: string): Promise<readonly NetworkInterface[]>;
}

/** The certificate the account has. */
export const CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555";

/** A cloud with a VPC, an internet gateway and three subnets. */
export async function balancingBed(options: Partial<CloudOptions> = {}): Promise<BalancingBed> {
  const answers = new Map<string | undefined, ProbeResult>();
  const probe: Probe = ({ instanceId }) => answers.get(instanceId) ?? answers.get(undefined) ?? { kind: "answered", status: 200 };
  const bed = cloudBed({ probe, ...options, settings: { certificates: [CERTIFICATE, `${CERTIFICATE}-*`], ...options.settings } });
  const { ec2, world, cloud } = bed;
  const vpcId = (await ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16", AmazonProvidedIpv6CidrBlock: true }))).Vpc!.VpcId!;
  const gateway = (await ec2.send(new CreateInternetGatewayCommand({}))).InternetGateway!.InternetGatewayId!;
  await ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId: gateway, VpcId: vpcId }));
  const subnets: string[] = [];
  for (const [index, zone] of ["a", "b", "c"].entries()) subnets.push(await createSubnet(ec2, vpcId, `10.0.${index}.0/24`, zone));
  const group = async (name: string) =>
    (await ec2.send(new CreateSecurityGroupCommand({ GroupName: name, Description: name, VpcId: vpcId }))).GroupId!;
  return {
    ...bed,
    elb: new ElasticLoadBalancingClient(sdkConfig(cloud)),
    elbv2: new ElasticLoadBalancingV2Client(sdkConfig(cloud)),
    vpcId,
    subnets: subnets as [string, string, string],
    groupId: await group("balancer"),
    answer: (result, instanceId) => void answers.set(instanceId, result),
    async instances(count) {
      const ids: string[] = [];
      for (let index = 0; index < count; index++) {
        const launched = await ec2.send(
          new RunInstancesCommand({
            ImageId: "ami-12345678",
            InstanceType: "t3.micro",
            MinCount: 1,
            MaxCount: 1,
            SubnetId: subnets[index % 3],
          }),
        );
        ids.push(launched.Instances![0]!.InstanceId!);
      }
      world.pass(60_000);
      return ids;
    },
    group,
    async interfaces(description) {
      const found = await ec2.send(
        new DescribeNetworkInterfacesCommand({ Filters: [{ Name: "description", Values: [`${description}*`] }] }),
      );
      return found.NetworkInterfaces ?? [];
    },
  };
}

/** A subnet of the VPC in the zone of this letter. */
export async function createSubnet(
  ec2: EC2Client,
  VpcId: string,
  CidrBlock: string,
  zone: string,
  Ipv6CidrBlock?: string,
): Promise<string> {
  const made = await ec2.send(new CreateSubnetCommand({ VpcId, CidrBlock, Ipv6CidrBlock, AvailabilityZone: `us-east-1${zone}` }));
  return made.Subnet!.SubnetId!;
}
