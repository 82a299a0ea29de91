/**
 * What programs that are not Fairlead's must be allowed to do in AWS: the machine controller that makes machines from our templates, and
 * the OpenTofu that runs our layouts. A platform gives one user everything; each of them needs a part of it.
 */
import type { Condition, Grant } from "./permissions.ts";

const inRegion: Condition = { StringEquals: { "aws:RequestedRegion": "REGION" } };
const everywhere = { calls: [], resources: ["*"], strict: [{ condition: inRegion }] } as const;
const ec2Arn = (resource: string) => `arn:*:ec2:*:*:${resource}`;
const machines = [ec2Arn("instance/*"), ec2Arn("volume/*")];
/** The tag that the machine controller knows its machines by. */
const machineTag = "kubernetes.io/cluster/CLUSTER_ID";
const toMachines: Condition = { StringEquals: { "iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"] } };

/** A role is given to instances only, and in the strict policies only the one that the layouts make. */
const passNodeRole: Grant = {
  sid: "PassNodeRole",
  why: "Launch instances with the role of nodes",
  calls: [],
  also: ["iam:PassRole"],
  resources: ["arn:*:iam::*:role/*"],
  condition: toMachines,
  strict: [{ resources: ["arn:*:iam::ACCOUNT_ID:role/*-node"] }],
};

export const machineControllerGrants: readonly Grant[] = [
  {
    sid: "FindMachines",
    why: "Find the machines of the cluster, and the root device of their image",
    ...everywhere,
    also: ["ec2:DescribeImages", "ec2:DescribeInstances"],
  },
  {
    sid: "MakeMachines",
    why: "Launch a machine",
    calls: [],
    also: ["ec2:RunInstances"],
    resources: ["*"],
    strict: [
      { resources: machines, condition: { StringEquals: { [`aws:RequestTag/${machineTag}`]: "1" } } },
      {
        // A class with `spot` makes a request for one, which has no tags of its own.
        resources: [
          ...["image/*", "key-pair/*", "network-interface/*", "security-group/*", "snapshot/*", "spot-instances-request/*", "subnet/*"],
        ].map(ec2Arn),
        condition: inRegion,
      },
    ],
  },
  {
    sid: "TagMachines",
    why: "Tag a machine and its disk while it is launched",
    calls: [],
    also: ["ec2:CreateTags"],
    resources: machines,
    condition: { StringEquals: { "ec2:CreateAction": "RunInstances" } },
  },
  passNodeRole,
  {
    sid: "RemoveMachines",
    why: "Terminate a machine, and let its disk go with it",
    calls: [],
    also: ["ec2:ModifyInstanceAttribute", "ec2:TerminateInstances"],
    resources: machines,
    strict: [{ condition: { StringEquals: { [`aws:ResourceTag/${machineTag}`]: "1" } } }],
  },
  {
    sid: "FirstSpotInstance",
    why: "Let AWS make its role for spot instances, in an account that has never had one",
    calls: [],
    also: ["iam:CreateServiceLinkedRole"],
    resources: ["arn:*:iam::*:role/aws-service-role/spot.amazonaws.com/*"],
    condition: { StringEquals: { "iam:AWSServiceName": "spot.amazonaws.com" } },
    optional: "classes with `spot` need an account that has had a spot instance",
  },
];

const describe = (...nouns: readonly string[]) => nouns.map((noun) => `ec2:Describe${noun}`);

/** Instances with their disks and addresses: the bastion, masters, permanent nodes. */
const instanceGrants: readonly Grant[] = [
  {
    sid: "ReadInstances",
    why: "Plan instances, disks and addresses",
    ...everywhere,
    also: [
      ...describe("AccountAttributes", "Addresses", "AddressesAttribute", "AvailabilityZones", "Images", "InstanceAttribute"),
      ...describe(
        "InstanceCreditSpecifications",
        "InstanceTypes",
        "Instances",
        "NetworkInterfaces",
        "Regions",
        "SecurityGroups",
        "Subnets",
      ),
      ...describe("Tags", "Volumes", "VolumesModifications", "VpcAttribute", "Vpcs"),
      "sts:GetCallerIdentity",
    ],
  },
  {
    sid: "ReadNodeProfile",
    why: "Read the profile that brings the role of nodes to instances",
    calls: [],
    // IAM has no regions: under a condition on the region of the cluster nothing of it is allowed.
    also: ["iam:GetInstanceProfile"],
    resources: ["arn:*:iam::*:instance-profile/*-node"],
    strict: [{ resources: ["arn:*:iam::ACCOUNT_ID:instance-profile/*-node"] }],
  },
  {
    sid: "MakeInstances",
    why: "Launch, change and terminate instances; their groups are changed at their interface, `requireIMDSv2` at their metadata options",
    ...everywhere,
    also: [
      ...["ModifyInstanceAttribute", "ModifyInstanceMetadataOptions", "ModifyNetworkInterfaceAttribute", "RunInstances"],
      ...["StartInstances", "StopInstances", "TerminateInstances"],
    ].map((action) => `ec2:${action}`),
  },
  {
    sid: "MakeVolumes",
    why: "Etcd's disk of a master; changes of root disks",
    ...everywhere,
    also: ["ec2:AttachVolume", "ec2:CreateVolume", "ec2:DeleteVolume", "ec2:DetachVolume", "ec2:ModifyVolume"],
  },
  {
    sid: "MakeAddresses",
    why: "Elastic IP addresses",
    ...everywhere,
    also: ["ec2:AllocateAddress", "ec2:AssociateAddress", "ec2:DisassociateAddress", "ec2:ReleaseAddress"],
  },
  { sid: "Tag", why: "Tag what is made", ...everywhere, also: ["ec2:CreateTags", "ec2:DeleteTags"] },
  passNodeRole,
];

/** The steps master-node and static-node. */
export const layoutNodeGrants: readonly Grant[] = instanceGrants;

/** The step base-infrastructure. */
export const layoutBaseGrants: readonly Grant[] = [
  ...instanceGrants.filter(({ sid }) => sid !== "MakeVolumes"),
  {
    sid: "ReadNetwork",
    why: "Plan the network",
    ...everywhere,
    also: [
      ...describe("EgressOnlyInternetGateways", "InternetGateways", "KeyPairs", "NatGateways", "PrefixLists", "RouteTables"),
      ...describe("SecurityGroupRules", "VpcEndpoints", "VpcPeeringConnections"),
    ],
  },
  {
    sid: "MakeNetwork",
    why: "VPC, subnets, gateways, endpoints",
    ...everywhere,
    also: [
      ...["AssociateSubnetCidrBlock", "AssociateVpcCidrBlock", "AttachInternetGateway", "CreateEgressOnlyInternetGateway"],
      ...["CreateInternetGateway", "CreateNatGateway", "CreateSubnet", "CreateVpc", "CreateVpcEndpoint", "DeleteEgressOnlyInternetGateway"],
      ...["DeleteInternetGateway", "DeleteNatGateway", "DeleteSubnet", "DeleteVpc", "DeleteVpcEndpoints", "DetachInternetGateway"],
      ...["DisassociateSubnetCidrBlock", "DisassociateVpcCidrBlock", "ModifySubnetAttribute", "ModifyVpcAttribute", "ModifyVpcEndpoint"],
    ].map((action) => `ec2:${action}`),
  },
  {
    sid: "NameEndpoints",
    why: "Let EC2 bring the names of a service to the endpoint that takes its place",
    calls: [],
    // Asked for on the way of CreateVpcEndpoint, for a zone that is not the account's; Route 53 has no regions.
    also: ["route53:AssociateVPCWithHostedZone"],
    resources: ["*"],
    optional: "`vpcEndpoints` cannot name services other than s3, s3express and dynamodb",
  },
  {
    sid: "MakeRoutes",
    why: "Route tables and their routes; peering with other VPCs",
    ...everywhere,
    also: [
      ...["AcceptVpcPeeringConnection", "AssociateRouteTable", "CreateRoute", "CreateRouteTable", "CreateVpcPeeringConnection"],
      ...["DeleteRoute", "DeleteRouteTable", "DeleteVpcPeeringConnection", "DisassociateRouteTable", "ReplaceRoute"],
      "ReplaceRouteTableAssociation",
    ].map((action) => `ec2:${action}`),
  },
  {
    sid: "MakeGroups",
    why: "Security groups of nodes, load balancers and SSH",
    ...everywhere,
    also: [
      ...["AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress", "CreateSecurityGroup", "DeleteSecurityGroup"],
      ...["RevokeSecurityGroupEgress", "RevokeSecurityGroupIngress"],
    ].map((action) => `ec2:${action}`),
  },
  { sid: "MakeKey", why: "The SSH key of instances", ...everywhere, also: ["ec2:DeleteKeyPair", "ec2:ImportKeyPair"] },
  {
    sid: "MakeNodeRole",
    why: "The role of nodes with its policy, and the profile that brings it to instances; all are named `<prefix>-node`",
    calls: [],
    also: [
      ...["AddRoleToInstanceProfile", "CreateInstanceProfile", "CreateRole", "DeleteInstanceProfile", "DeleteRole", "DeleteRolePolicy"],
      ...["GetRole", "GetRolePolicy", "ListAttachedRolePolicies", "ListInstanceProfilesForRole", "ListRolePolicies", "ListRoleTags"],
      ...["PutRolePolicy", "RemoveRoleFromInstanceProfile", "TagRole", "UntagRole", "UpdateAssumeRolePolicy"],
    ].map((action) => `iam:${action}`),
    resources: ["arn:*:iam::*:role/*-node", "arn:*:iam::*:instance-profile/*-node"],
    strict: [{ resources: ["arn:*:iam::ACCOUNT_ID:role/*-node", "arn:*:iam::ACCOUNT_ID:instance-profile/*-node"] }],
  },
];
