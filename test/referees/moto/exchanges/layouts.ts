/** Key pairs, peering, and roles with their instance profiles: what the network of a cluster is made of besides. */
import {
  AcceptVpcPeeringConnectionCommand,
  CreateRouteCommand,
  CreateVpcPeeringConnectionCommand,
  DeleteKeyPairCommand,
  DeleteRouteCommand,
  DeleteVpcPeeringConnectionCommand,
  DescribeKeyPairsCommand,
  DescribeVpcPeeringConnectionsCommand,
  ImportKeyPairCommand,
} from "@aws-sdk/client-ec2";
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  DeleteInstanceProfileCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  GetInstanceProfileCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  ListAttachedRolePoliciesCommand,
  ListInstanceProfilesForRoleCommand,
  ListRolePoliciesCommand,
  ListRoleTagsCommand,
  PutRolePolicyCommand,
  RemoveRoleFromInstanceProfileCommand,
  TagRoleCommand,
  UntagRoleCommand,
  UpdateAssumeRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");
const askIam = asker("iam");

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHjE3wGDjGC1Tg0BpLx0Zz5yXK1gUoW3JnqNU8oVb0cK ops";
const trust = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }],
});
const policy = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: ["ec2:DescribeTags", "ec2:DescribeInstances"], Resource: ["*"] }],
});
const role = { RoleName: "demo-node" };
const profile = { InstanceProfileName: "demo-node" };
const both = { ...role, ...profile };

export const keyPairExchanges: readonly Exchange[] = [
  ask(
    "a public key is imported",
    ImportKeyPairCommand,
    {
      KeyName: "demo",
      PublicKeyMaterial: Buffer.from(key),
      TagSpecifications: [{ ResourceType: "key-pair", Tags: [{ Key: "Cluster", Value: "demo" }] }],
    },
    { keyPair: "KeyPairId" },
  ),
  ask("a public key is imported under a name in use", ImportKeyPairCommand, { KeyName: "demo", PublicKeyMaterial: Buffer.from(key) }),
  ask("what is no public key is imported", ImportKeyPairCommand, { KeyName: "bad", PublicKeyMaterial: Buffer.from("garbage") }),
  ask("a key pair by name", DescribeKeyPairsCommand, { KeyNames: ["demo"] }),
  ask("key pairs by a filter on their name", DescribeKeyPairsCommand, { Filters: [{ Name: "key-name", Values: ["demo"] }] }),
  ask("a key pair that does not exist", DescribeKeyPairsCommand, { KeyNames: ["none"] }),
  ask("a key pair is deleted", DeleteKeyPairCommand, { KeyName: "demo" }),
  ask("a key pair is deleted twice", DeleteKeyPairCommand, { KeyName: "demo" }),
];

export const peeringExchanges: readonly Exchange[] = [
  ask(
    "two VPCs are to be peered",
    CreateVpcPeeringConnectionCommand,
    {
      VpcId: "$vpc",
      PeerVpcId: "$otherVpc",
      TagSpecifications: [{ ResourceType: "vpc-peering-connection", Tags: [{ Key: "Name", Value: "demo" }] }],
    },
    { peering: "VpcPeeringConnection.VpcPeeringConnectionId" },
  ),
  ask("the peering is accepted", AcceptVpcPeeringConnectionCommand, { VpcPeeringConnectionId: "$peering" }),
  ask("a peering connection by id", DescribeVpcPeeringConnectionsCommand, { VpcPeeringConnectionIds: ["$peering"] }),
  ask("a peering connection that does not exist is accepted", AcceptVpcPeeringConnectionCommand, {
    VpcPeeringConnectionId: "pcx-0123456789abcdef0",
  }),
  ask("a route leads to a peered VPC", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "192.168.0.0/20",
    VpcPeeringConnectionId: "$peering",
  }),
  ask("the route to the peered VPC goes", DeleteRouteCommand, { RouteTableId: "$table", DestinationCidrBlock: "192.168.0.0/20" }),
  ask("a peering connection is deleted", DeleteVpcPeeringConnectionCommand, { VpcPeeringConnectionId: "$peering" }),
  ask("a deleted peering connection", DescribeVpcPeeringConnectionsCommand, { VpcPeeringConnectionIds: ["$peering"] }),
  ask("a peering connection that does not exist is deleted", DeleteVpcPeeringConnectionCommand, {
    VpcPeeringConnectionId: "pcx-0123456789abcdef0",
  }),
];

export const roleExchanges: readonly Exchange[] = [
  askIam("a role for nodes", CreateRoleCommand, { ...role, AssumeRolePolicyDocument: trust }, { role: "Role.RoleId" }),
  askIam("a role of a name in use", CreateRoleCommand, { ...role, AssumeRolePolicyDocument: trust }),
  askIam("a role is tagged", TagRoleCommand, {
    ...role,
    Tags: [
      { Key: "team", Value: "a" },
      { Key: "old", Value: "b" },
    ],
  }),
  askIam("a role loses a tag", UntagRoleCommand, { ...role, TagKeys: ["old"] }),
  askIam("the tags of a role", ListRoleTagsCommand, role),
  askIam("a role gets another trust policy", UpdateAssumeRolePolicyCommand, { ...role, PolicyDocument: trust }),
  askIam("a role by name", GetRoleCommand, role),
  askIam("a role that does not exist", GetRoleCommand, { RoleName: "none" }),
  askIam("a role gets a policy", PutRolePolicyCommand, { ...role, PolicyName: "p", PolicyDocument: policy }),
  askIam("the policies in a role", ListRolePoliciesCommand, role),
  askIam("the policies attached to a role", ListAttachedRolePoliciesCommand, role),
  askIam("a policy in a role", GetRolePolicyCommand, { ...role, PolicyName: "p" }),
  askIam("an instance profile", CreateInstanceProfileCommand, profile, { profile: "InstanceProfile.InstanceProfileId" }),
  askIam("an instance profile of a name in use", CreateInstanceProfileCommand, profile),
  askIam("a profile gets its role", AddRoleToInstanceProfileCommand, both),
  askIam("a profile gets a second role", AddRoleToInstanceProfileCommand, both),
  askIam("a profile gets a role that does not exist", AddRoleToInstanceProfileCommand, { ...profile, RoleName: "none" }),
  askIam("a profile by name", GetInstanceProfileCommand, profile),
  askIam("a profile that does not exist", GetInstanceProfileCommand, { InstanceProfileName: "none" }),
  askIam("the profiles of a role", ListInstanceProfilesForRoleCommand, role),
  askIam("a profile with a role is deleted", DeleteInstanceProfileCommand, profile),
  askIam("a role in a profile is deleted", DeleteRoleCommand, role),
  askIam("a profile loses its role", RemoveRoleFromInstanceProfileCommand, both),
  askIam("a profile is deleted", DeleteInstanceProfileCommand, profile),
  askIam("a role with a policy is deleted", DeleteRoleCommand, role),
  askIam("a role loses its policy", DeleteRolePolicyCommand, { ...role, PolicyName: "p" }),
  askIam("a role loses a policy that it does not have", DeleteRolePolicyCommand, { ...role, PolicyName: "p" }),
  askIam("a role is deleted", DeleteRoleCommand, role),
  askIam("a role is deleted twice", DeleteRoleCommand, role),
];
