/** Target groups and their targets. */
import {
  CreateTargetGroupCommand,
  DeleteTargetGroupCommand,
  DeregisterTargetsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ModifyTargetGroupAttributesCommand,
  ModifyTargetGroupCommand,
  RegisterTargetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("elbv2");

const noGroup = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/nobody/0123456789abcdef";

export const targetGroupExchanges: readonly Exchange[] = [
  ask(
    "a TCP target group is created",
    CreateTargetGroupCommand,
    {
      Name: "tcp",
      Protocol: "TCP",
      Port: 31080,
      VpcId: "$vpc",
      TargetType: "instance",
      HealthCheckProtocol: "HTTP",
      HealthCheckPort: "10256",
      HealthCheckPath: "/healthz",
      HealthCheckIntervalSeconds: 10,
      HealthCheckTimeoutSeconds: 6,
      HealthyThresholdCount: 3,
      UnhealthyThresholdCount: 3,
      Matcher: { HttpCode: "200-399" },
      Tags: [{ Key: "kubernetes.io/cluster/test", Value: "owned" }],
    },
    { tcpGroup: "TargetGroups.0.TargetGroupArn" },
  ),
  ask(
    "a UDP target group with the defaults is created",
    CreateTargetGroupCommand,
    { Name: "udp", Protocol: "UDP", Port: 31053, VpcId: "$vpc", HealthCheckProtocol: "TCP" },
    { udpGroup: "TargetGroups.0.TargetGroupArn" },
  ),
  ask(
    "a target group of addresses is created",
    CreateTargetGroupCommand,
    {
      Name: "addresses",
      Protocol: "TCP",
      Port: 8080,
      VpcId: "$vpc",
      TargetType: "ip",
      HealthyThresholdCount: 3,
      UnhealthyThresholdCount: 3,
      HealthCheckProtocol: "TCP",
    },
    { addressGroup: "TargetGroups.0.TargetGroupArn" },
  ),
  ask("a target group whose name exists with other settings", CreateTargetGroupCommand, {
    Name: "tcp",
    Protocol: "TCP",
    Port: 31999,
    VpcId: "$vpc",
  }),
  ask("a target group of a VPC that does not exist", CreateTargetGroupCommand, {
    Name: "lost",
    Protocol: "TCP",
    Port: 80,
    VpcId: "vpc-0123456789abcdef0",
  }),
  ask("a target group whose name is too long", CreateTargetGroupCommand, {
    Name: "a-name-of-more-than-thirty-two-characters",
    Protocol: "TCP",
    Port: 80,
    VpcId: "$vpc",
  }),
  ask("a target group whose health checks are too frequent", CreateTargetGroupCommand, {
    Name: "hasty",
    Protocol: "TCP",
    Port: 80,
    VpcId: "$vpc",
    HealthCheckIntervalSeconds: 1,
  }),
  ask(
    "a target group of addresses of IPv6 is created",
    CreateTargetGroupCommand,
    {
      Name: "six",
      Protocol: "TCP",
      Port: 80,
      VpcId: "$vpc",
      TargetType: "ip",
      IpAddressType: "ipv6",
    },
    { sixGroup: "TargetGroups.0.TargetGroupArn" },
  ),
  ask("a target group by ARN", DescribeTargetGroupsCommand, { TargetGroupArns: ["$tcpGroup"] }),
  ask("a target group by name", DescribeTargetGroupsCommand, { Names: ["udp"] }),
  ask("a target group whose ARN nobody has", DescribeTargetGroupsCommand, { TargetGroupArns: [noGroup] }),
  ask("a target group whose name nobody has", DescribeTargetGroupsCommand, { Names: ["nobody"] }),
  ask("the attributes of a new target group", DescribeTargetGroupAttributesCommand, { TargetGroupArn: "$tcpGroup" }),
  ask("attributes of a target group are changed", ModifyTargetGroupAttributesCommand, {
    TargetGroupArn: "$tcpGroup",
    Attributes: [
      { Key: "deregistration_delay.timeout_seconds", Value: "30" },
      { Key: "proxy_protocol_v2.enabled", Value: "true" },
    ],
  }),
  ask("the attributes of a changed target group", DescribeTargetGroupAttributesCommand, { TargetGroupArn: "$tcpGroup" }),
  ask("the attributes of a target group that does not exist", DescribeTargetGroupAttributesCommand, { TargetGroupArn: noGroup }),
  ask("the health check of a target group is changed", ModifyTargetGroupCommand, {
    TargetGroupArn: "$tcpGroup",
    HealthCheckPath: "/livez",
    HealthCheckIntervalSeconds: 30,
  }),
  ask("a target group that does not exist is changed", ModifyTargetGroupCommand, {
    TargetGroupArn: noGroup,
    HealthCheckPath: "/livez",
  }),
];

export const targetExchanges: readonly Exchange[] = [
  ask("the target groups of a load balancer", DescribeTargetGroupsCommand, { LoadBalancerArn: "$balancerArn" }),
  ask("targets are registered", RegisterTargetsCommand, {
    TargetGroupArn: "$tcpGroup",
    Targets: [{ Id: "$node" }, { Id: "$otherNode" }],
  }),
  ask("the health of a target that is not registered", DescribeTargetHealthCommand, {
    TargetGroupArn: "$tcpGroup",
    Targets: [{ Id: "$twinB" }],
  }),
  ask("the health of registered targets", DescribeTargetHealthCommand, { TargetGroupArn: "$tcpGroup" }),
  ask("an address is registered", RegisterTargetsCommand, { TargetGroupArn: "$addressGroup", Targets: [{ Id: "10.0.2.50", Port: 8080 }] }),
  ask("the health of an address that no listener sends to", DescribeTargetHealthCommand, { TargetGroupArn: "$addressGroup" }),
  ask("targets are registered with a group that does not exist", RegisterTargetsCommand, {
    TargetGroupArn: noGroup,
    Targets: [{ Id: "$node" }],
  }),
  ask("the health of targets of a group that does not exist", DescribeTargetHealthCommand, { TargetGroupArn: noGroup }),
  ask("the target groups by load balancer and by name at once", DescribeTargetGroupsCommand, {
    LoadBalancerArn: "$balancerArn",
    Names: ["tcp"],
  }),
  ask("a target is deregistered", DeregisterTargetsCommand, { TargetGroupArn: "$tcpGroup", Targets: [{ Id: "$otherNode" }] }),
  ask("a target group in use is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$tcpGroup" }),
];

export const targetGroupEndExchanges: readonly Exchange[] = [
  ask("a target group is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$tcpGroup" }),
  ask("a target group that was deleted", DescribeTargetGroupsCommand, { TargetGroupArns: ["$tcpGroup"] }),
  ask("the UDP target group is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$udpGroup" }),
  ask("the target group of addresses is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$addressGroup" }),
  ask("the target group of IPv6 is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$sixGroup" }),
  ask("target groups when all are gone", DescribeTargetGroupsCommand, {}),
];
