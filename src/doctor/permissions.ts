/**
 * What each feature must be allowed to do in AWS: the one table behind the policies in `deploy/iam/`, the reference page,
 * and what the doctor checks.
 */
import type { AnyAction } from "../aws/actions.ts";
import * as ec2 from "../aws/ec2-actions.ts";
import * as elb from "../aws/elb-actions.ts";
import * as elbv2 from "../aws/elbv2-actions.ts";
import { describeRule, listRuleNamesByTarget } from "../aws/events-actions.ts";
import { simulatePrincipalPolicy } from "../aws/identity-actions.ts";
import { getQueueAttributes } from "../aws/queue-actions.ts";
import { serviceFacts } from "../aws/services.ts";
import { certificateGrants } from "./certificate-grants.ts";
import { classGrants } from "./class-grants.ts";
import { dashboardGrants } from "./dashboard-grants.ts";
import { discoveryGrants } from "./discovery-grants.ts";
import { ingressGrants } from "./ingress-grants.ts";
import { interruptionGrants, setupGrants } from "./interruption-grants.ts";
import { layoutBaseGrants, layoutNodeGrants, machineControllerGrants } from "./platform-grants.ts";
import { serviceRoleGrants } from "./service-role-grants.ts";
import { tagGrants } from "./tag-grants.ts";

/** What can be switched on by itself, and so has a policy of its own. */
export type Feature =
  | "nodes"
  | "tagging"
  | "routes"
  | "load-balancers"
  | "target-group-bindings"
  | "ingresses"
  | "ingress-certificates"
  | "tag-index"
  | "class-services"
  | "interruptions"
  | "interruptions-setup"
  | "registry"
  | "volumes"
  | "discovery"
  | "machine-controller"
  | "layouts-base"
  | "layouts-nodes"
  | "assume-role"
  | "dashboard"
  | "doctor";

export type Condition = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Actions that are allowed on the same resources under the same conditions. */
export interface Grant {
  /** Name of the statement in the policy. */
  readonly sid: string;
  readonly why: string;
  /** Actions that are called. */
  readonly calls: readonly AnyAction[];
  /** IAM names of what AWS checks although it is not called here: on the way of another call, or for the container runtime. */
  readonly also?: readonly string[];
  readonly resources: readonly string[];
  /** Holds in every set-up that is supported. */
  readonly condition?: Condition;
  /** What the strict variant says instead; more than one part where resources differ in what can be asked of them. */
  readonly strict?: readonly { readonly resources?: readonly string[]; readonly condition?: Condition }[];
  /** Without it something is left out, and everything else works. */
  readonly optional?: string;
}

/** Words in policies that stand for what only the operator knows. */
export const placeholders = ["PARTITION", "CLUSTER_ID", "REGION", "ACCOUNT_ID", "VPC_ID", "ROLE_ARN", "OIDC_PROVIDER"] as const;

const clusterTag = "kubernetes.io/cluster/CLUSTER_ID";
const ofCluster: Condition = { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: ["owned", "shared"] } };
const ownedByCluster: Condition = { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: "owned" } };
const markedOwned: Condition = { StringEquals: { [`aws:RequestTag/${clusterTag}`]: "owned" } };
const inRegion = [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }];

// Any partition (`aws`, `aws-cn`, `aws-us-gov`, …): an account lies in one alone, and IAM refuses a policy that names another. Wildcards
// may stand in every part but the service: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
const ec2Arn = (resource: string) => `arn:*:ec2:*:*:${resource}`;
const elbArn = (resource: string) => `arn:*:elasticloadbalancing:*:*:${resource}`;
const balancers = [elbArn("loadbalancer/*")];
const balancerParts = [elbArn("targetgroup/*/*"), elbArn("listener/net/*/*/*")];
const groups = [ec2Arn("security-group/*")];
const volumes = [ec2Arn("volume/*")];
const snapshots = [ec2Arn("snapshot/*")];
const withTag = (key: string, value = "*"): Condition => ({ StringLike: { [`aws:ResourceTag/${key}`]: value } });
const byDriver = withTag("ebs.csi.aws.com/cluster", "true");
const madeByDriver: Condition = { StringLike: { "aws:RequestTag/ebs.csi.aws.com/cluster": "true" } };
const groupRules = [ec2Arn("security-group-rule/*")];

/** Every feature's grants. */
export const permissions: Readonly<Record<Feature, readonly Grant[]>> = {
  nodes: [
    {
      sid: "ReadInstances",
      why: "Find the instance of each Node, its zone and addresses, and whether it still exists",
      calls: [ec2.describeInstances],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "ReadZones",
      why: "Label nodes with their zone's id where the instance's description lacks it",
      calls: [ec2.describeAvailabilityZones],
      resources: ["*"],
      strict: inRegion,
      optional: "some nodes carry no topology.k8s.aws/zone-id label",
    },
    {
      sid: "ReadFargateInterfaces",
      why: "Find the network interface of a Fargate node",
      calls: [ec2.describeNetworkInterfaces],
      resources: ["*"],
      strict: inRegion,
      optional: "Fargate nodes are not initialised",
    },
    {
      sid: "ReadTopology",
      why: "Label nodes with their network topology",
      calls: [ec2.describeInstanceTopology],
      resources: ["*"],
      strict: inRegion,
      optional: "nodes carry no topology.k8s.aws/network-node-layer labels",
    },
  ],
  tagging: [
    {
      sid: "ReadInstances",
      why: "See which tags an instance has already",
      calls: [ec2.describeInstances],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "TagInstances",
      why: "Put the tags of --tags on the instances of Nodes, and take them off when a Node is gone",
      calls: [ec2.createTags, ec2.deleteTags],
      resources: [ec2Arn("instance/*")],
      strict: [{ condition: ofCluster }],
    },
  ],
  routes: [
    {
      sid: "ReadRoutes",
      why: "See the routes there are and the instances they lead to",
      calls: [ec2.describeRouteTables, ec2.describeInstances],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "WriteRoutes",
      why: "Keep one route for the pod block of each Node",
      calls: [ec2.createRoute, ec2.replaceRoute, ec2.deleteRoute],
      resources: [ec2Arn("route-table/*")],
      strict: [{ condition: ofCluster }],
    },
    {
      sid: "ForwardOnInstances",
      why: "Let an instance pass on traffic that is not addressed to itself",
      calls: [ec2.modifyInstanceAttribute],
      resources: [ec2Arn("instance/*")],
      strict: [{ condition: ofCluster }],
    },
    {
      sid: "ForwardOnInterfaces",
      why: "The same, where an instance has several interfaces",
      calls: [ec2.modifyNetworkInterfaceAttribute],
      resources: [ec2Arn("network-interface/*")],
      strict: [{ condition: { ArnLike: { "ec2:Vpc": "arn:*:ec2:REGION:ACCOUNT_ID:vpc/VPC_ID" } } }],
    },
  ],
  "load-balancers": [
    {
      sid: "ReadNetwork",
      why: "Choose subnets, and find the nodes' instances and security groups",
      calls: [
        ec2.describeAvailabilityZones,
        ec2.describeInstances,
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
        elbv2.describeListeners,
        elbv2.describeLoadBalancerAttributes,
        elbv2.describeLoadBalancers,
        elbv2.describeTags,
        elbv2.describeTargetGroupAttributes,
        elbv2.describeTargetGroups,
        elbv2.describeTargetHealth,
        elb.describeInstanceHealth,
        elb.describeLoadBalancerAttributes,
        elb.describeLoadBalancers,
        elb.describeTags,
      ],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "CreateGroups",
      why: "Make the security group of a load balancer",
      calls: [ec2.createSecurityGroup],
      resources: [...groups, ec2Arn("vpc/*")],
      strict: [{ resources: groups, condition: markedOwned }, { resources: [ec2Arn("vpc/VPC_ID")] }],
    },
    {
      sid: "TagGroups",
      why: "Mark a security group as the cluster's when it is created (checked with ec2:CreateSecurityGroup), and keep its tags",
      calls: [ec2.createTags],
      resources: groups,
      strict: [{ condition: { StringEquals: { "ec2:CreateAction": "CreateSecurityGroup" } } }, { condition: ofCluster }],
    },
    {
      sid: "WriteRules",
      why: "Let clients reach the load balancer, and the load balancer the nodes",
      calls: [ec2.authorizeSecurityGroupIngress, ec2.revokeSecurityGroupIngress, ec2.updateRuleDescriptions],
      resources: [...groups, ...groupRules],
      strict: [{ resources: groups, condition: ofCluster }, { resources: groupRules }],
    },
    {
      sid: "DeleteGroups",
      why: "Remove the security group of a load balancer that is gone",
      calls: [ec2.deleteSecurityGroup],
      resources: groups,
      strict: [{ condition: ownedByCluster }],
    },
    {
      sid: "CreateLoadBalancers",
      why: "Create load balancers and target groups",
      calls: [elb.createLoadBalancer, elbv2.createLoadBalancer, elbv2.createTargetGroup],
      resources: [...balancers, elbArn("targetgroup/*/*")],
      strict: [{ condition: markedOwned }],
    },
    {
      sid: "TagLoadBalancers",
      why: "Mark what is created as the cluster's (checked with each create), and keep the tags of classic load balancers",
      calls: [elb.addTags],
      resources: [...balancers, ...balancerParts],
      strict: [
        {
          condition: {
            StringEquals: { "elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup", "CreateListener"] },
          },
        },
        { condition: ofCluster },
      ],
    },
    {
      sid: "WriteLoadBalancers",
      why: "Keep listeners, targets, health checks and attributes as the Service wants them, and remove all of it with the Service",
      calls: [
        elb.applySecurityGroups,
        elb.attachSubnets,
        elb.configureHealthCheck,
        elb.createListeners,
        elb.createPolicy,
        elb.deleteListeners,
        elb.deleteLoadBalancer,
        elb.deregisterInstances,
        elb.detachSubnets,
        elb.modifyAttributes,
        elb.registerInstances,
        elb.setBackendPolicies,
        elb.setListenerPolicies,
        elbv2.createListener,
        elbv2.deleteListener,
        elbv2.deleteLoadBalancer,
        elbv2.deleteTargetGroup,
        elbv2.deregisterTargets,
        elbv2.modifyListener,
        elbv2.modifyLoadBalancerAttributes,
        elbv2.modifyTargetGroup,
        elbv2.modifyTargetGroupAttributes,
        elbv2.registerTargets,
        elbv2.setSecurityGroups,
      ],
      resources: [...balancers, ...balancerParts],
      strict: [{ condition: ofCluster }],
    },
    ...serviceRoleGrants,
  ],
  "target-group-bindings": [
    {
      sid: "ReadTargets",
      why: "See which target group a TargetGroupBinding means, what is registered and whether it is healthy",
      calls: [elbv2.describeTargetGroups, elbv2.describeTargetHealth],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "ReadDrains",
      why: "Warn where a target group drains longer than its pods have to end",
      calls: [elbv2.describeTargetGroupAttributes],
      resources: ["*"],
      strict: inRegion,
      optional: "nobody is warned",
    },
    {
      sid: "ReadVpcs",
      why: "Know which pod addresses lie outside the VPC of a target group",
      calls: [ec2.describeVpcs],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "ReadTargetNetwork",
      why: "Find the security groups that targets have, where a binding lets the load balancer in (`spec.networking`)",
      calls: [ec2.describeInstances, ec2.describeNetworkInterfaces, ec2.describeSecurityGroupRules, ec2.describeSecurityGroups],
      resources: ["*"],
      strict: inRegion,
      optional: "`spec.networking` is not carried out",
    },
    {
      sid: "WriteRules",
      why: "Let the load balancer in to the targets, as `spec.networking` says",
      calls: [ec2.authorizeSecurityGroupIngress, ec2.revokeSecurityGroupIngress],
      resources: [...groups, ...groupRules],
      strict: [{ resources: groups, condition: ofCluster }, { resources: groupRules }],
      optional: "`spec.networking` is not carried out",
    },
    {
      sid: "WriteTargets",
      why: "Keep target groups filled with the endpoints of Services. They are the user's: no tag tells which",
      calls: [elbv2.registerTargets, elbv2.deregisterTargets],
      resources: [elbArn("targetgroup/*/*")],
      strict: [{ resources: ["arn:*:elasticloadbalancing:REGION:ACCOUNT_ID:targetgroup/*/*"] }],
    },
  ],
  ingresses: ingressGrants,
  "ingress-certificates": certificateGrants,
  "tag-index": tagGrants,
  "class-services": classGrants,
  interruptions: interruptionGrants,
  "interruptions-setup": setupGrants,
  registry: [
    {
      sid: "LogInToRegistries",
      why: "Obtain the login of private registries",
      calls: [],
      also: ["ecr:GetAuthorizationToken"],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "PullImages",
      why: "What the container runtime does with that login",
      calls: [],
      also: ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
      resources: ["arn:*:ecr:*:*:repository/*"],
      strict: [{ resources: ["arn:*:ecr:REGION:ACCOUNT_ID:repository/*"] }],
    },
    {
      sid: "LogInToPublicRegistry",
      why: "Obtain the login of public.ecr.aws, which allows more pulls than anonymous users have",
      calls: [],
      also: ["ecr-public:GetAuthorizationToken", "sts:GetServiceBearerToken"],
      resources: ["*"],
      optional: "images of public.ecr.aws are pulled anonymously",
    },
  ],
  discovery: discoveryGrants,
  "machine-controller": machineControllerGrants,
  "layouts-base": layoutBaseGrants,
  "layouts-nodes": layoutNodeGrants,
  volumes: [
    {
      sid: "ReadVolumes",
      why: "Follow volumes, snapshots and the instances they are attached to",
      calls: [
        ec2.describeAvailabilityZones,
        ec2.describeInstances,
        ec2.describeSnapshots,
        ec2.describeVolumes,
        ec2.describeVolumesModifications,
        ec2.describeVolumeStatus,
      ],
      resources: ["*"],
      strict: inRegion,
    },
    {
      sid: "CreateVolumes",
      why: "Create the volume of a claim, or copy one, always with the driver's tag",
      calls: [ec2.createVolume, ec2.copyVolumes],
      resources: volumes,
      condition: madeByDriver,
    },
    {
      sid: "CreateVolumesFrom",
      why: "Fill a new volume from a snapshot, or from another volume",
      calls: [ec2.createVolume, ec2.copyVolumes],
      resources: [...snapshots, ec2Arn("volume/vol-*")],
    },
    {
      sid: "AttachVolumes",
      why: "Attach volumes to the nodes of their pods, and detach them",
      calls: [ec2.attachVolume, ec2.detachVolume],
      resources: [...volumes, ec2Arn("instance/*")],
      strict: [
        { resources: volumes, condition: byDriver },
        { resources: [ec2Arn("instance/*")], condition: ofCluster },
      ],
    },
    {
      sid: "ModifyVolumes",
      why: "Let volumes grow, and change their type, IOPS and throughput",
      calls: [ec2.modifyVolume],
      resources: volumes,
      strict: [{ condition: byDriver }],
    },
    {
      sid: "DeleteVolumes",
      why: "Remove the volume of a claim that is gone",
      calls: [ec2.deleteVolume],
      resources: volumes,
      condition: byDriver,
    },
    {
      sid: "DeleteVolumesByName",
      why: "The same for volumes of early versions of the driver before us",
      calls: [ec2.deleteVolume],
      resources: volumes,
      condition: withTag("CSIVolumeName"),
      optional: "volumes without the tag ebs.csi.aws.com/cluster stay",
    },
    {
      sid: "DeleteMigratedVolumes",
      why: "The same for volumes from before CSI",
      calls: [ec2.deleteVolume],
      resources: volumes,
      condition: withTag("kubernetes.io/created-for/pvc/name"),
      optional: "volumes from before CSI stay",
    },
    {
      sid: "CreateSnapshots",
      why: "Create the snapshot of a volume, with the driver's tag",
      calls: [ec2.createSnapshot],
      resources: snapshots,
      condition: madeByDriver,
    },
    {
      sid: "SnapshotVolumes",
      why: "Read the volume of a snapshot",
      calls: [ec2.createSnapshot],
      resources: volumes,
      strict: [{ condition: byDriver }],
    },
    {
      sid: "KeepSnapshots",
      why: "Lock snapshots and prepare them for fast restore, where their class asks for it",
      calls: [ec2.enableFastSnapshotRestores, ec2.lockSnapshot],
      resources: snapshots,
      condition: byDriver,
      optional: "classes with lock or fastSnapshotRestoreAvailabilityZones cannot be used",
    },
    {
      sid: "DeleteSnapshots",
      why: "Remove a snapshot that is gone",
      calls: [ec2.deleteSnapshot],
      resources: snapshots,
      condition: byDriver,
    },
    {
      sid: "TagVolumes",
      why: "Tag what is created (checked with each create)",
      calls: [ec2.createTags],
      resources: [...volumes, ...snapshots],
      condition: { StringEquals: { "ec2:CreateAction": ["CreateVolume", "CopyVolumes", "CreateSnapshot"] } },
    },
    {
      sid: "RetagVolumes",
      why: "Change the tags that a VolumeAttributesClass names",
      calls: [ec2.createTags, ec2.deleteTags],
      resources: volumes,
      condition: byDriver,
      optional: "tagSpecification and tagDeletion of a VolumeAttributesClass cannot be used on existing volumes",
    },
    {
      sid: "UseKeys",
      why: "Encrypt volumes with a key of your own; EC2 uses it in the driver's name",
      calls: [],
      also: [
        "kms:CreateGrant",
        "kms:Decrypt",
        "kms:DescribeKey",
        "kms:GenerateDataKeyWithoutPlaintext",
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
      ],
      resources: ["arn:*:kms:*:*:key/*"],
      strict: [{ resources: ["arn:*:kms:REGION:ACCOUNT_ID:key/*"] }],
      optional: "encrypted volumes can use the account's default key only",
    },
  ],
  "assume-role": [
    {
      sid: "AssumeRole",
      why: "Act as the role that RoleARN in the cloud config names, or `iamRoleArnToAssume` of a TargetGroupBinding",
      calls: [],
      also: ["sts:AssumeRole"],
      resources: ["ROLE_ARN"],
    },
  ],
  dashboard: dashboardGrants,
  doctor: [
    {
      sid: "SimulatePolicies",
      why: "Let `fairlead doctor` ask which actions the role may call, where AWS has no dry run",
      calls: [simulatePrincipalPolicy],
      resources: ["*"],
      strict: [{ resources: ["ROLE_ARN"] }],
      optional: "the doctor cannot check the write actions of load balancers",
    },
    {
      sid: "LookAtQueue",
      why: "Let `fairlead doctor` look whether notices of interruptions can arrive in the queue",
      calls: [getQueueAttributes],
      resources: ["arn:*:sqs:*:*:*"],
      strict: [{ resources: ["arn:*:sqs:REGION:ACCOUNT_ID:*"] }],
      optional: "the doctor cannot check the queue of the termination handler",
    },
    {
      sid: "LookAtRules",
      why: "Let `fairlead doctor` look which notices EventBridge passes on to the queue",
      calls: [listRuleNamesByTarget, describeRule],
      // The first names no rule, and is checked on all of them.
      resources: ["*"],
      strict: inRegion,
      optional: "the doctor cannot check the rules",
    },
  ],
};

/** The name IAM knows an action by. */
export function iamName({ service, name, permission = name }: AnyAction): string {
  return `${serviceFacts(service).iam}:${permission}`;
}

/** The IAM names a grant allows, each once. */
export function actionsOfGrant({ calls, also = [] }: Grant): readonly string[] {
  return [...new Set([...calls.map(iamName), ...also])].sort();
}

/** The IAM names a feature needs, each once. */
export function actionsOfFeature(feature: Feature): readonly string[] {
  return [...new Set(permissions[feature].flatMap(actionsOfGrant))].sort();
}
