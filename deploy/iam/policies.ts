/**
 * Writes the policies of this folder from the table of permissions.
 *
 *     node deploy/iam/policies.ts
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { actionsOfGrant, type Condition, type Feature, type Grant, permissions } from "../../src/doctor/permissions.ts";

export interface Statement {
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource?: readonly string[];
  readonly Principal?: object;
  readonly Condition?: Condition;
}

export interface PolicyDocument {
  readonly Version: "2012-10-17";
  readonly Statement: readonly Statement[];
}

/** Every document by its path in this folder. */
export function policies(): Readonly<Record<string, PolicyDocument>> {
  const features = Object.keys(permissions) as Feature[];
  return Object.fromEntries([
    ...features.map((feature) => [`${feature}.json`, document(permissions[feature].map(usual))]),
    ...features.map((feature) => [`strict/${feature}.json`, document(permissions[feature].flatMap(strict))]),
    ...Object.entries(trust).map(([name, statement]) => [`trust/${name}.json`, document([statement])]),
  ]);
}

/** A document as it is stored. */
export function text(policy: PolicyDocument): string {
  return `${JSON.stringify(policy, undefined, 2)}\n`;
}

function document(statements: readonly Statement[]): PolicyDocument {
  return { Version: "2012-10-17", Statement: statements };
}

function usual(grant: Grant): Statement {
  const { sid, resources, condition } = grant;
  return { Sid: sid, Effect: "Allow", Action: actionsOfGrant(grant), Resource: resources, ...(condition && { Condition: condition }) };
}

function strict(grant: Grant): readonly Statement[] {
  if (grant.strict === undefined) return [usual(grant)];
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

const serviceAccount = "system:serviceaccount:kube-system:fairlead-controller-manager";

/** Who may act as the role, for the three ways to give a pod one. */
const trust: Readonly<Record<string, Statement>> = {
  "instance-profile": {
    Sid: "Instances",
    Effect: "Allow",
    Principal: { Service: "ec2.amazonaws.com" },
    Action: ["sts:AssumeRole"],
  },
  "web-identity": {
    Sid: "ServiceAccount",
    Effect: "Allow",
    Principal: { Federated: "arn:PARTITION:iam::ACCOUNT_ID:oidc-provider/OIDC_PROVIDER" },
    Action: ["sts:AssumeRoleWithWebIdentity"],
    Condition: { StringEquals: { "OIDC_PROVIDER:sub": serviceAccount, "OIDC_PROVIDER:aud": "sts.amazonaws.com" } },
  },
  "pod-identity": {
    Sid: "PodIdentity",
    Effect: "Allow",
    Principal: { Service: "pods.eks.amazonaws.com" },
    Action: ["sts:AssumeRole", "sts:TagSession"],
  },
};

if (import.meta.main) {
  for (const [path, policy] of Object.entries(policies())) {
    const file = join(import.meta.dirname, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text(policy));
  }
}
