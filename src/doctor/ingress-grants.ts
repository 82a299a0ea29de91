/** What serving Ingresses takes in AWS. Everything that is made carries the cluster's tag from its first moment, and only such things are changed. */
import * as acm from "../aws/acm-actions.ts";
import * as ec2 from "../aws/ec2-actions.ts";
import * as elbv2 from "../aws/elbv2-actions.ts";
import * as shield from "../aws/shield-actions.ts";
import * as waf from "../aws/waf-actions.ts";
import type { Condition, Grant } from "./permissions.ts";
import { serviceRoleGrants } from "./service-role-grants.ts";

const clusterTag = "elbv2.k8s.aws/cluster";
const ofCluster: Condition = { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: "CLUSTER_ID" } };
const markedAsClusters: Condition = { StringEquals: { [`aws:RequestTag/${clusterTag}`]: "CLUSTER_ID" } };
const inRegion = [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }];

const groups = ["arn:*:ec2:*:*:security-group/*"];
const groupRules = ["arn:*:ec2:*:*:security-group-rule/*"];
const elbArn = (resource: string) => `arn:*:elasticloadbalancing:*:*:${resource}`;
// Application load balancers, and network load balancers in front of them.
const balancers = [elbArn("loadbalancer/*/*/*")];
const targetGroups = [elbArn("targetgroup/*/*")];
const listeners = [elbArn("listener/*/*/*/*")];
const rules = [elbArn("listener-rule/app/*/*/*/*")];

const noGuards = "annotations about WAF and Shield cannot be served";

export const ingressGrants: readonly Grant[] = [
  {
    sid: "ReadNetwork",
    why: "Choose subnets, and see security groups",
    calls: [
      ec2.describeAvailabilityZones,
      ec2.describeRouteTables,
      ec2.describeSecurityGroupRules,
      ec2.describeSecurityGroups,
      ec2.describeSubnets,
    ],
    resources: ["*"],
    strict: inRegion,
  },
  {
    sid: "ReadLoadBalancers",
    why: "See what exists, before anything is changed and after",
    calls: [
      elbv2.describeCapacityReservation,
      elbv2.describeListenerAttributes,
      elbv2.describeListenerCertificates,
      elbv2.describeListeners,
      elbv2.describeLoadBalancerAttributes,
      elbv2.describeLoadBalancers,
      elbv2.describeRules,
      elbv2.describeTags,
      elbv2.describeTargetGroupAttributes,
      elbv2.describeTargetGroups,
      elbv2.describeTrustStores,
    ],
    resources: ["*"],
    strict: inRegion,
  },
  {
    sid: "ReadCertificates",
    why: "Find certificates by the host names of Ingresses",
    calls: [acm.listCertificates, acm.describeCertificate],
    resources: ["*"],
    strict: inRegion,
    optional: "HTTPS listeners need `certificate-arn`",
  },
  {
    sid: "CreateGroups",
    why: "Create the security groups of load balancers",
    calls: [ec2.createSecurityGroup],
    resources: [...groups, "arn:*:ec2:*:*:vpc/*"],
    strict: [{ resources: groups, condition: markedAsClusters }, { resources: ["arn:*:ec2:*:*:vpc/VPC_ID"] }],
  },
  {
    sid: "TagGroups",
    why: "Mark a security group as the cluster's when it is created (checked with ec2:CreateSecurityGroup), and keep its tags",
    calls: [ec2.createTags, ec2.deleteTags],
    resources: groups,
    strict: [{ condition: { StringEquals: { "ec2:CreateAction": "CreateSecurityGroup" } } }, { condition: ofCluster }],
  },
  {
    sid: "WriteRules",
    why: "Let clients reach the load balancer",
    calls: [ec2.authorizeSecurityGroupIngress, ec2.revokeSecurityGroupIngress],
    resources: [...groups, ...groupRules],
    strict: [{ resources: groups, condition: ofCluster }, { resources: groupRules }],
  },
  {
    sid: "DeleteGroups",
    why: "Remove the security groups of load balancers that are gone",
    calls: [ec2.deleteSecurityGroup],
    resources: groups,
    strict: [{ condition: ofCluster }],
  },
  {
    sid: "CreateLoadBalancers",
    why: "Create load balancers and target groups",
    calls: [elbv2.createLoadBalancer, elbv2.createTargetGroup],
    resources: [...balancers, ...targetGroups],
    strict: [{ condition: markedAsClusters }],
  },
  {
    sid: "Tag",
    why: "Mark what is created as the cluster's (checked with each create), and keep its tags",
    calls: [elbv2.addTags, elbv2.removeTags],
    resources: [...balancers, ...targetGroups, ...listeners, ...rules],
    strict: [
      {
        condition: {
          StringEquals: {
            "elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup", "CreateListener", "CreateRule"],
          },
        },
      },
      { condition: ofCluster },
    ],
  },
  {
    sid: "WriteLoadBalancers",
    why: "Keep load balancers, listeners, rules and target groups as Ingresses want them, and remove all of it with them",
    calls: [
      elbv2.addListenerCertificates,
      elbv2.createListener,
      elbv2.createRule,
      elbv2.deleteListener,
      elbv2.deleteLoadBalancer,
      elbv2.deleteRule,
      elbv2.deleteTargetGroup,
      elbv2.modifyCapacityReservation,
      elbv2.modifyIpPools,
      elbv2.modifyListener,
      elbv2.modifyListenerAttributes,
      elbv2.modifyLoadBalancerAttributes,
      elbv2.modifyRule,
      elbv2.modifyTargetGroup,
      elbv2.modifyTargetGroupAttributes,
      elbv2.removeListenerCertificates,
      elbv2.setIpAddressType,
      elbv2.setRulePriorities,
      elbv2.setSecurityGroups,
      elbv2.setSubnets,
    ],
    resources: [...balancers, ...targetGroups, ...listeners, ...rules],
    strict: [{ condition: ofCluster }],
  },
  {
    sid: "ReadGuards",
    why: "See which web ACL and which protection of Shield are in front of a load balancer",
    calls: [
      waf.getWebAclForResource,
      waf.getClassicWebAclForResource,
      waf.listWebAcls,
      shield.describeProtection,
      shield.getSubscriptionState,
    ],
    resources: ["*"],
    optional: noGuards,
  },
  {
    sid: "WriteGuards",
    why: "Put web ACLs and protections of Shield before load balancers, and take them away",
    calls: [
      waf.associateWebAcl,
      waf.associateClassicWebAcl,
      waf.disassociateWebAcl,
      waf.disassociateClassicWebAcl,
      shield.createProtection,
      shield.deleteProtection,
    ],
    resources: ["*"],
    optional: noGuards,
  },
  {
    sid: "SetWebAcl",
    why: "Checked with the association of a web ACL",
    calls: [],
    also: ["elasticloadbalancing:SetWebAcl"],
    resources: balancers,
    strict: [{ condition: ofCluster }],
    optional: noGuards,
  },
  ...serviceRoleGrants,
];
