/** Network load balancers and their listeners. */
import {
  AddTagsCommand,
  CreateListenerCommand,
  CreateLoadBalancerCommand,
  DeleteListenerCommand,
  DeleteLoadBalancerCommand,
  DescribeListenerAttributesCommand,
  DescribeListenersCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeSSLPoliciesCommand,
  DescribeTagsCommand,
  ModifyListenerCommand,
  ModifyLoadBalancerAttributesCommand,
  RemoveTagsCommand,
  SetIpAddressTypeCommand,
  SetSecurityGroupsCommand,
  SetSubnetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("elbv2");

const noBalancer = "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/nobody/0123456789abcdef";
const noListener = "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/net/nobody/0123456789abcdef/0123456789abcdef";
const noGroup = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/nobody/0123456789abcdef";

export const networkLoadBalancerExchanges: readonly Exchange[] = [
  ask(
    "a network load balancer is created",
    CreateLoadBalancerCommand,
    {
      Name: "network",
      Type: "network",
      Scheme: "internet-facing",
      Subnets: ["$subnetA", "$subnetB"],
      SecurityGroups: ["$balancer"],
      IpAddressType: "ipv4",
      Tags: [{ Key: "kubernetes.io/cluster/test", Value: "owned" }],
    },
    { balancerArn: "LoadBalancers.0.LoadBalancerArn", balancerName: "LoadBalancers.0.DNSName" },
  ),
  ask("a network load balancer by ARN", DescribeLoadBalancersCommand, { LoadBalancerArns: ["$balancerArn"] }),
  ask("a network load balancer by name", DescribeLoadBalancersCommand, { Names: ["network"] }),
  ask(
    "an internal network load balancer is created",
    CreateLoadBalancerCommand,
    { Name: "inner", Type: "network", Scheme: "internal", SubnetMappings: [{ SubnetId: "$subnetB" }] },
    { innerArn: "LoadBalancers.0.LoadBalancerArn", innerName: "LoadBalancers.0.DNSName" },
  ),
  ask("an internal network load balancer", DescribeLoadBalancersCommand, { Names: ["inner"] }),
  ask("a name that exists with other settings", CreateLoadBalancerCommand, {
    Name: "inner",
    Type: "network",
    Scheme: "internet-facing",
    Subnets: ["$subnetA"],
  }),
  ask("a network load balancer in a subnet that does not exist", CreateLoadBalancerCommand, {
    Name: "nowhere",
    Type: "network",
    Subnets: ["subnet-0123456789abcdef0"],
  }),
  ask("a network load balancer without subnets", CreateLoadBalancerCommand, { Name: "bare", Type: "network" }),
  ask("a network load balancer whose name nobody has", DescribeLoadBalancersCommand, { Names: ["nobody"] }),
  ask("a network load balancer whose ARN nobody has", DescribeLoadBalancersCommand, { LoadBalancerArns: [noBalancer] }),
  ask("the first page of load balancers", DescribeLoadBalancersCommand, { PageSize: 1 }, { balancerPage: "NextMarker" }),

  ask("the attributes of a new network load balancer", DescribeLoadBalancerAttributesCommand, { LoadBalancerArn: "$balancerArn" }),
  ask("cross-zone balancing is turned on for a network load balancer", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerArn: "$balancerArn",
    Attributes: [{ Key: "load_balancing.cross_zone.enabled", Value: "true" }],
  }),
  ask("an attribute that does not exist", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerArn: "$balancerArn",
    Attributes: [{ Key: "no.such.attribute", Value: "true" }],
  }),
  ask("the attributes of a changed network load balancer", DescribeLoadBalancerAttributesCommand, { LoadBalancerArn: "$balancerArn" }),
  ask("the attributes of a network load balancer that does not exist", DescribeLoadBalancerAttributesCommand, {
    LoadBalancerArn: noBalancer,
  }),
  ask("a network load balancer is given another subnet", SetSubnetsCommand, {
    LoadBalancerArn: "$balancerArn",
    Subnets: ["$subnetA", "$subnetB", "$subnetC"],
  }),
  ask("a subnet that does not exist is given to a network load balancer", SetSubnetsCommand, {
    LoadBalancerArn: "$balancerArn",
    Subnets: ["$subnetA", "subnet-0123456789abcdef0"],
  }),
  ask("the kind of addresses of a network load balancer is set to what it is", SetIpAddressTypeCommand, {
    LoadBalancerArn: "$balancerArn",
    IpAddressType: "ipv4",
  }),
  ask("subnets are given to a load balancer that does not exist", SetSubnetsCommand, {
    LoadBalancerArn: noBalancer,
    Subnets: ["$subnetA", "$subnetB"],
  }),
  ask("a network load balancer is given another security group", SetSecurityGroupsCommand, {
    LoadBalancerArn: "$balancerArn",
    SecurityGroups: ["$balancer", "$nodes"],
  }),
  ask("a network load balancer after its changes", DescribeLoadBalancersCommand, { LoadBalancerArns: ["$balancerArn"] }),
  ask("a security group that does not exist is given to a network load balancer", SetSecurityGroupsCommand, {
    LoadBalancerArn: "$balancerArn",
    SecurityGroups: ["sg-0123456789abcdef0"],
  }),
];

export const networkListenerExchanges: readonly Exchange[] = [
  ask(
    "a TCP listener is created",
    CreateListenerCommand,
    {
      LoadBalancerArn: "$balancerArn",
      Protocol: "TCP",
      Port: 80,
      DefaultActions: [{ Type: "forward", TargetGroupArn: "$tcpGroup" }],
      Tags: [{ Key: "port", Value: "http" }],
    },
    { listener: "Listeners.0.ListenerArn" },
  ),
  ask(
    "a UDP listener is created",
    CreateListenerCommand,
    {
      LoadBalancerArn: "$balancerArn",
      Protocol: "UDP",
      Port: 53,
      DefaultActions: [{ Type: "forward", TargetGroupArn: "$udpGroup" }],
    },
    { udpListener: "Listeners.0.ListenerArn" },
  ),
  ask("the listeners of a network load balancer", DescribeListenersCommand, { LoadBalancerArn: "$balancerArn" }),
  ask("a listener by ARN", DescribeListenersCommand, { ListenerArns: ["$listener"] }),
  ask("a listener that does not exist", DescribeListenersCommand, { ListenerArns: [noListener] }),
  ask("the listeners of a load balancer that does not exist", DescribeListenersCommand, { LoadBalancerArn: noBalancer }),
  ask("a listener for a load balancer that does not exist", CreateListenerCommand, {
    LoadBalancerArn: noBalancer,
    Protocol: "TCP",
    Port: 80,
    DefaultActions: [{ Type: "forward", TargetGroupArn: "$tcpGroup" }],
  }),
  ask("a listener for a target group that does not exist", CreateListenerCommand, {
    LoadBalancerArn: "$balancerArn",
    Protocol: "TCP",
    Port: 8080,
    DefaultActions: [{ Type: "forward", TargetGroupArn: noGroup }],
  }),
  ask("an HTTP listener of a network load balancer", CreateListenerCommand, {
    LoadBalancerArn: "$balancerArn",
    Protocol: "HTTP",
    Port: 8080,
    DefaultActions: [{ Type: "forward", TargetGroupArn: "$tcpGroup" }],
  }),
  ask("a listener moves to another port", ModifyListenerCommand, { ListenerArn: "$listener", Port: 8081 }),
  ask("a listener sends to another group", ModifyListenerCommand, {
    ListenerArn: "$listener",
    DefaultActions: [{ Type: "forward", TargetGroupArn: "$addressGroup" }],
  }),
  ask("a listener sends to its first group again", ModifyListenerCommand, {
    ListenerArn: "$listener",
    DefaultActions: [{ Type: "forward", TargetGroupArn: "$tcpGroup" }],
  }),
  ask("a listener that does not exist is changed", ModifyListenerCommand, { ListenerArn: noListener, Port: 1 }),
  ask("security policies by name", DescribeSSLPoliciesCommand, {
    Names: [
      "ELBSecurityPolicy-2016-08",
      "ELBSecurityPolicy-TLS-1-1-2017-01",
      "ELBSecurityPolicy-TLS-1-2-2017-01",
      "ELBSecurityPolicy-TLS-1-2-Ext-2018-06",
      "ELBSecurityPolicy-FS-1-2-Res-2020-10",
      "ELBSecurityPolicy-TLS13-1-0-2021-06",
      "ELBSecurityPolicy-TLS13-1-1-2021-06",
      "ELBSecurityPolicy-TLS13-1-2-2021-06",
      "ELBSecurityPolicy-TLS13-1-2-Ext1-2021-06",
      "ELBSecurityPolicy-TLS13-1-2-Ext2-2021-06",
      "ELBSecurityPolicy-TLS13-1-2-Res-2021-06",
      "ELBSecurityPolicy-TLS13-1-3-2021-06",
      "ELBSecurityPolicy-TLS13-1-2-PQ-2025-09",
    ],
  }),
  ask("a security policy that does not exist", DescribeSSLPoliciesCommand, { Names: ["no-such-policy"] }),
  ask("a TLS listener with a certificate that does not exist", CreateListenerCommand, {
    LoadBalancerArn: "$balancerArn",
    Protocol: "TLS",
    Port: 443,
    Certificates: [{ CertificateArn: "arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555" }],
    DefaultActions: [{ Type: "forward", TargetGroupArn: "$tcpGroup" }],
  }),
  ask("a listener after its move", DescribeListenersCommand, { ListenerArns: ["$listener"] }),
  ask("the attributes of a TCP listener", DescribeListenerAttributesCommand, { ListenerArn: "$listener" }),
  ask("several resources are tagged in one call", AddTagsCommand, {
    ResourceArns: ["$balancerArn", "$tcpGroup", "$listener"],
    Tags: [{ Key: "team", Value: "network" }],
  }),
  ask("a network load balancer is tagged", AddTagsCommand, { ResourceArns: ["$balancerArn"], Tags: [{ Key: "team", Value: "network" }] }),
  ask("a target group is tagged", AddTagsCommand, { ResourceArns: ["$tcpGroup"], Tags: [{ Key: "team", Value: "network" }] }),
  ask("a listener is tagged", AddTagsCommand, { ResourceArns: ["$listener"], Tags: [{ Key: "team", Value: "network" }] }),
  ask("the tags of a load balancer, a group and a listener", DescribeTagsCommand, {
    ResourceArns: ["$balancerArn", "$tcpGroup", "$listener"],
  }),
  ask("a tag is taken from a network load balancer", RemoveTagsCommand, { ResourceArns: ["$balancerArn"], TagKeys: ["team", "never"] }),
  ask("the tags of a network load balancer that are left", DescribeTagsCommand, { ResourceArns: ["$balancerArn"] }),
];

export const networkEndExchanges: readonly Exchange[] = [
  ask("a listener of a network load balancer is deleted", DeleteListenerCommand, { ListenerArn: "$udpListener" }),
  ask("a listener that does not exist is deleted", DeleteListenerCommand, { ListenerArn: noListener }),
  ask("an attribute turns deletion protection on", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerArn: "$innerArn",
    Attributes: [{ Key: "deletion_protection.enabled", Value: "true" }],
  }),
  ask("an attribute turns deletion protection off", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerArn: "$innerArn",
    Attributes: [{ Key: "deletion_protection.enabled", Value: "false" }],
  }),
  ask("a network load balancer is deleted", DeleteLoadBalancerCommand, { LoadBalancerArn: "$balancerArn" }),
  ask("a network load balancer that was deleted", DescribeLoadBalancersCommand, { LoadBalancerArns: ["$balancerArn"] }),
  ask("the internal network load balancer is deleted", DeleteLoadBalancerCommand, { LoadBalancerArn: "$innerArn" }),
  ask("the listeners of a network load balancer that was deleted", DescribeListenersCommand, { LoadBalancerArn: "$balancerArn" }),
];
