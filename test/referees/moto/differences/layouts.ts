/** Key pairs, peering connections, roles and instance profiles. */
import { type Accepted, absent } from "../accepted.ts";
import { ec2Errors, ec2Page, iamPage } from "./documents.ts";

export const layoutDifferences: readonly Accepted[] = [
  {
    in: ["ec2:ImportKeyPair", "ec2:DescribeKeyPairs"],
    at: ["KeyFingerprint"],
    departs: "moto",
    why: "an ED25519 key has the SHA-256 that OpenSSH shows as its fingerprint; moto gives every key the one of RSA keys",
    document: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/verify-keys.html",
  },
  {
    in: ["what is no public key is imported"],
    at: ["error.code"],
    ours: "InvalidKey.Format",
    moto: "InvalidKeyPair.Format",
    departs: "neither",
    why: "AWS lists both codes for a key in a wrong format",
    document: ec2Errors,
  },
  {
    in: ["ec2:CreateVpcPeeringConnection", "ec2:AcceptVpcPeeringConnection", "ec2:DescribeVpcPeeringConnections"],
    at: ["AccepterVpcInfo.CidrBlockSet", "RequesterVpcInfo.CidrBlockSet"],
    moto: absent,
    departs: "moto",
    why: "moto leaves out the list of a peered VPC's ranges",
    document: ec2Page("API_VpcPeeringConnectionVpcInfo"),
  },
  {
    in: ["the peering is accepted"],
    at: ["Status.Code", "Status.Message"],
    departs: "moto",
    why: "an accepted connection is provisioned before it is active; in moto it is active at once",
    document: "https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-basics.html",
  },
  {
    in: ["a peering connection that does not exist is accepted", "a peering connection that does not exist is deleted"],
    at: ["error.code"],
    ours: "InvalidVpcPeeringConnectionID.NotFound",
    moto: "InvalidVpcPeeringConnectionId.NotFound",
    departs: "moto",
    why: "moto writes the code in another case than AWS",
    document: ec2Errors,
  },
  {
    in: ["a policy in a role"],
    at: ["PolicyDocument"],
    departs: "neither",
    why: "whether a star is among the characters that are encoded is not told, and both decode to the same text",
    document: iamPage("API_GetRolePolicy"),
  },
  {
    in: ["a profile by name", "the profiles of a role"],
    at: ["Roles[].AssumeRolePolicyDocument"],
    departs: "moto",
    why: "moto does not encode the trust policies of roles in profiles",
    document: iamPage("API_Role"),
  },
  {
    in: ["the profiles of a role"],
    at: ["IsTruncated"],
    ours: false,
    departs: "moto",
    why: "moto does not say that its list is whole",
    document: iamPage("API_ListInstanceProfilesForRole"),
  },
];
