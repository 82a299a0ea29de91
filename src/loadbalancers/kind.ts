/**
 * A kind of load balancer (classic, network, …) as one value. A door says what it wants, the core finds, looks, applies
 * and removes, and whatever differs from kind to kind is asked of this value: nobody else asks which kind it is.
 */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Refusal } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import type { Step } from "../aws/plan.ts";
import type { NodeRuleContext } from "./groups/claims.ts";
import type { SeenGroup } from "./groups/managed.ts";
import type { Marks } from "./groups/node-rules.ts";
import type { Inventory } from "./inventory.ts";
import type { Ages } from "./listing.ts";
import type { Guards, LoadBalancerModel, Tags } from "./model.ts";
import type { LoadBalancerOwner } from "./owner.ts";
import type { Network } from "./subnets.ts";
import type { Targets } from "./targets.ts";

/** A load balancer that stands, as a list of all of them tells it. */
export interface Found {
  /** The name of its kind. */
  readonly kind: string;
  readonly name: string;
  readonly hostname: string;
  readonly internal: boolean;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  /** Wall-clock milliseconds. */
  readonly createdAt: number;
  /** In AWS's words, for kinds that have states; one that has `failed` is of no use to anybody. */
  readonly state?: string;
}

/** All that plans compare with, of a load balancer that stands or has yet to be made. */
export interface Seen {
  /** The name of its kind. */
  readonly kind: string;
  /** Our own group by its name, whether it is attached or not. */
  readonly managedGroup?: SeenGroup;
}

/** What a look has to find out, as far as it costs calls of its own. */
export interface ObserveOptions {
  readonly owner: LoadBalancerOwner;
  /** Whether tags of the user's choice are asked for: only then are those of the load balancer compared. */
  readonly tags: boolean;
  /** Whether attributes of target groups are asked for. */
  readonly targetGroupAttributes: boolean;
  /** Everything asked for that attributes follow from, as text: whoever asks for other ones has them read anew. */
  readonly attributesKey: string;
  /** How old attributes may be: AWS tells of them one load balancer at a time. */
  readonly attributesAgeMs: number;
  /** Of an application load balancer, what else is managed and therefore read. Absent: nothing. */
  readonly managed?: {
    readonly attributes: boolean;
    /** Ports of listeners with attributes. */
    readonly listenerAttributes: readonly number[];
    readonly capacity: boolean;
    readonly guards?: readonly (keyof Guards)[];
  };
}

/** How the targets behind one port do. */
export interface BackendHealth {
  /** Which port, in words; empty where there is one health for all ports. */
  readonly where: string;
  readonly targets: readonly TargetHealth[];
}

export interface TargetHealth {
  readonly id: string;
  readonly healthy: boolean;
  /** In AWS's words. */
  readonly state: string;
  readonly why: string;
}

/** A target group of a model, and the listener that forwards to it. */
export interface PlannedTargetGroup {
  readonly name: string;
  readonly port: number;
  readonly listenerPort: number | undefined;
}

/** What a load balancer whose needs are not known uses of the nodes. */
export interface Usage {
  readonly ports: readonly number[];
  readonly sources: readonly string[];
}

/** What of a load balancer's surroundings the rules of its nodes follow from. */
export type RuleSources = Pick<NodeRuleContext, "source" | "ownGroups" | "subnetCidrs">;

/** Declared as methods, so that a kind, which takes its own model and its own view only, is one of all kinds. */
export interface LoadBalancerKind<
  Model extends LoadBalancerModel = LoadBalancerModel,
  View extends Seen = Seen,
  Handle extends Found = Found,
> {
  /** As in `classic load balancer web`. */
  readonly name: string;

  /** The one of this name. */
  find(name: string, inventory: Inventory, ages: Ages, ask: Ask): Promise<Handle | undefined>;
  /** All that carry the marks of an owner whose things are known by them. */
  findMarked(owner: LoadBalancerOwner, inventory: Inventory, maxAgeMs: number, ask: Ask): Promise<readonly Handle[]>;
  /** The names of those that have this host name. What was written for others than `by` counts as it is in the list. */
  namesBehind(hostname: string, inventory: Inventory, maxAgeMs: number, ask: Ask, by: string): Promise<readonly string[]>;
  tags(found: Handle, inventory: Inventory, ask: Ask): Promise<Tags | undefined>;
  /** Target groups whose names may be the owner's, beside or behind those of its load balancers that stand. */
  targetGroups(
    owner: LoadBalancerOwner,
    standing: readonly Handle[],
    inventory: Inventory,
    maxAgeMs: number,
    ask: Ask,
  ): Promise<readonly TargetGroup[]>;
  /** The name of the security group that is made for a load balancer of this name. */
  managedGroupName(owner: LoadBalancerOwner, loadBalancer: string): string;

  observe(found: Handle | undefined, options: ObserveOptions, inventory: Inventory, ask: Ask): Promise<View>;
  /** Nothing but the targets of one that is otherwise left as it is. What somebody else has put behind it is none of ours. */
  observeTargets(found: Handle, owner: LoadBalancerOwner, inventory: Inventory, ask: Ask): Promise<View>;
  /** The same without parts that are not wanted and do not carry the owner's marks: somebody else has put them there. */
  withoutStrangers(seen: View, model: Model, owner: LoadBalancerOwner, inventory: Inventory, ask: Ask): Promise<View>;
  /** Of every port, how its targets do. */
  health(found: Handle, seen: View, inventory: Inventory, ask: Ask): Promise<readonly BackendHealth[]>;

  /** The model with the targets that each of its parts can take now. */
  withTargets(model: Model, seen: View, targets: Targets): Model;
  plan(model: Model, seen: View, vpc: string, network: Network): Step[];
  planDeletion(found: Handle, askedBy: string): Step[];
  /** The instances registered with it, in whichever of its groups. */
  registered(seen: View): ReadonlySet<string>;
  /** The steps that change nothing but targets, to those that are wanted. */
  planTargets(name: string, seen: View, targets: Targets, askedBy: string): Step[];

  /** What takes targets when all other steps of a plan are done, with those that are registered now. Ids of what was made are by name. */
  afterParts(model: Model, seen: View, made: ReadonlyMap<string, string>): View;
  /** The same with what is registered by now. */
  refreshTargets(name: string, seen: View, inventory: Inventory, ask: Ask): Promise<View>;
  /** What stands when its targets were brought to these, but for those that AWS refused. */
  afterTargets(seen: View, targets: Targets, refused: readonly Refusal[]): View;
  /** The host name in AWS's answer to a step, if it was the one that made the load balancer. */
  hostnameIn(output: unknown): string | undefined;
  /** The steps of a plan, all of them, have written what the model says: its attributes need not be read again soon. */
  rememberAttributes(
    written: { readonly model: Model; readonly seen: View; readonly steps: readonly Step[]; readonly isNew: boolean },
    attributesKey: string,
    inventory: Inventory,
    now: number,
  ): void;
  forgetAttributes(name: string, attributesKey: string, inventory: Inventory): void;

  /** It was written to: what the lists say of it does not count any more. The same of its targets, and of all that a plan is about. */
  touch(name: string, inventory: Inventory, by: string): void;
  touchTargets(name: string, seen: View, inventory: Inventory, by: string): void;
  touchParts(model: Model, seen: View, inventory: Inventory, by: string): void;

  /** By what rules in node security groups, for load balancers of these names, are known. */
  ruleMarks(names: readonly string[], ownGroups: readonly string[]): Marks;
  /** Where the traffic that nodes have to let in comes from. Ids of what was made are by the names that plans give it. */
  ruleSources(
    model: Model,
    seen: View,
    found: Handle | undefined,
    made: ReadonlyMap<string, string>,
    inventory: Inventory,
    ask: Ask,
  ): Promise<RuleSources>;
  /** What one of this name, if it stands, uses of the nodes. */
  usage(name: string, inventory: Inventory, ask: Ask): Promise<Usage>;

  /** What listens on it and where that leads, in words. */
  describe(model: Model): readonly string[];
  plannedTargetGroups(model: Model): readonly PlannedTargetGroup[];
}

/** Whether every port has a target that takes traffic. */
export function isServing(backends: readonly BackendHealth[]): boolean {
  return backends.length > 0 && backends.every(({ targets }) => targets.some(({ healthy }) => healthy));
}

/** As it is published. AWS keeps the capitals of a load balancer's name in it; Kubernetes takes none, and DNS does not care. */
export function hostnameOf({ DNSName = "" }: { readonly DNSName?: string }): string {
  return DNSName.toLowerCase();
}

/** The names of those listed that have this host name. */
export function namesWith(
  hostname: string,
  listed: readonly { readonly DNSName?: string; readonly LoadBalancerName?: string }[],
): readonly string[] {
  return listed.flatMap((lb) => (hostnameOf(lb) === hostname && lb.LoadBalancerName ? [lb.LoadBalancerName] : []));
}
