/** The shipped IAM policies, as they lie in the repository, for the simulated cloud to hold everybody to. */
import { readFileSync } from "node:fs";
import type { PolicyDocument } from "../../deploy/iam/policies.ts";
import type { Statement } from "../../src/sandbox/cloud/access/policy.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";

/** The actions that policies of these features allow, each once. */
export function actionsIn(...features: readonly string[]): readonly string[] {
  return [...new Set(features.flatMap((feature) => documentOf(`${feature}.json`).flatMap(({ Action }) => Action)))].sort();
}

/** The default policies, with resources and conditions. */
export function usualPolicy(_cloud: Cloud, _network: Network, _clusterId: string, ...features: readonly string[]): Statement[] {
  return policyOf(...features);
}

/** The same, for whoever has no cluster. */
export function policyOf(...features: readonly string[]): Statement[] {
  return features.flatMap((feature) => documentOf(`${feature}.json`)).map(statementOf);
}

/** The strict policies, with resources and conditions, filled in for this cluster. */
export function strictPolicy({ account }: Cloud, { vpcId }: Network, clusterId: string, ...features: readonly string[]): Statement[] {
  const role = `arn:${account.partition}:iam::${account.id}:role/${clusterId}-node`;
  const known = { CLUSTER_ID: clusterId, REGION: account.region, ACCOUNT_ID: account.id, VPC_ID: vpcId, ROLE_ARN: role };
  const fill = (text: string) => Object.entries(known).reduce((filled, [word, value]) => filled.replaceAll(word, value), text);
  return features.flatMap((feature) => documentOf(`strict/${feature}.json`, fill)).map(statementOf);
}

function statementOf({ Action, Resource, Condition }: PolicyDocument["Statement"][number]): Statement {
  return {
    effect: "allow",
    actions: Action,
    ...(Resource && { resources: Resource }),
    ...(Condition && { condition: Condition }),
  };
}

function documentOf(path: string, fill = (text: string) => text): PolicyDocument["Statement"] {
  const text = readFileSync(new URL(`../../deploy/iam/${path}`, import.meta.url), "utf8");
  return (JSON.parse(fill(text)) as PolicyDocument).Statement;
}
