/** The steps from the network load balancer that is seen to the one that is wanted. Pure. */
import {
  createListener,
  createLoadBalancer,
  createTargetGroup,
  deleteListener,
  deleteLoadBalancer,
  deleteTargetGroup,
  deregisterTargets,
  modifyListener,
  modifyLoadBalancerAttributes,
  modifyTargetGroup,
  modifyTargetGroupAttributes,
  registerTargets,
  setSecurityGroups,
} from "../../aws/elbv2-actions.ts";
import { type Made, made, type Step, step } from "../../aws/plan.ts";
import { planGroup, planGroupDeletion, type SeenGroup, tagList } from "../groups/managed.ts";
import type { GroupOnLoadBalancer, NetworkListener, NetworkLoadBalancer, Tags, TargetGroup } from "../model.ts";

export interface SeenListener {
  readonly arn: string;
  readonly port: number;
  readonly protocol: string;
  readonly certificate?: string;
  readonly sslPolicy?: string;
  /** ARN of the target group it forwards to. */
  readonly forwardsTo?: string;
}

export interface SeenTargetGroup {
  readonly arn: string;
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly healthCheck: {
    readonly protocol: string;
    readonly port: string;
    readonly path?: string;
    readonly interval: number;
    readonly healthyThreshold: number;
    readonly unhealthyThreshold: number;
  };
  /** Read only while some are managed. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Instances registered and not on their way out, each with its port. */
  readonly targets: readonly { readonly id: string; readonly port: number }[];
}

export interface SeenNetwork {
  readonly loadBalancer?: {
    readonly arn: string;
    readonly securityGroups: readonly string[];
    readonly attributes: Readonly<Record<string, string>>;
    readonly listeners: readonly SeenListener[];
  };
  /** Every target group that is this load balancer's, by what AWS says or by its tags and name. */
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Our own group by its name, whether it is attached or not. */
  readonly managedGroup?: SeenGroup;
}

/** AWS takes 1,000 targets a call at most, and less is gentler. */
const targetsPerCall = 100;

export function planNetwork(model: NetworkLoadBalancer, vpc: string, seen: SeenNetwork): Step[] {
  const groups = planGroups(model, vpc, seen);
  const lb = seen.loadBalancer;
  const arn = lb?.arn ?? made(`load balancer ${model.name}`);
  const targetGroups = model.targetGroups.map((group) => planTargetGroup(group, vpc, model.tags, seen));
  const arnOf = (name: string) => targetGroups.find((plan) => plan.name === name)?.arn ?? made(`target group ${name}`);
  const listeners = planListeners(model, arn, arnOf, lb?.listeners ?? []);
  return [
    ...groups.open,
    ...(lb ? [] : [creation(model, groups.ids)]),
    ...(lb ? attach(model, lb, groups.ids) : []),
    ...targetGroups.flatMap(({ steps }) => steps),
    ...listeners,
    ...planAttributes(model, arn, lb?.attributes ?? newLoadBalancerAttributes),
    ...seen.targetGroups.filter(({ name }) => !model.targetGroups.some((group) => group.name === name)).map(targetGroupDeletion),
    ...groups.close,
  ];
}

/**
 * Target groups without a load balancer of ours. One of another protocol has to be made anew, under the same name. What
 * stands comes first: the others may have to wait, for as long as somebody's listener uses one that has to go.
 */
export function planTargetGroups(groups: readonly TargetGroup[], vpc: string, tags: Tags, seen: readonly SeenTargetGroup[]): Step[] {
  const isKept = (present: SeenTargetGroup) => groups.some(({ name, protocol }) => name === present.name && protocol === present.protocol);
  const replaced = seen.filter((present) => !isKept(present) && groups.some(({ name }) => name === present.name));
  const unwanted = seen.filter((present) => !groups.some(({ name }) => name === present.name));
  const kept = { targetGroups: seen.filter(isKept) };
  const stepsFor = (some: readonly TargetGroup[]) => some.flatMap((group) => planTargetGroup(group, vpc, tags, kept).steps);
  const stands = ({ name }: TargetGroup) => kept.targetGroups.some((present) => present.name === name);
  return [
    ...stepsFor(groups.filter(stands)),
    ...replaced.flatMap(({ name, arn, targets }) => planTargets(groups.find((group) => group.name === name)!, arn, targets)),
    ...replaced.map(targetGroupDeletion),
    ...stepsFor(groups.filter((group) => !stands(group))),
    ...unwanted.map(targetGroupDeletion),
  ];
}

/** As much of what is seen as a deletion needs. */
export interface NetworkLeftovers {
  readonly loadBalancer?: { readonly arn: string };
  readonly targetGroups: readonly Pick<SeenTargetGroup, "arn" | "name">[];
  readonly managedGroup?: Pick<SeenGroup, "id" | "name">;
}

/** Everything that is ours goes, in the order AWS allows: the load balancer, its target groups, its security group. */
export function planNetworkDeletion(name: string, seen: NetworkLeftovers): Step[] {
  const why = "the Service does not want it any more";
  const lb = seen.loadBalancer;
  return [
    ...(lb
      ? [
          step(
            deleteLoadBalancer,
            { LoadBalancerArn: lb.arn },
            { what: `delete load balancer ${name}`, why, settledBy: ["LoadBalancerNotFound"] },
          ),
        ]
      : []),
    ...seen.targetGroups.map(targetGroupDeletion),
    ...(seen.managedGroup ? [planGroupDeletion(seen.managedGroup, why)] : []),
  ];
}

interface GroupsPlan {
  readonly open: readonly Step[];
  readonly close: readonly Step[];
  /** Undefined: leave them as they are. */
  readonly ids: readonly (string | Made)[] | undefined;
}

function planGroups({ securityGroups }: NetworkLoadBalancer, vpc: string, seen: SeenNetwork): GroupsPlan {
  // A load balancer made without groups can never get one: AWS refuses it.
  const locked = seen.loadBalancer?.securityGroups.length === 0;
  if (securityGroups.kind === "as-it-is" || locked) return { open: [], close: [], ids: undefined };
  const plans = securityGroups.groups.map((entry) => planOne(entry, vpc, seen));
  const unused = seen.managedGroup?.owned && !securityGroups.groups.some(({ kind }) => kind === "managed") ? [seen.managedGroup] : [];
  return {
    open: plans.flatMap(({ open }) => open),
    close: [
      ...plans.flatMap(({ close }) => close),
      ...unused.map((group) => planGroupDeletion(group, "other groups were given in its place")),
    ],
    ids: plans.map(({ id }) => id),
  };
}

function planOne(entry: GroupOnLoadBalancer, vpc: string, seen: SeenNetwork) {
  return entry.kind === "given" ? { id: entry.id, open: [], close: [] } : planGroup(entry.group, vpc, seen.managedGroup);
}

function creation(model: NetworkLoadBalancer, groups: GroupsPlan["ids"]): Step {
  const where = model.internal ? "internal" : "internet-facing";
  return step(
    createLoadBalancer,
    {
      Name: model.name,
      Type: "network",
      ...(model.internal && { Scheme: "internal" }),
      ...(model.addressType === "dualstack" && { IpAddressType: "dualstack" }),
      SubnetMappings: model.subnets.map(({ subnet, allocation, privateIpv4Address }) => ({
        SubnetId: subnet,
        AllocationId: allocation,
        PrivateIPv4Address: privateIpv4Address,
      })),
      SecurityGroups: groups ?? [],
      Tags: tagList(model.tags),
    },
    {
      what: `create network load balancer ${model.name}, ${where}, in ${model.subnets.map(({ subnet }) => subnet).join(", ")}`,
      why: "the Service asks for one",
      makes: { name: `load balancer ${model.name}`, id: (output) => output.LoadBalancers?.[0]?.LoadBalancerArn },
    },
  );
}

function attach({ name }: NetworkLoadBalancer, lb: NonNullable<SeenNetwork["loadBalancer"]>, ids: GroupsPlan["ids"]): Step[] {
  if (ids === undefined || sameSet(ids, lb.securityGroups)) return [];
  const why = "the wanted groups differ from those attached";
  return [
    step(
      setSecurityGroups,
      { LoadBalancerArn: lb.arn, SecurityGroups: ids },
      { what: `set the security groups of load balancer ${name}`, why },
    ),
  ];
}

interface TargetGroupPlan {
  readonly name: string;
  readonly arn: string | Made;
  readonly steps: readonly Step[];
}

function planTargetGroup(group: TargetGroup, vpc: string, tags: Tags, seen: SeenNetwork): TargetGroupPlan {
  const present = seen.targetGroups.find(({ name }) => name === group.name);
  const arn = present?.arn ?? made(`target group ${group.name}`);
  return {
    name: group.name,
    arn,
    steps: [
      ...(present ? [] : [targetGroupCreation(group, vpc, tags)]),
      ...(present ? healthCheckChange(group, present) : []),
      ...attributeChange(group, arn, present),
      ...planTargets(group, arn, present?.targets ?? []),
    ],
  };
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
      TargetType: "instance",
      HealthCheckProtocol: healthCheck.protocol,
      HealthCheckPort: healthCheck.port,
      HealthCheckPath: healthCheck.path,
      HealthCheckIntervalSeconds: healthCheck.interval,
      HealthCheckTimeoutSeconds: healthCheck.timeout,
      HealthyThresholdCount: healthCheck.healthyThreshold,
      UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
      Tags: tagList(tags),
    },
    {
      what: `create target group ${group.name} ${group.protocol}:${group.port}, checked by ${healthCheck.protocol}:${healthCheck.port}${healthCheck.path ?? ""}`,
      why: "a listener forwards to it",
      makes: { name: `target group ${group.name}`, id: (output) => output.TargetGroups?.[0]?.TargetGroupArn },
    },
  );
}

function healthCheckChange({ name, healthCheck }: TargetGroup, present: SeenTargetGroup): Step[] {
  const is = present.healthCheck;
  const same =
    is.port === healthCheck.port &&
    is.protocol === healthCheck.protocol &&
    is.interval === healthCheck.interval &&
    (is.path ?? "") === (healthCheck.path ?? "") &&
    is.healthyThreshold === healthCheck.healthyThreshold &&
    is.unhealthyThreshold === healthCheck.unhealthyThreshold;
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
      },
      {
        what: `check target group ${name} by ${healthCheck.protocol}:${healthCheck.port}${healthCheck.path ?? ""}, ${healthCheck.healthyThreshold} up, ${healthCheck.unhealthyThreshold} down`,
        why: "its health check differs from what is wanted",
      },
    ),
  ];
}

/** What AWS gives a new group of instances, of the keys we manage. */
const newTargetGroupAttributes: Readonly<Record<string, string>> = {
  "preserve_client_ip.enabled": "true",
  "proxy_protocol_v2.enabled": "false",
};

function attributeChange(group: TargetGroup, arn: string | Made, present: SeenTargetGroup | undefined): Step[] {
  const is = present?.attributes ?? newTargetGroupAttributes;
  const changed = Object.entries(group.attributes).filter(([key, value]) => is[key] !== value);
  if (changed.length === 0) return [];
  return [
    step(
      modifyTargetGroupAttributes,
      { TargetGroupArn: arn, Attributes: changed.map(([Key, Value]) => ({ Key, Value })) },
      {
        what: `set ${changed.map((pair) => pair.join("=")).join(", ")} on target group ${group.name}`,
        why: "the Service's annotation says so",
      },
    ),
  ];
}

/** The targets of one group: those that left go first, because a full group takes no new ones. */
export function planTargets(
  group: Pick<TargetGroup, "name" | "port" | "targets">,
  arn: string | Made,
  present: SeenTargetGroup["targets"],
): Step[] {
  const wanted = new Set(group.targets.map((id) => `${id}:${group.port}`));
  const there = new Set(present.map(({ id, port }) => `${id}:${port}`));
  const gone = present.filter(({ id, port }) => !wanted.has(`${id}:${port}`)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const added = group.targets.filter((id) => !there.has(`${id}:${group.port}`)).toSorted();
  return [
    ...chunks(gone).map((some) =>
      step(
        deregisterTargets,
        { TargetGroupArn: arn, Targets: some.map(({ id, port }) => ({ Id: id, Port: port })) },
        {
          what: `take ${some.map(({ id }) => id).join(", ")} out of target group ${group.name}`,
          why: "they are no nodes for this Service any more",
        },
      ),
    ),
    ...chunks(added).map((some) => registration(group, arn, some)),
  ];
}

function registration(group: Pick<TargetGroup, "name" | "port">, arn: string | Made, ids: readonly string[]): Step {
  return step(
    registerTargets,
    { TargetGroupArn: arn, Targets: ids.map((id) => ({ Id: id, Port: group.port })) },
    {
      what: `put ${ids.join(", ")} into target group ${group.name}`,
      why: "they are nodes for this Service",
      batch: { ids, refusedBy: ["InvalidTarget"], only: (some) => registration(group, arn, some) },
    },
  );
}

/**
 * One listener a port. A listener that differs is changed in place, also in its protocol: a second one on the same port
 * is refused by AWS, and deleting the first would cut its clients off. Only TCP and TLS can be turned into each other.
 */
function planListeners(
  model: NetworkLoadBalancer,
  lb: string | Made,
  arnOf: (name: string) => string | Made,
  seen: readonly SeenListener[],
): Step[] {
  const before: Step[] = [];
  const steps: Step[] = [];
  for (const listener of model.listeners) {
    const present = seen.find(({ port }) => port === listener.port);
    const target = arnOf(listener.forwardTo);
    const replace = present && present.protocol !== listener.protocol && !(convertible(present.protocol) && convertible(listener.protocol));
    if (replace) before.push(listenerDeletion(model.name, present, "its protocol cannot be changed in place"));
    if (!present || replace) steps.push(listenerCreation(model, lb, listener, target));
    else if (listenerDiffers(listener, target, present)) steps.push(listenerChange(model.name, listener, target, present));
  }
  const unwanted = seen.filter(({ port }) => !model.listeners.some((listener) => listener.port === port));
  return [
    ...before,
    ...steps,
    ...unwanted.map((listener) => listenerDeletion(model.name, listener, "the Service has no such port any more")),
  ];
}

const convertible = (protocol: string) => protocol === "TCP" || protocol === "TLS";

function listenerDiffers(listener: NetworkListener, target: string | Made, present: SeenListener): boolean {
  if (present.protocol !== listener.protocol || present.forwardsTo !== target) return true;
  if (listener.protocol !== "TLS") return false;
  return present.certificate !== listener.certificate || (listener.sslPolicy !== undefined && present.sslPolicy !== listener.sslPolicy);
}

function listenerSettings(listener: NetworkListener, target: string | Made) {
  return {
    Port: listener.port,
    Protocol: listener.protocol,
    ...(listener.protocol === "TLS" && { Certificates: [{ CertificateArn: listener.certificate }], SslPolicy: listener.sslPolicy }),
    DefaultActions: [{ Type: "forward", TargetGroupArn: target }],
  } as const;
}

function listenerCreation(model: NetworkLoadBalancer, lb: string | Made, listener: NetworkListener, target: string | Made): Step {
  return step(
    createListener,
    { LoadBalancerArn: lb, ...listenerSettings(listener, target), Tags: tagList(model.tags) },
    {
      what: `create listener ${listener.protocol}:${listener.port} on load balancer ${model.name} to ${listener.forwardTo}`,
      why: `the Service has port ${listener.port}`,
    },
  );
}

function listenerChange(name: string, listener: NetworkListener, target: string | Made, present: SeenListener): Step {
  return step(
    modifyListener,
    { ListenerArn: present.arn, ...listenerSettings(listener, target) },
    {
      what: `change listener ${present.protocol}:${present.port} on load balancer ${name} to ${listener.protocol}, ${listener.forwardTo}`,
      why: "it differs from what is wanted",
    },
  );
}

function listenerDeletion(name: string, { arn, protocol, port }: SeenListener, why: string): Step {
  return step(
    deleteListener,
    { ListenerArn: arn },
    { what: `delete listener ${protocol}:${port} of load balancer ${name}`, why, settledBy: ["ListenerNotFound"] },
  );
}

function targetGroupDeletion({ arn, name }: Pick<SeenTargetGroup, "arn" | "name">): Step {
  return step(
    deleteTargetGroup,
    { TargetGroupArn: arn },
    { what: `delete target group ${name}`, why: "nothing forwards to it", settledBy: ["TargetGroupNotFound"], waitsOn: ["ResourceInUse"] },
  );
}

/** What AWS gives a new network load balancer, of the keys we manage. */
const newLoadBalancerAttributes = { "load_balancing.cross_zone.enabled": "false", "access_logs.s3.enabled": "false" };

function planAttributes({ name, attributes }: NetworkLoadBalancer, arn: string | Made, present: Readonly<Record<string, string>>): Step[] {
  const changed = Object.entries(attributes).filter(([key, value]) => (present[key] ?? "") !== value);
  if (changed.length === 0) return [];
  return [
    step(
      modifyLoadBalancerAttributes,
      { LoadBalancerArn: arn, Attributes: changed.map(([Key, Value]) => ({ Key, Value })) },
      { what: `set ${changed.map((pair) => pair.join("=")).join(", ")} on load balancer ${name}`, why: "it differs from what is wanted" },
    ),
  ];
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / targetsPerCall) }, (_, i) =>
    items.slice(i * targetsPerCall, (i + 1) * targetsPerCall),
  );
}

const sameSet = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((item) => b.includes(item));
