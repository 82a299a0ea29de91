/** Classic load balancers, from creation to deletion. */
import {
  AddTagsCommand,
  ApplySecurityGroupsToLoadBalancerCommand,
  AttachLoadBalancerToSubnetsCommand,
  ConfigureHealthCheckCommand,
  CreateAppCookieStickinessPolicyCommand,
  CreateLBCookieStickinessPolicyCommand,
  CreateLoadBalancerCommand,
  CreateLoadBalancerListenersCommand,
  CreateLoadBalancerPolicyCommand,
  DeleteLoadBalancerCommand,
  DeleteLoadBalancerListenersCommand,
  DeleteLoadBalancerPolicyCommand,
  DeregisterInstancesFromLoadBalancerCommand,
  DescribeInstanceHealthCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancerPoliciesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DetachLoadBalancerFromSubnetsCommand,
  ModifyLoadBalancerAttributesCommand,
  RegisterInstancesWithLoadBalancerCommand,
  RemoveTagsCommand,
  SetLoadBalancerPoliciesForBackendServerCommand,
  SetLoadBalancerPoliciesOfListenerCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import { asker, type Exchange } from "../script.ts";

const ask = asker("elb");

const LoadBalancerName = "classic";
const missing = { LoadBalancerName: "nobody" };
const http = { Protocol: "HTTP", LoadBalancerPort: 80, InstanceProtocol: "HTTP", InstancePort: 31080 };
const tcp = { Protocol: "TCP", LoadBalancerPort: 443, InstanceProtocol: "TCP", InstancePort: 31443 };

export const classicExchanges: readonly Exchange[] = [
  ask(
    "a classic load balancer is created",
    CreateLoadBalancerCommand,
    {
      LoadBalancerName,
      Listeners: [http],
      Subnets: ["$subnetA", "$subnetB"],
      SecurityGroups: ["$balancer"],
      Tags: [{ Key: "kubernetes.io/cluster/test", Value: "owned" }],
    },
    { classicName: "DNSName" },
  ),
  ask("a classic load balancer by name", DescribeLoadBalancersCommand, { LoadBalancerNames: [LoadBalancerName] }),
  ask("a classic load balancer is created again with other listeners", CreateLoadBalancerCommand, {
    LoadBalancerName,
    Listeners: [tcp],
    Subnets: ["$subnetA", "$subnetB"],
    SecurityGroups: ["$balancer"],
  }),
  ask(
    "an internal classic load balancer is created",
    CreateLoadBalancerCommand,
    { LoadBalancerName: "inside", Listeners: [tcp], Subnets: ["$subnetB"], SecurityGroups: ["$balancer"], Scheme: "internal" },
    { internalName: "DNSName" },
  ),
  ask("an internal classic load balancer", DescribeLoadBalancersCommand, { LoadBalancerNames: ["inside"] }),
  ask("the first page of classic load balancers", DescribeLoadBalancersCommand, { PageSize: 1 }, { classicPage: "NextMarker" }),
  ask("the second page of classic load balancers", DescribeLoadBalancersCommand, { PageSize: 1, Marker: "$classicPage" }),
  ask("a classic load balancer in a subnet that does not exist", CreateLoadBalancerCommand, {
    LoadBalancerName: "nowhere",
    Listeners: [tcp],
    Subnets: ["subnet-0123456789abcdef0"],
  }),
  ask("a classic load balancer with a group that does not exist", CreateLoadBalancerCommand, {
    LoadBalancerName: "open",
    Listeners: [tcp],
    Subnets: ["$subnetA"],
    SecurityGroups: ["sg-0123456789abcdef0"],
  }),
  ask("a classic load balancer that does not exist", DescribeLoadBalancersCommand, { LoadBalancerNames: ["nobody"] }),
  ask("a known classic load balancer beside one that does not exist", DescribeLoadBalancersCommand, {
    LoadBalancerNames: [LoadBalancerName, "nobody"],
  }),

  ask("a listener is added", CreateLoadBalancerListenersCommand, { LoadBalancerName, Listeners: [tcp] }),
  ask("the same listener is added again", CreateLoadBalancerListenersCommand, { LoadBalancerName, Listeners: [tcp] }),
  ask("a listener on a port that serves something else", CreateLoadBalancerListenersCommand, {
    LoadBalancerName,
    Listeners: [{ ...tcp, InstancePort: 32000 }],
  }),
  ask("a classic load balancer with two listeners", DescribeLoadBalancersCommand, { LoadBalancerNames: [LoadBalancerName] }),
  ask("a listener is deleted", DeleteLoadBalancerListenersCommand, { LoadBalancerName, LoadBalancerPorts: [443] }),
  ask("a listener is deleted twice", DeleteLoadBalancerListenersCommand, { LoadBalancerName, LoadBalancerPorts: [443] }),

  ask("a health check is configured", ConfigureHealthCheckCommand, {
    LoadBalancerName,
    HealthCheck: { Target: "HTTP:31080/healthz", Interval: 10, Timeout: 5, UnhealthyThreshold: 6, HealthyThreshold: 2 },
  }),
  ask("the attributes of a new classic load balancer", DescribeLoadBalancerAttributesCommand, { LoadBalancerName }),
  ask("cross-zone balancing and draining are turned on", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerName,
    LoadBalancerAttributes: { CrossZoneLoadBalancing: { Enabled: true }, ConnectionDraining: { Enabled: true, Timeout: 60 } },
  }),
  ask("the idle timeout is changed", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerName,
    LoadBalancerAttributes: { ConnectionSettings: { IdleTimeout: 120 } },
  }),
  ask("an access log is turned on", ModifyLoadBalancerAttributesCommand, {
    LoadBalancerName,
    LoadBalancerAttributes: { AccessLog: { Enabled: true, S3BucketName: "logs", S3BucketPrefix: "web", EmitInterval: 5 } },
  }),
  ask("the attributes of a changed classic load balancer", DescribeLoadBalancerAttributesCommand, { LoadBalancerName }),

  ask("a proxy protocol policy is created", CreateLoadBalancerPolicyCommand, {
    LoadBalancerName,
    PolicyName: "proxy",
    PolicyTypeName: "ProxyProtocolPolicyType",
    PolicyAttributes: [{ AttributeName: "ProxyProtocol", AttributeValue: "true" }],
  }),
  ask("a policy of the load balancer's own cookies is created", CreateLBCookieStickinessPolicyCommand, {
    LoadBalancerName,
    PolicyName: "sticky",
    CookieExpirationPeriod: 600,
  }),
  ask("a policy of the application's cookies is created", CreateAppCookieStickinessPolicyCommand, {
    LoadBalancerName,
    PolicyName: "sweet",
    CookieName: "session",
  }),
  ask("a policy is set for a backend port", SetLoadBalancerPoliciesForBackendServerCommand, {
    LoadBalancerName,
    InstancePort: 31080,
    PolicyNames: ["proxy"],
  }),
  ask("a policy is set for a listener", SetLoadBalancerPoliciesOfListenerCommand, {
    LoadBalancerName,
    LoadBalancerPort: 80,
    PolicyNames: ["sticky"],
  }),
  ask("a classic load balancer with policies", DescribeLoadBalancersCommand, { LoadBalancerNames: [LoadBalancerName] }),
  ask("a policy by name", DescribeLoadBalancerPoliciesCommand, { LoadBalancerName, PolicyNames: ["proxy"] }),
  ask("a policy that does not exist", DescribeLoadBalancerPoliciesCommand, { LoadBalancerName, PolicyNames: ["none"] }),
  ask("the policies of a backend port are taken away", SetLoadBalancerPoliciesForBackendServerCommand, {
    LoadBalancerName,
    InstancePort: 31080,
    PolicyNames: [],
  }),
  ask("all policies of a classic load balancer", DescribeLoadBalancerPoliciesCommand, { LoadBalancerName }),
  ask("a policy is deleted", DeleteLoadBalancerPolicyCommand, { LoadBalancerName, PolicyName: "proxy" }),

  ask("instances are registered", RegisterInstancesWithLoadBalancerCommand, {
    LoadBalancerName,
    Instances: [{ InstanceId: "$node" }, { InstanceId: "$otherNode" }],
  }),
  ask("a classic load balancer with instances", DescribeLoadBalancersCommand, { LoadBalancerNames: [LoadBalancerName] }),
  ask("the health of registered instances", DescribeInstanceHealthCommand, { LoadBalancerName }),
  ask("the health of an instance that is not registered", DescribeInstanceHealthCommand, {
    LoadBalancerName,
    Instances: [{ InstanceId: "$twinB" }],
  }),
  ask("an instance is deregistered", DeregisterInstancesFromLoadBalancerCommand, {
    LoadBalancerName,
    Instances: [{ InstanceId: "$otherNode" }],
  }),
  ask("an instance that does not exist is registered", RegisterInstancesWithLoadBalancerCommand, {
    LoadBalancerName: "inside",
    Instances: [{ InstanceId: "i-0123456789abcdef0" }],
  }),

  ask("a classic load balancer is given another security group", ApplySecurityGroupsToLoadBalancerCommand, {
    LoadBalancerName,
    SecurityGroups: ["$balancer", "$nodes"],
  }),
  ask("a classic load balancer is given another subnet", AttachLoadBalancerToSubnetsCommand, {
    LoadBalancerName,
    Subnets: ["$subnetC"],
  }),
  ask("a subnet is taken from a classic load balancer", DetachLoadBalancerFromSubnetsCommand, {
    LoadBalancerName,
    Subnets: ["$subnetC"],
  }),

  ask("a subnet that does not exist is given to a classic load balancer", AttachLoadBalancerToSubnetsCommand, {
    LoadBalancerName,
    Subnets: ["subnet-0123456789abcdef0"],
  }),
  ask("a security group that does not exist is given to a classic load balancer", ApplySecurityGroupsToLoadBalancerCommand, {
    LoadBalancerName,
    SecurityGroups: ["sg-0123456789abcdef0"],
  }),
  ask("a health check over HTTP without a path", ConfigureHealthCheckCommand, {
    LoadBalancerName: "inside",
    HealthCheck: { Target: "HTTP:80", Interval: 10, Timeout: 5, UnhealthyThreshold: 2, HealthyThreshold: 2 },
  }),
  ask("a health check whose timeout is above its interval", ConfigureHealthCheckCommand, {
    LoadBalancerName: "inside",
    HealthCheck: { Target: "TCP:80", Interval: 5, Timeout: 10, UnhealthyThreshold: 2, HealthyThreshold: 2 },
  }),
  ask("a classic load balancer is tagged", AddTagsCommand, {
    LoadBalancerNames: [LoadBalancerName],
    Tags: [
      { Key: "team", Value: "network" },
      { Key: "kubernetes.io/cluster/test", Value: "shared" },
    ],
  }),
  ask("the tags of classic load balancers", DescribeTagsCommand, { LoadBalancerNames: [LoadBalancerName, "inside"] }),
  ask("a tag is taken from a classic load balancer", RemoveTagsCommand, {
    LoadBalancerNames: [LoadBalancerName],
    Tags: [{ Key: "team" }, { Key: "never-there" }],
  }),
  ask("the tags that are left", DescribeTagsCommand, { LoadBalancerNames: [LoadBalancerName] }),
  ask("the tags of a classic load balancer that does not exist", DescribeTagsCommand, { LoadBalancerNames: ["nobody"] }),
  ask("the health of instances of a classic load balancer that does not exist", DescribeInstanceHealthCommand, missing),
  ask("a listener is added to a classic load balancer that does not exist", CreateLoadBalancerListenersCommand, {
    ...missing,
    Listeners: [tcp],
  }),
  ask("the attributes of a classic load balancer that does not exist", DescribeLoadBalancerAttributesCommand, missing),
  ask("instances are registered with a classic load balancer that does not exist", RegisterInstancesWithLoadBalancerCommand, {
    ...missing,
    Instances: [{ InstanceId: "$node" }],
  }),

  ask("a classic load balancer is deleted", DeleteLoadBalancerCommand, { LoadBalancerName }),
  ask("a classic load balancer is deleted twice", DeleteLoadBalancerCommand, { LoadBalancerName }),
  ask("the other classic load balancer is deleted", DeleteLoadBalancerCommand, { LoadBalancerName: "inside" }),
  ask("classic load balancers when all are gone", DescribeLoadBalancersCommand, {}),
];
