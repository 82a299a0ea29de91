/** Policies of IAM from the table of permissions. */
import { actionsOfGrant, type Condition, type Grant } from "./permissions.ts";

export interface PolicyStatement {
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource?: readonly string[];
  readonly Principal?: object;
  readonly Condition?: Condition;
}

export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly PolicyStatement[];
}

export function policyDocument(statements: readonly PolicyStatement[]): PolicyDocument {
  return { Version: "2012-10-17", Statement: statements };
}

/** What is allowed in every set-up that is supported. */
export function usualStatement(grant: Grant): PolicyStatement {
  const { sid, resources, condition } = grant;
  return { Sid: sid, Effect: "Allow", Action: actionsOfGrant(grant), Resource: resources, ...(condition && { Condition: condition }) };
}

/** What is allowed in one cluster; words in it stand for what only the operator knows. */
export function strictStatements(grant: Grant): readonly PolicyStatement[] {
  if (grant.strict === undefined) return [usualStatement(grant)];
  return grant.strict.map((part, index) => {
    const condition = part.condition ?? grant.condition;
    return {
      Sid: index === 0 ? grant.sid : `${grant.sid}${index + 1}`,
      Effect: "Allow",
      Action: actionsOfGrant(grant),
      Resource: part.resources ?? grant.resources,
      ...(condition && { Condition: condition }),
    };
  });
}

/** Who may act as a role, for the three ways to give a pod one. */
export const trustStatements = {
  "instance-profile": (): PolicyStatement => ({
    Sid: "Instances",
    Effect: "Allow",
    Principal: { Service: "ec2.amazonaws.com" },
    Action: ["sts:AssumeRole"],
  }),
  "web-identity": (serviceAccount: string): PolicyStatement => ({
    Sid: "ServiceAccount",
    Effect: "Allow",
    Principal: { Federated: "arn:PARTITION:iam::ACCOUNT_ID:oidc-provider/OIDC_PROVIDER" },
    Action: ["sts:AssumeRoleWithWebIdentity"],
    Condition: { StringEquals: { "OIDC_PROVIDER:sub": serviceAccount, "OIDC_PROVIDER:aud": "sts.amazonaws.com" } },
  }),
  "pod-identity": (): PolicyStatement => ({
    Sid: "PodIdentity",
    Effect: "Allow",
    Principal: { Service: "pods.eks.amazonaws.com" },
    Action: ["sts:AssumeRole", "sts:TagSession"],
  }),
} as const;
