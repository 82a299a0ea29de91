/**
 * One look at a Service: what it asks for, what stands, and the steps between them. The controller applies it,
 * `fairlead plan` prints it, `fairlead explain` tells it.
 */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import type { Nodes } from "../../identity/node-view.ts";
import { seeClassic } from "../classic/observe.ts";
import { planClassic, planInstances, type SeenClassic } from "../classic/plan.ts";
import { groupConflict, type SeenGroup } from "../groups/managed.ts";
import { type Inventory, presentAges, reconcileAges } from "../inventory.ts";
import type { ManagedGroup } from "../model.ts";
import { classicSecurityGroupName, loadBalancerName, networkSecurityGroupName } from "../names.ts";
import { seeListener, seeTargetGroup } from "../network/observe.ts";
import { planNetwork, planTargets, type SeenNetwork, type SeenTargetGroup } from "../network/plan.ts";
import type { Network } from "../subnets.ts";
import { marked, plannedTargetGroups } from "../target-groups.ts";
import { type Targets, targetsOf } from "../targets.ts";
import { annotationKey, type Kind, type Problem, readOptions, type ServiceOptions } from "./annotations.ts";
import { classicAttributes, networkAttributes } from "./attributes.ts";
import { desireService, type ServiceDesire } from "./desire.ts";
import { type Found, findLoadBalancers } from "./find.ts";
import { hasLabels, isEligible, targetOf } from "./nodes.ts";
import type { SeenService } from "./seen.ts";
import { kindAmong, unknownType, type WantedKind } from "./type-annotation.ts";
import type { LoadBalancerSettings, ServiceView } from "./view.ts";
import { seekerOf } from "./workplace.ts";

export interface SurveyParts {
  readonly inventory: Inventory;
  readonly nodes: Pick<Nodes, "list">;
  readonly settings: LoadBalancerSettings;
}

export interface Survey {
  readonly kind: Kind;
  readonly options: ServiceOptions;
  readonly desire: ServiceDesire;
  readonly targets: Targets;
  /** Names under which the Service had a load balancer before. */
  readonly formerNames: readonly string[];
  /** The load balancer of the wanted kind, if it stands. */
  readonly found?: Found;
  /** The one of the other kind, while the Service has one. */
  readonly other?: Found;
  readonly managedGroup?: SeenGroup;
  readonly seen: SeenClassic | SeenNetwork;
  /** What keeps the load balancer from being brought to its wanted state. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Empty while there are problems. */
  readonly steps: readonly Step[];
}

/** Looks. Attributes may be as old as said: they are read one load balancer at a time. */
export async function survey(service: SeenService, wanted: WantedKind, parts: SurveyParts, ask: Ask, attributesAgeMs = 0): Promise<Survey> {
  const { inventory, settings } = parts;
  const view: ServiceView = { ...service.view, hostname: service.hostname };
  const seeker = seekerOf(service);
  const { found: all, taken } = await findLoadBalancers(seeker, inventory, reconcileAges, ask);
  const kind = kindAmong(wanted, all, service.hostname);
  const read = readOptions(view.annotations, kind);
  const eligible = await eligibleTargets(read.options, parts, ask);
  const found = all.find((lb) => lb.kind === kind);
  const other = all.find((lb) => lb.kind !== kind);
  const { seen: observed, managedGroup } = await observe(kind, view, found, read.options, parts, ask, attributesAgeMs);
  const targets = registrable(eligible, registeredIn(observed));
  const name = found?.name ?? read.options.name ?? loadBalancerName(view.uid);
  const desireIn = async (networkAgeMs?: number) =>
    desireService(view, kind, {
      name,
      options: read.options,
      settings,
      cluster: inventory.place.cluster,
      network: await inventory.network(ask, networkAgeMs),
      instances: targets,
      ...(found && { standing: found }),
    });
  let desire = await desireIn();
  // Whoever has just mended the subnets need not wait for what is remembered of them.
  if (desire.subnets.kind === "none") desire = await desireIn(10_000);
  const seen = await withoutStrangers(observed, desire, view, inventory, ask);
  desire = withOwnTargets(desire, eligible, seen);
  const isNews = wanted === "unknown" && (found === undefined || other !== undefined);
  const problems = [
    ...(isNews ? [unknownType(view.annotations, found)] : []),
    ...read.problems,
    ...desire.problems,
    ...(found === undefined && taken.some((other) => other.name === name) ? [nameTaken(name)] : []),
    ...(other && service.hostname !== "" && !read.options.replaceOnTypeChange ? [typeChanged(kind)] : []),
    ...conflicts(desire, managedGroup),
  ];
  return {
    kind,
    options: read.options,
    desire,
    targets: eligible,
    formerNames: [loadBalancerName(view.uid), ...seeker.earlier].filter((each) => each !== name && !all.some((lb) => lb.name === each)),
    ...(found && { found }),
    ...(other && { other }),
    ...(managedGroup && { managedGroup }),
    seen,
    problems,
    warnings: [...(wanted === "unknown" && !isNews ? [unknownType(view.annotations, found)] : []), ...read.warnings, ...desire.warnings],
    steps: problems.length > 0 ? [] : planFor(desire, inventory.place.vpc, seen, await inventory.network(ask)),
  };
}

/** The instances a Service's traffic may go to. */
export function eligibleTargets({ targetNodeLabels }: ServiceOptions, { nodes, inventory }: SurveyParts, ask: Ask): Promise<Targets> {
  const eligible = nodes.list().filter((node) => isEligible(node) && hasLabels(node, targetNodeLabels));
  const ids = new Set(eligible.flatMap((node) => targetOf(node) ?? []));
  return targetsOf([...ids], inventory.cloud, inventory.place, ask);
}

/** What AWS takes at this moment: what runs, and what is registered already. */
export function registrable({ running, notRunning }: Targets, registered: ReadonlySet<string>): string[] {
  return [...running, ...notRunning.filter((id) => registered.has(id))].toSorted();
}

/** The instances registered with a load balancer, in whichever of its groups. */
export function registeredIn(seen: SeenClassic | SeenNetwork): ReadonlySet<string> {
  if ("targetGroups" in seen) return new Set(seen.targetGroups.flatMap(({ targets }) => targets.map(({ id }) => id)));
  return new Set(seen.loadBalancer?.instances ?? []);
}

/** The steps that bring nothing but the targets of what stands to what is wanted. */
export function planTargetsOnly(name: string, seen: SeenClassic | SeenNetwork, targets: Targets): Step[] {
  if ("targetGroups" in seen) {
    return seen.targetGroups.flatMap((group) =>
      planTargets({ name: group.name, port: group.port, targets: registrableIn(group, targets) }, group.arn, group.targets),
    );
  }
  return planInstances({ name, instances: registrable(targets, registeredIn(seen)) }, seen.loadBalancer?.instances ?? []);
}

/** What one target group takes: an instance that does not run stays in the groups it is in, and comes into no other. */
export function registrableIn(group: Pick<SeenTargetGroup, "targets"> | undefined, targets: Targets): string[] {
  return registrable(targets, new Set(group?.targets.map(({ id }) => id)));
}

function withOwnTargets(desire: ServiceDesire, targets: Targets, seen: SeenClassic | SeenNetwork): ServiceDesire {
  if (desire.kind === "classic" || !("targetGroups" in seen)) return desire;
  const targetGroups = desire.model.targetGroups.map((group) => {
    const present = seen.targetGroups.find(({ name }) => name === group.name);
    return { ...group, targets: registrableIn(present, targets) };
  });
  return { ...desire, model: { ...desire.model, targetGroups } };
}

/** Without target groups that are not wanted and do not carry the Service's tags: somebody else has put them there. */
async function withoutStrangers(
  seen: SeenClassic | SeenNetwork,
  { model }: ServiceDesire,
  view: ServiceView,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenClassic | SeenNetwork> {
  if (!("targetGroups" in seen) || model.kind === "classic") return seen;
  const unwanted = seen.targetGroups.filter(({ name }) => !model.targetGroups.some((group) => group.name === name));
  const own = await marked(
    unwanted.map(({ arn }) => ({ TargetGroupArn: arn })),
    view,
    inventory,
    ask,
  );
  const isStranger = (group: SeenTargetGroup) =>
    unwanted.includes(group) && !own.some(({ TargetGroupArn }) => TargetGroupArn === group.arn);
  return { ...seen, targetGroups: seen.targetGroups.filter((group) => !isStranger(group)) };
}

/** Everything of a load balancer that plans compare with. */
async function observe(
  kind: Kind,
  view: ServiceView,
  found: Found | undefined,
  options: ServiceOptions,
  { inventory, settings }: SurveyParts,
  ask: Ask,
  attributesAgeMs: number,
): Promise<{ readonly seen: SeenClassic | SeenNetwork; readonly managedGroup?: SeenGroup }> {
  const name = managedGroupName(kind, view, found, options, settings);
  // Where others are given in its place it is about to go: whether it is still ours has to be seen now.
  const { presentMs } = options.securityGroups.length > 0 ? presentAges : reconcileAges;
  const managed = async () => inventory.group(name, { ...reconcileAges, presentMs }, ask);
  if (kind === "classic") {
    const [group, loadBalancer] = await Promise.all([
      managed(),
      found?.kind === "classic" ? readClassic(found, options, inventory, ask, attributesAgeMs) : undefined,
    ]);
    return {
      seen: { ...(loadBalancer && { loadBalancer }), ...(group && { managedGroup: group }) },
      ...(group && { managedGroup: group }),
    };
  }
  const [group, network] = await Promise.all([managed(), readNetwork(view, found, options, inventory, ask, attributesAgeMs)]);
  return { seen: { ...network, ...(group && { managedGroup: group }) }, ...(group && { managedGroup: group }) };
}

async function readClassic(
  found: Extract<Found, { kind: "classic" }>,
  options: ServiceOptions,
  inventory: Inventory,
  ask: Ask,
  attributesAgeMs: number,
) {
  const asksForTags = Object.keys(options.tags).length > 0;
  const [attributes, tags] = await Promise.all([
    classicAttributes(found, options, inventory, attributesAgeMs, ask),
    asksForTags ? inventory.cloud.classicLoadBalancers.tags(found.name, ask) : undefined,
  ]);
  return seeClassic(found.description, attributes, tags);
}

async function readNetwork(
  view: ServiceView,
  found: Found | undefined,
  options: ServiceOptions,
  inventory: Inventory,
  ask: Ask,
  attributesAgeMs: number,
): Promise<SeenNetwork> {
  const lb = found?.kind === "network" ? found : undefined;
  const { loadBalancers } = inventory.cloud;
  const [groups, listeners, attributes] = await Promise.all([
    plannedTargetGroups(view, lb?.arn, inventory, lb ? reconcileAges.presentMs : reconcileAges.absentMs, ask),
    lb ? loadBalancers.listeners(lb.arn, ask) : [],
    lb ? networkAttributes(lb, options, inventory, attributesAgeMs, ask) : {},
  ]);
  const managesAttributes = options.targetGroupAttributes !== undefined;
  const targetGroups = await Promise.all(
    groups.map(async (group): Promise<SeenTargetGroup> => {
      const arn = group.TargetGroupArn ?? "";
      const [health, is] = await Promise.all([
        loadBalancers.targetHealth(arn, ask),
        managesAttributes ? loadBalancers.targetGroupAttributes(arn, ask) : {},
      ]);
      return seeTargetGroup(group, health, is);
    }),
  );
  if (lb === undefined) return { targetGroups };
  return {
    loadBalancer: { arn: lb.arn, securityGroups: lb.securityGroups, attributes, listeners: listeners.map(seeListener) },
    targetGroups,
  };
}

function managedGroupName(
  kind: Kind,
  view: ServiceView,
  found: Found | undefined,
  options: ServiceOptions,
  settings: LoadBalancerSettings,
): string {
  if (kind === "network") return networkSecurityGroupName(settings.clusterName, view);
  return classicSecurityGroupName(found?.name ?? options.name ?? loadBalancerName(view.uid));
}

function planFor(desire: ServiceDesire, vpc: string, seen: SeenClassic | SeenNetwork, { subnets }: Network): Step[] {
  if (desire.kind === "network") return planNetwork(desire.model, vpc, "targetGroups" in seen ? seen : { targetGroups: [] });
  const zones = Object.fromEntries(subnets.map(({ id, zone }) => [id, zone]));
  return planClassic(desire.model, vpc, { ...("targetGroups" in seen ? {} : seen), zones });
}

function conflicts({ model }: ServiceDesire, seen: SeenGroup | undefined): Problem[] {
  const wanted =
    model.kind === "classic" ? model.securityGroups : model.securityGroups.kind === "wanted" ? model.securityGroups.groups : [];
  const managed = wanted.flatMap((entry): ManagedGroup[] => (entry.kind === "managed" ? [entry.group] : []));
  return managed.flatMap((group) => {
    const message = groupConflict(group, seen);
    return message === undefined ? [] : [{ message }];
  });
}

function nameTaken(name: string): Problem {
  const annotation = annotationKey("name");
  return {
    annotation,
    message: `annotation ${annotation}=${JSON.stringify(name)}: a load balancer of this name exists in this account and region and is not this Service's; names are unique there: choose another`,
  };
}

function typeChanged(kind: Kind): Problem {
  const annotation = annotationKey("type");
  const what = kind === "network" ? "NLB" : "Classic Load Balancer";
  return {
    annotation,
    message: `cannot update Load Balancer Type annotation "${annotation}" after creation for ${what}; to have the load balancer replaced, which changes its host name, set ${annotationKey("type-change")}: replace`,
  };
}
