/** Which target groups are an owner's own, and what AWS tells of them. */
import type { TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../aws/ask.ts";
import type { Inventory } from "./inventory.ts";
import type { LoadBalancerOwner } from "./owner.ts";
import type { SeenTargetGroup } from "./target-group-plan.ts";
import { registrable, type Targets } from "./targets.ts";

/** Those whose names may be an owner's, and that no other load balancer uses: names of other owners may begin the same. */
export async function namedTargetGroups(
  owner: LoadBalancerOwner,
  loadBalancer: string | undefined,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<TargetGroup[]> {
  const all = await inventory.targetGroups.all(maxAgeMs, ask, owner.key);
  return all.filter((group) => {
    const { TargetGroupName: name = "", LoadBalancerArns: users = [] } = group;
    const claim = owner.claimsTargetGroup(name);
    return claim === "certainly" || (claim === "perhaps" && (users.length === 0 || isBehind(group, loadBalancer)));
  });
}

/** Those of them that carry its marks: only these are ever deleted. */
export async function marked<G extends { readonly TargetGroupArn?: string }>(
  groups: readonly G[],
  owner: LoadBalancerOwner,
  inventory: Inventory,
  ask: Ask,
): Promise<G[]> {
  const verdicts = await Promise.all(
    groups.map(async ({ TargetGroupArn: arn = "" }) => {
      const tags = await inventory.cloud.loadBalancers.tags(arn, ask);
      return tags !== undefined && owner.hasMarks(tags);
    }),
  );
  return groups.filter((_, i) => verdicts[i]);
}

/** Without those of the unwanted ones that do not carry its marks at this moment: a plan would delete them. */
export async function withoutStrangers(
  groups: readonly SeenTargetGroup[],
  isUnwanted: (group: SeenTargetGroup) => boolean,
  owner: LoadBalancerOwner,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenTargetGroup[]> {
  const unwanted = groups.filter(isUnwanted).map((group) => ({ TargetGroupArn: group.arn, group }));
  const own = await marked(unwanted, owner, inventory, ask);
  const strangers = new Set(unwanted.filter((each) => !own.includes(each)).map(({ group }) => group));
  return groups.filter((group) => !strangers.has(group));
}

/** Whether a load balancer forwards to a target group. */
export function isBehind({ LoadBalancerArns: users = [] }: TargetGroup, loadBalancer: string | undefined): boolean {
  return loadBalancer !== undefined && users.includes(loadBalancer);
}

/**
 * Those that a plan may be about: what its load balancer forwards to, and what was left by a step that did not finish.
 * The tags of what is in use are not read for every look; a plan that would delete one asks for them.
 */
export async function plannedTargetGroups(
  owner: LoadBalancerOwner,
  loadBalancer: string | undefined,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<TargetGroup[]> {
  const named = await namedTargetGroups(owner, loadBalancer, inventory, maxAgeMs, ask);
  const unused = named.filter(({ LoadBalancerArns: users = [] }) => users.length === 0);
  return [...named.filter((group) => isBehind(group, loadBalancer)), ...(await marked(unused, owner, inventory, ask))];
}

/** What one target group takes: an instance that does not run stays in the groups it is in, and comes into no other. */
export function registrableIn(group: Pick<SeenTargetGroup, "targets"> | undefined, targets: Targets): string[] {
  return registrable(targets, new Set(group?.targets.map(({ id }) => id)));
}

/** Target groups with what is registered in them, and with their attributes if asked to. */
export function observeGroups(
  groups: readonly TargetGroup[],
  withAttributes: boolean,
  { cloud: { loadBalancers } }: Inventory,
  ask: Ask,
): Promise<SeenTargetGroup[]> {
  return Promise.all(
    groups.map(async (group) => {
      const arn = group.TargetGroupArn ?? "";
      const [health, attributes] = await Promise.all([
        loadBalancers.targetHealth(arn, ask),
        withAttributes ? loadBalancers.targetGroupAttributes(arn, ask) : {},
      ]);
      return seeTargetGroup(group, health, attributes);
    }),
  );
}

function seeMatcher({ Matcher: { HttpCode, GrpcCode } = {} }: TargetGroup): SeenTargetGroup["healthCheck"]["matcher"] {
  if (GrpcCode) return { kind: "grpc", codes: GrpcCode };
  return HttpCode ? { kind: "http", codes: HttpCode } : undefined;
}

/** A target group with what is registered in it. */
export function seeTargetGroup(
  group: TargetGroup,
  health: readonly TargetHealthDescription[],
  attributes: Readonly<Record<string, string>>,
): SeenTargetGroup {
  return {
    arn: group.TargetGroupArn ?? "",
    name: group.TargetGroupName ?? "",
    targetType: group.TargetType ?? "",
    protocolVersion: group.ProtocolVersion,
    controlPort: group.TargetControlPort,
    ...(group.IpAddressType && { addressType: group.IpAddressType }),
    protocol: group.Protocol ?? "",
    port: group.Port ?? 0,
    healthCheck: {
      protocol: group.HealthCheckProtocol ?? "",
      port: group.HealthCheckPort ?? "",
      path: group.HealthCheckPath || undefined,
      interval: group.HealthCheckIntervalSeconds ?? 0,
      healthyThreshold: group.HealthyThresholdCount ?? 0,
      unhealthyThreshold: group.UnhealthyThresholdCount ?? 0,
      timeout: group.HealthCheckTimeoutSeconds,
      matcher: seeMatcher(group),
    },
    attributes,
    targets: registeredIn(health, group.Port ?? 0),
  };
}

/** What is registered. What is on its way out is gone, as far as anybody plans. */
export function registeredIn(health: readonly TargetHealthDescription[], port: number): SeenTargetGroup["targets"] {
  return health
    .filter(({ TargetHealth }) => TargetHealth?.Reason !== "Target.DeregistrationInProgress")
    .flatMap(({ Target }) => (Target?.Id ? [{ id: Target.Id, port: Target.Port ?? port }] : []));
}
