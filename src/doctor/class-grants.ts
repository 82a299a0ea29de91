/** What serving Services with a load balancer class takes in AWS: what Ingresses take, without what only they have. */
import * as ec2 from "../aws/ec2-actions.ts";
import * as elbv2 from "../aws/elbv2-actions.ts";
import { ingressGrants } from "./ingress-grants.ts";
import type { Grant } from "./permissions.ts";

/** Statements about WAF, Shield and certificates by host names. */
const onlyIngresses = ["ReadCertificates", "ReadGuards", "WriteGuards", "SetWebAcl"];

const neverCalled: readonly unknown[] = [
  elbv2.describeRules,
  elbv2.describeTrustStores,
  elbv2.createRule,
  elbv2.deleteRule,
  elbv2.modifyRule,
  elbv2.setRulePriorities,
  elbv2.modifyIpPools,
];

const whys: Readonly<Record<string, string>> = {
  WriteLoadBalancers: "Keep load balancers, listeners and target groups as Services want them, and remove all of it with them",
  ReadNetwork: "Choose subnets, see security groups, and know where clients of internal load balancers are",
};

export const classGrants: readonly Grant[] = ingressGrants
  .filter(({ sid }) => !onlyIngresses.includes(sid))
  .map((grant) => ({
    ...grant,
    why: whys[grant.sid] ?? grant.why,
    calls: [...grant.calls.filter((call) => !neverCalled.includes(call)), ...(grant.sid === "ReadNetwork" ? [ec2.describeVpcs] : [])],
    resources: grant.resources.filter((resource) => !resource.includes("listener-rule")),
  }));
