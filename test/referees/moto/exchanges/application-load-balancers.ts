/** Application load balancers, their listeners and rules. */
import {
  AddListenerCertificatesCommand,
  CreateListenerCommand,
  CreateLoadBalancerCommand,
  CreateRuleCommand,
  CreateTargetGroupCommand,
  DeleteListenerCommand,
  DeleteLoadBalancerCommand,
  DeleteRuleCommand,
  DeleteTargetGroupCommand,
  DescribeListenerCertificatesCommand,
  DescribeListenersCommand,
  DescribeLoadBalancersCommand,
  DescribeRulesCommand,
  DescribeTagsCommand,
  DescribeTargetGroupsCommand,
  ModifyListenerCommand,
  ModifyRuleCommand,
  RemoveListenerCertificatesCommand,
  SetRulePrioritiesCommand,
  SetSubnetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("elbv2");

const noRule =
  "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener-rule/app/nobody/0123456789abcdef/0123456789abcdef/0123456789abcdef";
const noListener = "arn:aws:elasticloadbalancing:us-east-1:123456789012:listener/app/nobody/0123456789abcdef/0123456789abcdef";
const notFound = {
  Type: "fixed-response" as const,
  FixedResponseConfig: { StatusCode: "404", ContentType: "text/plain", MessageBody: "nothing" },
};
const path = (...Values: string[]) => ({ Field: "path-pattern", PathPatternConfig: { Values } });
const rule = { ListenerArn: "$webListener", Actions: [notFound] };

/** Needs the certificate of the exchanges with ACM. */
export const applicationExchanges: readonly Exchange[] = [
  ask(
    "an application load balancer is created",
    CreateLoadBalancerCommand,
    {
      Name: "shop",
      Type: "application",
      Scheme: "internet-facing",
      IpAddressType: "ipv4",
      Subnets: ["$subnetA", "$subnetB"],
      SecurityGroups: ["$balancer"],
      Tags: [{ Key: "elbv2.k8s.aws/cluster", Value: "test" }],
    },
    { shopArn: "LoadBalancers.0.LoadBalancerArn", shopName: "LoadBalancers.0.DNSName" },
  ),
  ask("an application load balancer by ARN", DescribeLoadBalancersCommand, { LoadBalancerArns: ["$shopArn"] }),
  ask("an application load balancer in one subnet", CreateLoadBalancerCommand, { Name: "narrow", Subnets: ["$subnetA"] }),
  ask("an application load balancer is given another subnet", SetSubnetsCommand, {
    LoadBalancerArn: "$shopArn",
    Subnets: ["$subnetA", "$subnetB", "$subnetC"],
  }),
  ask(
    "an HTTP target group of addresses is created",
    CreateTargetGroupCommand,
    {
      Name: "pods",
      Protocol: "HTTP",
      ProtocolVersion: "HTTP1",
      Port: 8080,
      VpcId: "$vpc",
      TargetType: "ip",
      HealthCheckPath: "/ready",
      HealthCheckIntervalSeconds: 15,
      HealthCheckTimeoutSeconds: 5,
      HealthyThresholdCount: 2,
      UnhealthyThresholdCount: 2,
      Matcher: { HttpCode: "200" },
    },
    { podGroup: "TargetGroups.0.TargetGroupArn" },
  ),
  ask(
    "a gRPC target group is created",
    CreateTargetGroupCommand,
    {
      Name: "grpc",
      Protocol: "HTTP",
      ProtocolVersion: "GRPC",
      Port: 9090,
      VpcId: "$vpc",
      TargetType: "ip",
      HealthCheckPath: "/AWS.ALB/healthcheck",
      HealthCheckTimeoutSeconds: 5,
      Matcher: { GrpcCode: "12" },
    },
    { grpcGroup: "TargetGroups.0.TargetGroupArn" },
  ),
  ask(
    "an HTTP listener with a fixed response is created",
    CreateListenerCommand,
    { LoadBalancerArn: "$shopArn", Protocol: "HTTP", Port: 80, DefaultActions: [notFound] },
    { webListener: "Listeners.0.ListenerArn" },
  ),
  ask("an HTTPS listener without a certificate", CreateListenerCommand, {
    LoadBalancerArn: "$shopArn",
    Protocol: "HTTPS",
    Port: 8443,
    DefaultActions: [notFound],
  }),
  ask(
    "an HTTPS listener is created",
    CreateListenerCommand,
    {
      LoadBalancerArn: "$shopArn",
      Protocol: "HTTPS",
      Port: 443,
      Certificates: [{ CertificateArn: "$certificate" }],
      SslPolicy: "ELBSecurityPolicy-TLS13-1-2-2021-06",
      DefaultActions: [{ Type: "forward", TargetGroupArn: "$podGroup" }],
    },
    { secureListener: "Listeners.0.ListenerArn" },
  ),
  ask("the listeners of an application load balancer", DescribeListenersCommand, { LoadBalancerArn: "$shopArn" }),
  ask("a listener becomes a redirect", ModifyListenerCommand, {
    ListenerArn: "$webListener",
    DefaultActions: [{ Type: "redirect", RedirectConfig: { Protocol: "HTTPS", Port: "443", StatusCode: "HTTP_301" } }],
  }),
  ask("a listener answers by itself again", ModifyListenerCommand, { ListenerArn: "$webListener", DefaultActions: [notFound] }),
  ask("a second certificate is added to a listener", AddListenerCertificatesCommand, {
    ListenerArn: "$secureListener",
    Certificates: [{ CertificateArn: "$otherCertificate" }],
  }),
  ask("the certificates of a listener", DescribeListenerCertificatesCommand, { ListenerArn: "$secureListener" }),
  ask("a certificate is removed from a listener", RemoveListenerCertificatesCommand, {
    ListenerArn: "$secureListener",
    Certificates: [{ CertificateArn: "$otherCertificate" }],
  }),

  ask(
    "a rule on a path is created",
    CreateRuleCommand,
    { ...rule, Priority: 10, Conditions: [path("/a", "/a/*")], Tags: [{ Key: "team", Value: "shop" }] },
    { pathRule: "Rules.0.RuleArn" },
  ),
  ask(
    "a rule on everything that can be asked is created",
    CreateRuleCommand,
    {
      ...rule,
      Priority: 5,
      Conditions: [
        { Field: "host-header", HostHeaderConfig: { Values: ["shop.example.com"] } },
        { Field: "http-header", HttpHeaderConfig: { HttpHeaderName: "X-Team", Values: ["shop"] } },
        { Field: "http-request-method", HttpRequestMethodConfig: { Values: ["GET"] } },
        { Field: "query-string", QueryStringConfig: { Values: [{ Key: "v", Value: "1" }] } },
        { Field: "source-ip", SourceIpConfig: { Values: ["10.0.0.0/8"] } },
      ],
      Actions: [
        {
          Type: "forward",
          ForwardConfig: {
            TargetGroups: [{ TargetGroupArn: "$podGroup", Weight: 9 }],
            TargetGroupStickinessConfig: { Enabled: true, DurationSeconds: 60 },
          },
        },
      ],
    },
    { wideRule: "Rules.0.RuleArn" },
  ),
  ask(
    "a rule that redirects is created",
    CreateRuleCommand,
    {
      ...rule,
      Priority: 20,
      Conditions: [path("/old/*")],
      Actions: [
        {
          Type: "redirect",
          RedirectConfig: { Protocol: "HTTPS", Port: "443", Host: "#{host}", Path: "/#{path}", Query: "#{query}", StatusCode: "HTTP_302" },
        },
      ],
    },
    { redirectRule: "Rules.0.RuleArn" },
  ),
  ask(
    "a rule that authenticates is created",
    CreateRuleCommand,
    {
      ListenerArn: "$secureListener",
      Priority: 1,
      Conditions: [path("/private")],
      Actions: [
        {
          Type: "authenticate-oidc",
          Order: 1,
          AuthenticateOidcConfig: {
            Issuer: "https://id.example.com",
            AuthorizationEndpoint: "https://id.example.com/authorize",
            TokenEndpoint: "https://id.example.com/token",
            UserInfoEndpoint: "https://id.example.com/userinfo",
            ClientId: "shop",
            ClientSecret: "hush",
            SessionCookieName: "AWSELBAuthSessionCookie",
            Scope: "openid",
            SessionTimeout: 604_800,
            OnUnauthenticatedRequest: "authenticate",
          },
        },
        { ...notFound, Order: 2 },
      ],
    },
    { oidcRule: "Rules.0.RuleArn" },
  ),
  ask("the rules of a listener", DescribeRulesCommand, { ListenerArn: "$webListener" }),
  ask("a rule by ARN", DescribeRulesCommand, { RuleArns: ["$pathRule"] }),
  ask("the tags of a rule", DescribeTagsCommand, { ResourceArns: ["$pathRule"] }),
  ask("a rule with a priority that is taken", CreateRuleCommand, { ...rule, Priority: 10, Conditions: [path("/b")] }),
  ask("a rule on something that does not exist", CreateRuleCommand, {
    ...rule,
    Priority: 30,
    Conditions: [{ Field: "colour", Values: ["red"] }],
  }),
  ask("a rule without conditions", CreateRuleCommand, { ...rule, Priority: 30, Conditions: [] }),
  ask("a rule with too many values", CreateRuleCommand, { ...rule, Priority: 31, Conditions: [path("/1", "/2", "/3", "/4", "/5", "/6")] }),
  ask("a rule with a priority that is too high", CreateRuleCommand, { ...rule, Priority: 50_001, Conditions: [path("/c")] }),
  ask("a rule of a listener that does not exist", CreateRuleCommand, {
    ...rule,
    ListenerArn: noListener,
    Priority: 1,
    Conditions: [path("/a")],
  }),
  ask("a rule that forwards to a group that does not exist", CreateRuleCommand, {
    ...rule,
    Priority: 32,
    Conditions: [path("/d")],
    Actions: [
      {
        Type: "forward",
        TargetGroupArn: "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/nobody/0123456789abcdef",
      },
    ],
  }),
  ask("the conditions of a rule change", ModifyRuleCommand, { RuleArn: "$pathRule", Conditions: [path("/z")] }),
  ask("a rule that does not exist changes", ModifyRuleCommand, { RuleArn: noRule, Actions: [notFound] }),
  ask("a rule moves to a free priority", SetRulePrioritiesCommand, { RulePriorities: [{ RuleArn: "$pathRule", Priority: 11 }] }),
  ask("rules change places", SetRulePrioritiesCommand, {
    RulePriorities: [
      { RuleArn: "$pathRule", Priority: 20 },
      { RuleArn: "$redirectRule", Priority: 11 },
    ],
  }),
  ask("the groups of an application load balancer", DescribeTargetGroupsCommand, { LoadBalancerArn: "$shopArn" }),
  ask("a group that a rule forwards to is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$podGroup" }),
  ask("a rule is deleted", DeleteRuleCommand, { RuleArn: "$wideRule" }),
  ask("a rule that does not exist is deleted", DeleteRuleCommand, { RuleArn: noRule }),
];

export const applicationEndExchanges: readonly Exchange[] = [
  ask("a listener with rules is deleted", DeleteListenerCommand, { ListenerArn: "$secureListener" }),
  ask("an application load balancer is deleted", DeleteLoadBalancerCommand, { LoadBalancerArn: "$shopArn" }),
  ask("the rules of a listener that was deleted with its load balancer", DescribeRulesCommand, { ListenerArn: "$webListener" }),
  ask("a group that no rule forwards to any more is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$podGroup" }),
  ask("a gRPC target group is deleted", DeleteTargetGroupCommand, { TargetGroupArn: "$grpcGroup" }),
];
