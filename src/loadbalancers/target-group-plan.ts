/** Target groups and the targets in them: the steps from those that are seen to those that are wanted. Pure. */
import {
  createTargetGroup,
  deleteTargetGroup,
  deregisterTargets,
  modifyTargetGroup,
  modifyTargetGroupAttributes,
  registerTargets,
} from "../aws/elbv2-actions.ts";
import { type Made, made, type Step, step } from "../aws/plan.ts";
import { attributesText, changedAttributes } from "./elbv2/attributes.ts";
import { tagList } from "./groups/managed.ts";
import type { Attributes, LoadBalancerModel, TaggedPart, Tags, TargetGroup, TargetHealthCheck } from "./model.ts";

export interface SeenTargetGroup extends TaggedPart {
  readonly arn: string;
  readonly name: string;
  readonly targetType: string;
  readonly protocolVersion?: string;
  readonly controlPort?: number;
  /** Absent: IPv4. */
  readonly addressType?: string;
  readonly protocol: string;
  readonly port: number;
  readonly healthCheck: {
    readonly protocol: string;
    readonly port: string;
    readonly path?: string;
    readonly interval: number;
    readonly healthyThreshold: number;
    readonly unhealthyThreshold: number;
    readonly timeout?: number;
    readonly matcher?: TargetHealthCheck["matcher"];
  };
  /** Read only while some are managed. */
  readonly attributes: Readonly<Record<string, string>>;
  /** ARNs of the load balancers that forward to it, where that matters. */
  readonly users?: readonly string[];
  /** Instances registered and not on their way out, each with its port. */
  readonly targets: readonly { readonly id: string; readonly port: number }[];
}

/** Who asks for target groups, and the tags that they carry. */
type Asker = Pick<LoadBalancerModel, "askedBy" | "tags">;

/** AWS takes 1,000 targets a call at most, and less is gentler. */
const targetsPerCall = 100;

/**
 * Target groups without a load balancer of ours. One of another protocol has to be made anew, under the same name. What
 * stands comes first: the others may have to wait, for as long as somebody's listener uses one that has to go.
 */
export function planTargetGroups(groups: readonly TargetGroup[], vpc: string, asker: Asker, seen: readonly SeenTargetGroup[]): Step[] {
  const isKept = (present: SeenTargetGroup) => groups.some(({ name, protocol }) => name === present.name && protocol === present.protocol);
  const replaced = seen.filter((present) => !isKept(present) && groups.some(({ name }) => name === present.name));
  const unwanted = seen.filter((present) => !groups.some(({ name }) => name === present.name));
  const kept = seen.filter(isKept);
  const stepsFor = (some: readonly TargetGroup[]) =>
    some.flatMap((group) => {
      const { steps, targets } = planTargetGroup(group, vpc, asker, kept);
      return [...steps, ...targets];
    });
  const stands = ({ name }: TargetGroup) => kept.some((present) => present.name === name);
  return [
    ...stepsFor(groups.filter(stands)),
    ...replaced.flatMap(({ name, arn, targets }) => planTargets(targetsOf(groups, name), arn, targets, asker.askedBy)),
    ...replaced.map(targetGroupDeletion),
    ...stepsFor(groups.filter((group) => !stands(group))),
    ...unwanted.map(targetGroupDeletion),
  ];
}

function targetsOf(groups: readonly TargetGroup[], name: string): TargetsOfGroup {
  const group = groups.find((each) => each.name === name)!;
  return { ...group, targets: group.targets ?? [] };
}

interface TargetGroupPlan {
  readonly name: string;
  readonly arn: string | Made;
  readonly steps: readonly Step[];
  /** The steps about its targets. */
  readonly targets: readonly Step[];
}

export function planTargetGroup(group: TargetGroup, vpc: string, asker: Asker, seen: readonly SeenTargetGroup[]): TargetGroupPlan {
  const { askedBy, tags } = asker;
  const present = seen.find((each) => standsFor(each, group));
  const arn = present?.arn ?? made(`target group ${group.name}`);
  return {
    name: group.name,
    arn,
    steps: [
      ...(present ? [] : [targetGroupCreation(group, vpc, tags)]),
      ...(present ? healthCheckChange(group, present) : []),
      ...attributeChange(group, arn, present, askedBy),
    ],
    targets: group.targets ? planTargets({ ...group, targets: group.targets }, arn, present?.targets ?? [], askedBy) : [],
  };
}

/** Whether it is the one that is wanted. One that is known by its tags may have another name, but nothing else that cannot be changed. */
export function standsFor(present: SeenTargetGroup, group: TargetGroup): boolean {
  if (group.part === undefined) return present.name === group.name;
  return (
    present.part === group.part &&
    present.targetType === group.targetType &&
    present.protocol === group.protocol &&
    present.protocolVersion === group.protocolVersion &&
    present.controlPort === group.controlPort &&
    !(group.fixesAddressType && !sameFamily(present, group)) &&
    !(group.fixesHealthCheck && checksOtherwise(present.healthCheck, group.healthCheck))
  );
}

/** Whether the addresses of their targets are of one family. */
export const sameFamily = (a: { readonly addressType?: string }, b: { readonly addressType?: string }) =>
  (a.addressType ?? "ipv4") === (b.addressType ?? "ipv4");

function checksOtherwise(is: SeenTargetGroup["healthCheck"], wanted: TargetHealthCheck): boolean {
  const isOther = <T>(a: T | undefined, b: T | undefined) => b !== undefined && a !== b;
  return (
    is.protocol !== wanted.protocol ||
    is.interval !== wanted.interval ||
    isOther(is.timeout, wanted.timeout) ||
    isOther(is.matcher?.codes, wanted.matcher?.codes)
  );
}

function targetGroupCreation(group: TargetGroup, vpc: string, tags: Tags): Step {
  const { healthCheck } = group;
  return step(
    createTargetGroup,
    {
      Name: group.name,
      Protocol: group.protocol,
      Port: group.port,
      VpcId: vpc,
      TargetType: group.targetType,
      ...(group.protocolVersion && { ProtocolVersion: group.protocolVersion }),
      ...(group.addressType === "ipv6" && { IpAddressType: "ipv6" }),
      ...(group.controlPort !== undefined && { TargetControlPort: group.controlPort }),
      HealthCheckProtocol: healthCheck.protocol,
      HealthCheckPort: healthCheck.port,
      HealthCheckPath: healthCheck.path,
      HealthCheckIntervalSeconds: healthCheck.interval,
      HealthCheckTimeoutSeconds: healthCheck.timeout,
      HealthyThresholdCount: healthCheck.healthyThreshold,
      UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
      ...(healthCheck.matcher && { Matcher: sentMatcher(healthCheck.matcher) }),
      Tags: tagList(group.tags ?? tags),
    },
    {
      what: `create target group ${group.name} ${group.protocol}:${group.port}, checked by ${healthCheck.protocol}:${healthCheck.port}${healthCheck.path ?? ""}`,
      why: "a listener forwards to it",
      makes: { name: `target group ${group.name}`, id: (output) => output.TargetGroups?.[0]?.TargetGroupArn },
      by: group.by,
    },
  );
}

const sentMatcher = ({ kind, codes }: NonNullable<TargetHealthCheck["matcher"]>) =>
  kind === "grpc" ? { GrpcCode: codes } : { HttpCode: codes };

function healthCheckChange({ name, healthCheck, by }: TargetGroup, present: SeenTargetGroup): Step[] {
  const is = present.healthCheck;
  const same =
    is.port === healthCheck.port &&
    is.protocol === healthCheck.protocol &&
    is.interval === healthCheck.interval &&
    (is.path ?? "") === (healthCheck.path ?? "") &&
    is.healthyThreshold === healthCheck.healthyThreshold &&
    is.unhealthyThreshold === healthCheck.unhealthyThreshold &&
    (!healthCheck.keepsAll || (is.timeout === healthCheck.timeout && is.matcher?.codes === healthCheck.matcher?.codes));
  if (same) return [];
  return [
    step(
      modifyTargetGroup,
      {
        TargetGroupArn: present.arn,
        HealthCheckPort: healthCheck.port,
        HealthCheckPath: healthCheck.path,
        ...(is.protocol !== healthCheck.protocol && { HealthCheckProtocol: healthCheck.protocol }),
        ...(is.interval !== healthCheck.interval && { HealthCheckIntervalSeconds: healthCheck.interval }),
        HealthyThresholdCount: healthCheck.healthyThreshold,
        UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
        ...(healthCheck.keepsAll && { HealthCheckTimeoutSeconds: healthCheck.timeout }),
        ...(healthCheck.keepsAll && healthCheck.matcher && { Matcher: sentMatcher(healthCheck.matcher) }),
      },
      {
        what: `check target group ${name} by ${healthCheck.protocol}:${healthCheck.port}${healthCheck.path ?? ""}, ${healthCheck.healthyThreshold} up, ${healthCheck.unhealthyThreshold} down`,
        why: "its health check differs from what is wanted",
        by,
      },
    ),
  ];
}

/** What AWS gives a new group, of the keys we manage. Whether it keeps clients' addresses in one of pods depends on its protocol. */
export function newTargetGroupAttributes({ targetType }: { readonly targetType: string }): Attributes {
  return { ...(targetType === "instance" && { "preserve_client_ip.enabled": "true" }), "proxy_protocol_v2.enabled": "false" };
}

function attributeChange(group: TargetGroup, arn: string | Made, present: SeenTargetGroup | undefined, askedBy: string): Step[] {
  const is = present?.attributes ?? newTargetGroupAttributes(group);
  const changed = changedAttributes(group.attributes, is);
  if (changed.length === 0) return [];
  return [
    step(
      modifyTargetGroupAttributes,
      { TargetGroupArn: arn, Attributes: changed },
      {
        what: `set ${attributesText(changed)} on target group ${group.name}`,
        why: `the ${askedBy}'s annotation says so`,
        by: group.by,
      },
    ),
  ];
}

/** The targets that a group is to have. */
type TargetsOfGroup = Pick<TargetGroup, "name" | "port"> & { readonly targets: readonly string[] };

/** The targets of one group: those that come are registered first, so that traffic always has somewhere to go. */
export function planTargets(group: TargetsOfGroup, arn: string | Made, present: SeenTargetGroup["targets"], askedBy: string): Step[] {
  const wanted = new Set(group.targets.map((id) => `${id}:${group.port}`));
  const there = new Set(present.map(({ id, port }) => `${id}:${port}`));
  const gone = present.filter(({ id, port }) => !wanted.has(`${id}:${port}`)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const added = group.targets.filter((id) => !there.has(`${id}:${group.port}`)).toSorted();
  return [
    ...chunks(added).map((some) => registration(group, arn, some, askedBy)),
    ...chunks(gone).map((some) =>
      step(
        deregisterTargets,
        { TargetGroupArn: arn, Targets: some.map(({ id, port }) => ({ Id: id, Port: port })) },
        {
          what: `deregister ${some.map(({ id }) => id).join(", ")} from target group ${group.name}`,
          why: `no longer eligible nodes of this ${askedBy}`,
          part: "targets",
        },
      ),
    ),
  ];
}

function registration(group: Pick<TargetGroup, "name" | "port">, arn: string | Made, ids: readonly string[], askedBy: string): Step {
  return step(
    registerTargets,
    { TargetGroupArn: arn, Targets: ids.map((id) => ({ Id: id, Port: group.port })) },
    {
      what: `register ${ids.join(", ")} with target group ${group.name}`,
      why: `eligible nodes of this ${askedBy}`,
      batch: { ids, refusedBy: ["InvalidTarget"], only: (some) => registration(group, arn, some, askedBy) },
      // Only a full group has to lose some before it takes others.
      needsRoom: ["TooManyTargets"],
      part: "targets",
    },
  );
}

/** AWS refuses while a listener forwards to it. */
export function targetGroupDeletion({ arn, name }: Pick<SeenTargetGroup, "arn" | "name">): Step {
  return step(
    deleteTargetGroup,
    { TargetGroupArn: arn },
    { what: `delete target group ${name}`, why: "nothing forwards to it", settledBy: ["TargetGroupNotFound"], waitsOn: ["ResourceInUse"] },
  );
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / targetsPerCall) }, (_, i) =>
    items.slice(i * targetsPerCall, (i + 1) * targetsPerCall),
  );
}
