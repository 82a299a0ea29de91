/** Brings what stands for a Service to what the Service asks for, and says what the nodes have to let in. */
import { type Applied, apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { authorizeSecurityGroupIngress } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import type { Host } from "../../runtime/host.ts";
import type { SeenClassic } from "../classic/plan.ts";
import type { ClaimBook, ClaimOptions, Owner } from "../groups/claim-book.ts";
import { claimFor, type Stand } from "../groups/claims.ts";
import { missingRules, ruleKey, seenRuleKey } from "../groups/managed.ts";
import { mentions } from "../groups/node-rules.ts";
import { noRoomText } from "../groups/rule-quota.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import type { NodeAccess } from "../model.ts";
import type { SeenNetwork } from "../network/plan.ts";
import { nodeGroupsOf, type Targets } from "../targets.ts";
import type { Problem } from "./annotations.ts";
import { noteAttributes } from "./attributes.ts";
import { hostnameOf } from "./find.ts";
import type { Survey } from "./survey.ts";
import type { LoadBalancerSettings } from "./view.ts";

export interface EnsureParts {
  readonly host: Host;
  readonly inventory: Inventory;
  readonly settings: LoadBalancerSettings;
  readonly book: ClaimBook;
}

/** Whose steps they are, and who is told of each. */
export interface EnsureOptions {
  /** Of the Service: `namespace/name`. */
  readonly key: string;
  readonly onStep: (step: Step) => void;
}

export interface Ensured {
  readonly applied: Applied;
  /** The host name of the load balancer; undefined while AWS gives none, or says that it has failed. */
  readonly hostname: string | undefined;
  readonly seen: SeenClassic | SeenNetwork;
  readonly stand: Stand;
  readonly warnings: readonly Problem[];
}

/** Carries out a survey's steps. */
export async function ensure(survey: Survey, { host, inventory }: EnsureParts, ask: Ask, { key, onStep }: EnsureOptions): Promise<Ensured> {
  let hostname = standingHostname(survey);
  let applied: Applied | undefined;
  try {
    applied = await apply(survey.steps, inventory.cloud, {
      ...ask,
      onStep: (step, output) => {
        onStep(step);
        hostname ??= madeHostname(output);
      },
    });
  } catch (error) {
    throw withRoom(error, survey);
  } finally {
    touch(survey, inventory, key);
    noteAttributes(survey, inventory, host.world.clock.monotonic(), applied?.kind === "done");
  }
  const seen = afterwards(survey, applied);
  const { stand, warnings } = await standOf(survey, applied.made, inventory, ask);
  return { applied, hostname, seen, stand, warnings };
}

/** What AWS says of a group that is full, with how many rules the Service asks for. */
function withRoom(error: unknown, { desire, managedGroup }: Survey): unknown {
  if (!isAwsError(error, "limit-exceeded") || error.action !== authorizeSecurityGroupIngress.name) return error;
  const { securityGroups } = desire.model;
  const entries = "kind" in securityGroups ? (securityGroups.kind === "wanted" ? securityGroups.groups : []) : securityGroups;
  const managed = entries.find((entry) => entry.kind === "managed");
  if (managed === undefined) return error;
  const { group } = managed;
  const kept = managedGroup?.rules.filter((rule) => group.rules.some((wanted) => ruleKey(wanted) === seenRuleKey(rule))) ?? [];
  const text = noRoomText(`security group ${group.name}`, kept, missingRules(group, managedGroup));
  return new Error(`${text}: ${error.message}`, { cause: error });
}

/** Writes down what the load balancer needs from the nodes; groups that only speak of it from before are looked at too. */
export async function claimAccess(
  owner: Owner,
  access: NodeAccess,
  stand: Stand,
  { book, inventory, settings }: Omit<EnsureParts, "host">,
  { recheck, other }: Omit<ClaimOptions, "groups">,
  ask: Ask,
): Promise<void> {
  // The group that all classic load balancers share is never edited, also where nodes have it.
  const nodeGroups = stand.nodeGroups.filter((id) => id !== settings.elbSecurityGroup);
  const claim = claimFor(access, { ...stand, nodeGroups });
  if (settings.disableNodeIngress) {
    book.claim(owner, { ...claim, nodeGroups: [], rules: [], marks: { descriptions: [], sources: [] } }, { groups: [], recheck: false });
    return;
  }
  const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
  const mentioning = groups.filter((group) => mentions(group, claim.marks)).map(({ id }) => id);
  book.claim(owner, claim, { groups: mentioning, recheck, ...(other !== undefined && { other }) });
}

/** The groups of the nodes behind a load balancer, and what is unclear about them. */
export async function nodeGroups({ instances }: Targets, inventory: Inventory, ask: Ask) {
  const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
  return nodeGroupsOf(instances, groups, inventory.place.cluster);
}

/** Where it will stand, with names in the place of what is not made yet. */
export async function predictedStand(survey: Survey, inventory: Inventory, ask: Ask): Promise<Stand> {
  const promised = survey.steps.flatMap(({ makes }): [string, string][] => (makes ? [[makes.name, `<${makes.name}>`]] : []));
  return (await standOf(survey, new Map(promised), inventory, ask)).stand;
}

/** A failed load balancer has no address worth publishing. */
function standingHostname({ found }: Survey): string | undefined {
  if (found === undefined || found.hostname === "" || (found.kind === "network" && found.state === "failed")) return undefined;
  return found.hostname;
}

/** Both kinds answer their creation with the host name. */
function madeHostname(output: unknown): string | undefined {
  const { DNSName, LoadBalancers } = output as {
    readonly DNSName?: string;
    readonly LoadBalancers?: readonly { readonly DNSName?: string }[];
  };
  return hostnameOf({ DNSName, ...LoadBalancers?.[0] }) || undefined;
}

/** What was written is not as the lists have it. */
function touch({ steps, desire, seen }: Survey, inventory: Inventory, key: string): void {
  if (steps.length === 0) return;
  const { model } = desire;
  (model.kind === "classic" ? inventory.classic : inventory.loadBalancers).touch(model.name, key);
  const touchGroup = (group: { readonly name: string; readonly id?: string }) => inventory.touchGroup(group, key);
  const managed =
    model.kind === "classic" ? model.securityGroups : model.securityGroups.kind === "wanted" ? model.securityGroups.groups : [];
  for (const entry of managed) if (entry.kind === "managed") touchGroup({ name: entry.group.name });
  if (seen.managedGroup) touchGroup(seen.managedGroup);
  if (model.kind !== "network" || !("targetGroups" in seen)) return;
  for (const { name } of [...model.targetGroups, ...seen.targetGroups]) inventory.targetGroups.touch(name, key);
}

/** What stands when the steps are done, as far as its targets go. */
function afterwards({ desire, seen }: Survey, { made, refused }: Applied): SeenClassic | SeenNetwork {
  const taken = (ids: readonly string[]) => ids.filter((id) => !refused.some((refusal) => refusal.ids.includes(id)));
  if (desire.kind === "classic") {
    const before = "targetGroups" in seen ? undefined : seen.loadBalancer;
    const { model } = desire;
    const lb = before ?? { ...model, securityGroups: [], listeners: [], policies: { names: [], backends: {} } };
    return { loadBalancer: { ...lb, instances: taken(model.instances) } };
  }
  const before = "targetGroups" in seen ? seen.targetGroups : [];
  return {
    targetGroups: desire.model.targetGroups.map((group) => ({
      ...group,
      arn: before.find(({ name }) => name === group.name)?.arn ?? made.get(`target group ${group.name}`) ?? "",
      targets: taken(group.targets).map((id) => ({ id, port: group.port })),
    })),
  };
}

async function standOf(
  survey: Survey,
  made: ReadonlyMap<string, string>,
  inventory: Inventory,
  ask: Ask,
): Promise<{ stand: Stand; warnings: readonly Problem[] }> {
  const { desire, found, managedGroup, targets, formerNames } = survey;
  const { ids, warnings } = await nodeGroups(targets, inventory, ask);
  const common = { nodeGroups: ids, formerNames };
  const told = warnings.map((message) => ({ message }));
  if (desire.kind === "network") {
    const network = await inventory.network(ask);
    const wanted = found?.subnets ?? desire.model.subnets.map(({ subnet }) => subnet);
    const subnetCidrs = network.subnets.filter(({ id }) => wanted.includes(id)).map(({ cidr }) => cidr);
    return { stand: { ...common, ownGroups: [], subnetCidrs: subnetCidrs.toSorted() }, warnings: told };
  }
  const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
  const sources = desire.model.securityGroups.flatMap((entry) => {
    const id = entry.kind === "given" ? entry.id : (managedGroup?.id ?? made.get(`security group ${entry.group.name}`));
    return id === undefined ? [] : [{ id, ours: entry.kind === "managed" }];
  });
  const isTagged = ({ id, ours }: { id: string; ours: boolean }) =>
    ours || inventory.mine(groups.find((group) => group.id === id)?.tags ?? {});
  const source = sources.find(isTagged) ?? sources[0];
  const ownGroups = new Set([...(managedGroup?.owned ? [managedGroup.id] : []), ...sources.filter(({ ours }) => ours).map(({ id }) => id)]);
  return { stand: { ...common, ...(source && { source }), ownGroups: [...ownGroups], subnetCidrs: [] }, warnings: told };
}
