/**
 * One look for an owner: what it asks for, what stands, and the steps between them. The controller applies it,
 * `fairlead plan` prints it, `fairlead explain` tells it.
 */
import type { Ask } from "../aws/ask.ts";
import type { Step } from "../aws/plan.ts";
import { groupConflict } from "./groups/managed.ts";
import { ownGroup } from "./groups/own.ts";
import { type Inventory, presentAges, reconcileAges } from "./inventory.ts";
import type { Found, LoadBalancerKind, ObserveOptions, Seen } from "./kind.ts";
import { type LoadBalancerModel, managedGroups, type NodeAccess, type Problem } from "./model.ts";
import type { LoadBalancerOwner } from "./owner.ts";
import type { Network, SubnetChoice } from "./subnets.ts";
import { registrable, type Targets } from "./targets.ts";

/** What an owner asks for. */
export interface Desire {
  readonly model: LoadBalancerModel;
  /** Why each subnet was taken or refused. */
  readonly subnets: SubnetChoice;
  readonly access: NodeAccess;
  /** Nothing is done while there are any. */
  readonly problems: readonly Problem[];
  /** Said, and lived with. */
  readonly warnings: readonly Problem[];
}

/** What a desire follows from, besides the object that asks. */
export interface Surroundings {
  readonly name: string;
  readonly network: Network;
  readonly instances: readonly string[];
  /** The load balancer that stands already: not everything about it can be changed. */
  readonly standing?: Found;
  /** All that was seen of it. */
  readonly seen: Seen;
}

export interface SurveyRequest {
  readonly kind: LoadBalancerKind;
  /** All load balancers of the owner, of any kind. */
  readonly standing: readonly Found[];
  /** What one that is made now is called. */
  readonly newName: string;
  readonly targets: Targets;
  readonly observe: ObserveOptions;
  /** Pure. */
  desire(around: Surroundings): Desire;
  /** All that keeps its door from asking for it. */
  problemsWith(desire: Desire, found: Found | undefined, other: Found | undefined): readonly Problem[];
}

export interface Survey {
  readonly owner: LoadBalancerOwner;
  readonly kind: LoadBalancerKind;
  readonly attributesKey: string;
  readonly desire: Desire;
  readonly targets: Targets;
  /** Names under which the owner had a load balancer before. */
  readonly formerNames: readonly string[];
  /** The load balancer of the wanted kind, if it stands. */
  readonly found?: Found;
  /** The one of another kind, while the owner has one. */
  readonly other?: Found;
  readonly seen: Seen;
  /** What keeps the load balancer from being brought to its wanted state. */
  readonly problems: readonly Problem[];
  /** Empty while there are problems. */
  readonly steps: readonly Step[];
}

/** How old what is known of the network may be for somebody who has found no subnet in it. */
const mendedNetworkAgeMs = 10_000;

export async function survey(request: SurveyRequest, inventory: Inventory, ask: Ask): Promise<Survey> {
  const { kind, standing, targets } = request;
  const { owner, attributesKey } = request.observe;
  const found = standing.find((lb) => lb.kind === kind.name);
  const other = standing.find((lb) => lb.kind !== kind.name);
  const name = found?.name ?? request.newName;
  const observed = await observe(name, found, request, inventory, ask);
  const instances = registrable(targets, kind.registered(observed));
  const desireIn = async (networkAgeMs?: number) =>
    request.desire({
      name,
      network: await inventory.network(ask, networkAgeMs),
      instances,
      seen: observed,
      ...(found && { standing: found }),
    });
  let desire = await desireIn();
  // Whoever has just mended the subnets need not wait for what is remembered of them.
  if (desire.subnets.kind === "none") desire = await desireIn(mendedNetworkAgeMs);
  const current = await groupSeenAnew(name, observed, desire.model, request, inventory, ask);
  const seen = await kind.withoutStrangers(current, desire.model, owner, inventory, ask);
  const model = kind.withTargets(desire.model, seen, targets);
  const problems = [...request.problemsWith(desire, found, other), ...conflicts(model, seen)];
  return {
    owner,
    kind,
    attributesKey,
    desire: { ...desire, model },
    targets,
    formerNames: [owner.ownName, ...owner.earlierNames].filter((each) => each !== name && !standing.some((lb) => lb.name === each)),
    ...(found && { found }),
    ...(other && { other }),
    seen,
    problems,
    steps: problems.length > 0 ? [] : kind.plan(model, seen, inventory.scope.vpc, await inventory.network(ask)),
  };
}

/** Everything of a load balancer that plans compare with. */
async function observe(
  name: string,
  found: Found | undefined,
  { kind, observe: options }: SurveyRequest,
  inventory: Inventory,
  ask: Ask,
): Promise<Seen> {
  const [managedGroup, seen] = await Promise.all([
    ownGroup(options.owner, kind, name, inventory, reconcileAges, ask),
    kind.observe(found, options, inventory, ask),
  ]);
  return { ...seen, ...(managedGroup && { managedGroup }) };
}

/** Where others are given in its place our group is about to go: whether it is still ours has to be seen now. */
async function groupSeenAnew(
  name: string,
  { managedGroup, ...seen }: Seen,
  model: LoadBalancerModel,
  { kind, observe: { owner } }: SurveyRequest,
  inventory: Inventory,
  ask: Ask,
): Promise<Seen> {
  const goes = managedGroup?.owned && model.securityGroups.kind === "wanted" && managedGroups(model).length === 0;
  const now = goes ? await ownGroup(owner, kind, name, inventory, presentAges, ask) : managedGroup;
  return { ...seen, ...(now && { managedGroup: now }) };
}

function conflicts(model: LoadBalancerModel, { managedGroup }: Seen): Problem[] {
  return managedGroups(model).flatMap((group) => {
    const message = groupConflict(group, managedGroup);
    return message === undefined ? [] : [{ message }];
  });
}
