/** What the first load balancer of an account takes, whoever asks for it: AWS makes itself a role. */
import type { Grant } from "./permissions.ts";

const roleMustExist = "the role must exist: `aws iam create-service-linked-role --aws-service-name elasticloadbalancing.amazonaws.com`";
const inRegion = [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }];

export const serviceRoleGrants: readonly Grant[] = [
  {
    sid: "ReadForServiceRole",
    why: "AWS asks for them with the creation of a load balancer while the service-linked role does not exist",
    calls: [],
    also: ["ec2:DescribeAccountAttributes", "ec2:DescribeInternetGateways"],
    resources: ["*"],
    strict: inRegion,
    optional: roleMustExist,
  },
  {
    sid: "CreateServiceRole",
    why: "The first load balancer of an account creates the service-linked role of Elastic Load Balancing",
    calls: [],
    also: ["iam:CreateServiceLinkedRole"],
    resources: ["arn:*:iam::*:role/aws-service-role/elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"],
    condition: { StringEquals: { "iam:AWSServiceName": "elasticloadbalancing.amazonaws.com" } },
    optional: roleMustExist,
  },
];
