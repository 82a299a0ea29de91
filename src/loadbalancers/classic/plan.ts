/** The steps from the classic load balancer that is seen to the one that is wanted. Pure. */
import {
  addTags,
  applySecurityGroups,
  attachSubnets,
  configureHealthCheck,
  createListeners,
  createLoadBalancer,
  deleteListeners,
  deleteLoadBalancer,
  detachSubnets,
  modifyAttributes,
} from "../../aws/elb-actions.ts";
import { type Made, type Planned, type Step, step } from "../../aws/plan.ts";
import { planGroupDeletion, planGroups, type SeenGroup, tagList } from "../groups/managed.ts";
import type { Seen } from "../kind.ts";
import type { ClassicAttributes, ClassicHealthCheck, ClassicListener, ClassicLoadBalancer, Tags } from "../model.ts";
import { planInstances } from "./plan-instances.ts";
import { planPolicies, type SeenPolicies } from "./policies.ts";

export interface SeenClassicListener {
  readonly port: number;
  readonly protocol: string;
  readonly instancePort: number;
  readonly instanceProtocol: string;
  readonly certificate?: string;
  readonly policies: readonly string[];
}

export interface SeenClassic extends Seen {
  readonly kind: "classic";
  readonly loadBalancer?: {
    readonly subnets: readonly string[];
    readonly securityGroups: readonly string[];
    readonly listeners: readonly SeenClassicListener[];
    readonly healthCheck?: ClassicHealthCheck;
    readonly instances: readonly string[];
    readonly attributes: ClassicAttributes;
    readonly policies: SeenPolicies;
    /** Read only while tags of the user's choice are asked for. */
    readonly tags?: Tags;
  };
  /** The zones of subnets: AWS allows one subnet a zone. */
  readonly zones?: Readonly<Record<string, string>>;
}

/** What AWS gives a new classic load balancer, of what we manage. */
const newAttributes: ClassicAttributes = {
  accessLog: { enabled: false },
  connectionDraining: { enabled: false },
  idleTimeout: 60,
  crossZone: false,
};

export function planClassic(model: ClassicLoadBalancer, vpc: string, seen: SeenClassic): Step[] {
  const lb = seen.loadBalancer;
  const { open, close, ids = lb?.securityGroups ?? [] } = planGroups(model, vpc, seen.managedGroup);
  return [
    ...open,
    ...(lb ? [...moves(model, lb.subnets, seen.zones ?? {}), ...changes(model, lb, ids)] : [creation(model, ids)]),
    // A listener that is made anew has lost its policies.
    ...planPolicies(
      model,
      lb?.policies,
      lb?.listeners.filter((listener) => model.listeners.some((wanted) => sameListener(wanted, listener))) ?? [],
    ),
    ...(lb?.tags ? tagging(model, lb.tags) : []),
    ...attributeChange(model, lb?.attributes ?? newAttributes),
    ...healthCheckChange(model, lb?.healthCheck),
    ...planInstances(model, lb?.instances ?? []),
    ...close,
  ];
}

/** As much of what is seen as a deletion needs. */
export interface ClassicLeftovers {
  readonly loadBalancer?: object;
  readonly managedGroup?: Pick<SeenGroup, "id" | "name">;
}

/** Everything that is ours goes, in the order AWS allows. */
export function planClassicDeletion(name: string, seen: ClassicLeftovers, askedBy: string): Step[] {
  const why = `the ${askedBy} no longer wants it`;
  return [
    ...(seen.loadBalancer ? [step(deleteLoadBalancer, { LoadBalancerName: name }, { what: `delete load balancer ${name}`, why })] : []),
    ...(seen.managedGroup ? [planGroupDeletion(seen.managedGroup, why)] : []),
  ];
}

function creation(model: ClassicLoadBalancer, groups: readonly (string | Made)[]): Step {
  const where = model.internal ? "internal" : "internet-facing";
  return step(
    createLoadBalancer,
    {
      LoadBalancerName: model.name,
      Listeners: model.listeners.map(listenerInput),
      ...(model.internal && { Scheme: "internal" }),
      Subnets: model.subnets,
      SecurityGroups: groups,
      Tags: tagList(model.tags),
    },
    {
      what: `create classic load balancer ${model.name}, ${where}, ${model.listeners.map(listenerText).join(", ")}, in ${model.subnets.join(", ")}`,
      why: `the ${model.askedBy} asks for one`,
      makes: { name: `load balancer ${model.name}`, id: () => model.name },
    },
  );
}

/**
 * From the subnets it is in to those it shall be in. What is replaced in its zone has to leave first, and none may leave as
 * the last: where all are replaced, one stays until another has come.
 */
function moves({ name, subnets }: ClassicLoadBalancer, present: readonly string[], zones: Readonly<Record<string, string>>): Step[] {
  const added = subnets.filter((id) => !present.includes(id));
  const dropped = present.filter((id) => !subnets.includes(id));
  const apart = (id: string, other: string) => zones[id] !== zones[other];
  const stays = dropped.length < present.length;
  const last = stays ? undefined : dropped.find((id) => added.some((other) => apart(id, other)));
  const early = last === undefined ? added : added.filter((id) => apart(id, last));
  return [
    ...move(
      "detach",
      name,
      dropped.filter((id) => id !== last),
    ),
    ...move("attach", name, early),
    ...move("detach", name, last === undefined ? [] : [last]),
    ...move(
      "attach",
      name,
      added.filter((id) => !early.includes(id)),
    ),
  ];
}

function move(how: "attach" | "detach", name: string, ids: readonly string[]): Step[] {
  if (ids.length === 0) return [];
  const what = `${how} ${ids.join(", ")} ${how === "attach" ? "to" : "from"} load balancer ${name}`;
  return [step(how === "attach" ? attachSubnets : detachSubnets, { LoadBalancerName: name, Subnets: [...ids] }, { what, why: differs })];
}

const differs = "it differs from what is wanted";

function changes(model: ClassicLoadBalancer, lb: NonNullable<SeenClassic["loadBalancer"]>, groups: readonly (string | Made)[]): Step[] {
  const name = { LoadBalancerName: model.name };
  const sameGroups = groups.length === lb.securityGroups.length && groups.every((id) => lb.securityGroups.includes(id as string));
  const unwanted = lb.listeners.filter((listener) => !model.listeners.some((wanted) => sameListener(wanted, listener)));
  const missing = model.listeners.filter((wanted) => !lb.listeners.some((listener) => sameListener(wanted, listener)));
  const why = differs;
  return [
    ...(sameGroups
      ? []
      : [
          step(
            applySecurityGroups,
            { ...name, SecurityGroups: groups },
            { what: `set the security groups of load balancer ${model.name}`, why },
          ),
        ]),
    ...(unwanted.length > 0
      ? [
          step(
            deleteListeners,
            { ...name, LoadBalancerPorts: unwanted.map(({ port }) => port) },
            {
              what: `delete listeners ${unwanted.map(({ protocol, port }) => `${protocol.toLowerCase()}:${port}`).join(", ")} of load balancer ${model.name}`,
              why,
            },
          ),
        ]
      : []),
    ...(missing.length > 0
      ? [
          step(
            createListeners,
            { ...name, Listeners: missing.map(listenerInput) },
            { what: `create listeners ${missing.map(listenerText).join(", ")} on load balancer ${model.name}`, why },
          ),
        ]
      : []),
  ];
}

/** Tags that are missing or differ. Those that are not asked for any more stay: others may have come to rely on them. */
function tagging({ name, askedBy, tags }: ClassicLoadBalancer, present: Tags): Step[] {
  const missing = Object.entries(tags).filter(([key, value]) => present[key] !== value);
  if (missing.length === 0) return [];
  const what = `tag load balancer ${name} with ${missing.map((pair) => pair.join("=")).join(", ")}`;
  const input = { LoadBalancerNames: [name], Tags: missing.map(([Key, Value]) => ({ Key, Value })) };
  return [step(addTags, input, { what, why: `the ${askedBy}'s annotation asks for these tags` })];
}

function sameListener(wanted: ClassicListener, seen: SeenClassicListener): boolean {
  return (
    wanted.port === seen.port &&
    wanted.instancePort === seen.instancePort &&
    wanted.protocol === seen.protocol.toLowerCase() &&
    wanted.instanceProtocol === seen.instanceProtocol.toLowerCase() &&
    wanted.certificate?.toLowerCase() === seen.certificate?.toLowerCase()
  );
}

function listenerInput(listener: ClassicListener) {
  return {
    Protocol: listener.protocol,
    LoadBalancerPort: listener.port,
    InstanceProtocol: listener.instanceProtocol,
    InstancePort: listener.instancePort,
    ...(listener.certificate !== undefined && { SSLCertificateId: listener.certificate }),
  };
}

const listenerText = ({ protocol, port, instanceProtocol, instancePort }: ClassicListener) =>
  `${protocol}:${port} to ${instanceProtocol}:${instancePort}`;

/** Only what is managed is compared: AWS reports more, and other values where we have no opinion. */
function attributeChange({ name, attributes }: ClassicLoadBalancer, present: ClassicAttributes): Step[] {
  const fits = (wanted: object, is: object) =>
    Object.entries(wanted).every(([key, value]) => value === undefined || (is as Record<string, unknown>)[key] === value);
  const same =
    fits(attributes.accessLog, present.accessLog) &&
    fits(attributes.connectionDraining, present.connectionDraining) &&
    attributes.idleTimeout === present.idleTimeout &&
    attributes.crossZone === present.crossZone;
  if (same) return [];
  const { accessLog, connectionDraining } = attributes;
  const input = {
    AccessLog: {
      Enabled: accessLog.enabled,
      EmitInterval: accessLog.emitInterval,
      S3BucketName: accessLog.bucket,
      S3BucketPrefix: accessLog.prefix,
    },
    ConnectionDraining: { Enabled: connectionDraining.enabled, Timeout: connectionDraining.timeout },
    ConnectionSettings: { IdleTimeout: attributes.idleTimeout },
    CrossZoneLoadBalancing: { Enabled: attributes.crossZone },
  };
  const what = `set access log ${onOff(accessLog.enabled)}, draining ${onOff(connectionDraining.enabled)}, idle timeout ${attributes.idleTimeout} s, cross-zone ${onOff(attributes.crossZone)} on load balancer ${name}`;
  return [
    step(
      modifyAttributes,
      { LoadBalancerName: name, LoadBalancerAttributes: input },
      { what, why: "its attributes differ from what is wanted" },
    ),
  ];
}

function healthCheckChange({ name, healthCheck }: ClassicLoadBalancer, present: ClassicHealthCheck | undefined): Step[] {
  const fields = ["target", "healthyThreshold", "unhealthyThreshold", "interval", "timeout"] as const;
  if (present && fields.every((field) => present[field] === healthCheck[field])) return [];
  const input: Planned<{ Target: string; Interval: number; Timeout: number; UnhealthyThreshold: number; HealthyThreshold: number }> = {
    Target: healthCheck.target,
    Interval: healthCheck.interval,
    Timeout: healthCheck.timeout,
    UnhealthyThreshold: healthCheck.unhealthyThreshold,
    HealthyThreshold: healthCheck.healthyThreshold,
  };
  const what = `check ${healthCheck.target} every ${healthCheck.interval} s on load balancer ${name}`;
  return [
    step(
      configureHealthCheck,
      { LoadBalancerName: name, HealthCheck: input },
      { what, why: "its health check differs from what is wanted" },
    ),
  ];
}

const onOff = (value: boolean) => (value ? "on" : "off");
