/** One look at a Service: what it asks for, what stands, and the steps between them. Changes nothing. */
import type { Ask } from "../../aws/ask.ts";
import { inTheWayOf } from "../elbv2/replacement.ts";
import { findLoadBalancers } from "../find.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import { hostnameOf, type LoadBalancerKind } from "../kind.ts";
import { boundNetworkGlance } from "../network/bound-glance.ts";
import type { FoundNetwork } from "../network/find.ts";
import type { SeenNetwork } from "../network/plan.ts";
import { type Survey, survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { isBehind } from "../target-groups.ts";
import { noTargets } from "../targets.ts";
import { annotationPrefix } from "./annotations.ts";
import { checkpointOf } from "./checkpoint.ts";
import { desireService, type ServiceDesire } from "./desire.ts";
import { ownerOf } from "./owner.ts";
import { AnnotationReader, ServiceFault } from "./reader.ts";
import { besides, givenGroups, holdsAddressOf, ofOtherScheme, type Replaced } from "./replacement.ts";
import type { ClassSettings } from "./settings.ts";
import type { ServiceView } from "./view.ts";

export interface SurveyParts {
  readonly inventory: Inventory;
  readonly settings: ClassSettings;
  /** The id of the group that load balancers share towards their targets; undefined where they share none. */
  backendGroup(ask: Ask): Promise<string | undefined>;
  service(namespace: string, name: string): ServiceView | undefined;
}

export interface SurveyDepth {
  /** Whether attributes of target groups are read also where none but AWS's own are asked for. */
  readonly readsAttributes: boolean;
  /** Host names that the status names. */
  readonly published: readonly string[];
  /** What was recorded when all was as wanted, as long as it may be believed. */
  readonly checkpoint?: string;
}

export interface ClassSurvey {
  readonly seen: Survey;
  readonly desire: ServiceDesire;
  /** Load balancers of another scheme than is wanted now. */
  readonly replaced: Replaced;
  /** Whether only lists were read, and everything else taken for what it was. */
  readonly isGlance: boolean;
}

/** How old attributes may be: AWS tells of them one load balancer at a time. */
const attributesAgeMs = 60 * 60_000;

export async function surveyService(service: ServiceView, parts: SurveyParts, depth: SurveyDepth, ask: Ask): Promise<ClassSurvey> {
  const { found } = await findOwn(service, parts, depth, ask);
  const glance = await glanceAt(service, found, parts, depth, ask);
  if (glance !== undefined) return glance;
  const first = await look(service, found, [], parts, depth, ask);
  const others = ofOtherScheme(found, first.desire.model.internal);
  // Of one that cannot be understood nobody knows which scheme it asks for.
  if (others.length === 0 || first.desire.problems.length > 0) return first;
  const standing = found.filter((lb) => !others.includes(lb));
  return look(service, standing, others, parts, depth, ask);
}

/** A look at lists alone; undefined where it does not suffice. */
async function glanceAt(
  service: ServiceView,
  found: readonly FoundNetwork[],
  parts: SurveyParts,
  depth: SurveyDepth,
  ask: Ask,
): Promise<ClassSurvey | undefined> {
  if (!depth.checkpoint || found.length !== 1) return undefined;
  const glance = await look(service, found, [], parts, depth, ask, boundNetworkGlance as LoadBalancerKind);
  const { seen, desire } = glance;
  const isRight = seen.problems.length === 0 && seen.steps.length === 0 && found[0]?.internal === desire.model.internal;
  const isSame = isRight && checkpointOf(desire, seen.seen as SeenNetwork) === depth.checkpoint;
  return isSame ? { ...glance, isGlance: true } : undefined;
}

/** A look at one of the Service's load balancers, beside others that it replaces. */
async function look(
  service: ServiceView,
  found: readonly FoundNetwork[],
  replaced: readonly FoundNetwork[],
  parts: SurveyParts,
  depth: SurveyDepth,
  ask: Ask,
  glance?: LoadBalancerKind,
): Promise<ClassSurvey> {
  const { inventory, settings } = parts;
  const owner = ownerOf(service, settings);
  const [standing] = found;
  const needs = needsOf(service, standing, settings);
  const [backendGroup, groups, vpcCidrs] = await Promise.all([
    needs.backendGroup ? parts.backendGroup(ask) : undefined,
    inventory.groupsWith(needs.groups, ask),
    needs.vpcCidrs ? inventory.cloud.vpcs.cidrs(settings.vpc, ask) : [],
  ]);
  let desire: ServiceDesire | undefined;
  let taken: readonly SeenTargetGroup[] = [];
  const onTaken = (theirs: readonly SeenTargetGroup[]) => {
    taken = theirs;
  };
  const kind = glance ?? besides(replaced, onTaken);
  const seen = await survey(
    {
      kind,
      standing: found,
      newName: owner.ownName,
      targets: noTargets,
      observe: {
        owner,
        tags: true,
        targetGroupAttributes: depth.readsAttributes || attributesAsked(service) !== "",
        attributesKey: textOf(service, isLoadBalancerAttribute),
        attributesAgeMs,
        managed: {
          attributes: textOf(service, isLoadBalancerAttribute) !== "",
          listenerAttributes: listenerAttributePorts(service),
          capacity: textOf(service, (name) => name === "aws-load-balancer-minimum-load-balancer-capacity") !== "",
        },
      },
      desire(around) {
        const { targetGroups } = around.seen as SeenNetwork;
        desire = desireService(service, {
          settings,
          network: around.network,
          groups,
          ...(backendGroup !== undefined && { backendGroup }),
          vpcCidrs: vpcCidrs ?? [],
          ...(around.standing && { standing: around.standing as FoundNetwork }),
          targetGroups,
          takenNames: taken.map(({ name }) => name),
          service: parts.service,
          isForeignTag: (key) => owner.marks?.isForeign(key) ?? false,
        });
        // Nobody knows which part of the Service it is: what it would be taken for, or deleted for, is no guess of ours.
        const unnamed = targetGroups.filter(({ part }) => part === undefined);
        const problems = unnamed.map(({ arn }) => ({ message: `unexpected targetGroup with no resourceID: ${arn}` }));
        return { ...desire, problems: [...desire.problems, ...problems], access: { kind: "from-group", loadBalancer: desire.model.name } };
      },
      problemsWith: ({ problems }) => problems,
    },
    inventory,
    ask,
  );
  const { model } = desire!;
  const exclusive = await inTheWayOf({ name: model.name, given: givenGroups(model) }, replaced, inventory, ask, owner.key);
  const inTheWay = replaced.filter((lb) => exclusive.includes(lb) || holdsAddressOf(model, lb));
  return { seen, desire: desire!, replaced: { loadBalancers: replaced, targetGroups: taken, inTheWay }, isGlance: false };
}

/**
 * The load balancers that carry the Service's marks, the one whose address is published first. Where there is none, and the
 * status names one of this account, its tags may have been written a moment ago: they are read anew before another one is made.
 */
async function findOwn(
  service: ServiceView,
  { inventory, settings }: SurveyParts,
  { published }: SurveyDepth,
  ask: Ask,
): Promise<{ readonly found: readonly FoundNetwork[] }> {
  const owner = ownerOf(service, settings);
  const find = async () => (await findLoadBalancers(owner, inventory, reconcileAges, ask)).found as readonly FoundNetwork[];
  const isPublished = ({ hostname }: { readonly hostname: string }) => published.includes(hostname);
  let found = await find();
  if (found.length === 0 && published.length > 0) {
    const all = await inventory.loadBalancers.all(reconcileAges.presentMs, ask, owner.key);
    const named = all.filter((lb) => isPublished({ hostname: hostnameOf(lb) })).map(({ LoadBalancerArn = "" }) => LoadBalancerArn);
    if (named.length === 0) return { found };
    const groups = await inventory.targetGroups.all(reconcileAges.presentMs, ask, owner.key);
    const behind = groups.filter((group) => named.some((arn) => isBehind(group, arn)));
    for (const arn of [...named, ...behind.map(({ TargetGroupArn = "" }) => TargetGroupArn)]) inventory.touchTags(arn);
    found = await find();
  }
  return { found: found.toSorted((a, b) => Number(isPublished(b)) - Number(isPublished(a))) };
}

interface Needs {
  readonly backendGroup: boolean;
  readonly vpcCidrs: boolean;
  /** Ids that must be among the security groups that are known. */
  readonly groups: readonly string[];
}

/** What has to be asked of AWS before anybody can say what the Service wants. Of one that cannot be read nothing has. */
function needsOf({ annotations }: ServiceView, standing: FoundNetwork | undefined, settings: ClassSettings): Needs {
  const read = new AnnotationReader(annotations);
  try {
    const isDisabled = read.get("aws-load-balancer-disable-nlb-sg") || !settings.gates.securityGroups;
    if (isDisabled || standing?.securityGroups.length === 0) return { backendGroup: false, vpcCidrs: true, groups: [] };
    const given = read.get("aws-load-balancer-security-groups") ?? [];
    const manages = () => read.get("aws-load-balancer-manage-backend-security-group-rules") ?? settings.managesBackendRules;
    return { backendGroup: given.length === 0 || manages(), vpcCidrs: false, groups: given.filter((entry) => entry.startsWith("sg-")) };
  } catch (error) {
    if (error instanceof ServiceFault) return { backendGroup: false, vpcCidrs: false, groups: [] };
    throw error;
  }
}

/** All that a Service says about attributes of its target groups, as text to compare; empty where it says nothing. */
export const attributesAsked = (service: ServiceView) =>
  textOf(
    service,
    (name) => name.startsWith("aws-load-balancer-target-group-attributes") || name.startsWith("aws-load-balancer-proxy-protocol"),
  );

const isLoadBalancerAttribute = (name: string) =>
  name === "aws-load-balancer-attributes" ||
  name.startsWith("aws-load-balancer-access-log-") ||
  name === "aws-load-balancer-cross-zone-load-balancing-enabled";

function textOf({ annotations }: ServiceView, concerns: (name: string) => boolean): string {
  const said = Object.entries(annotations).filter(
    ([key]) => key.startsWith(annotationPrefix) && concerns(key.slice(annotationPrefix.length)),
  );
  return said.length === 0 ? "" : JSON.stringify(said);
}

function listenerAttributePorts({ annotations }: ServiceView): readonly number[] {
  return Object.keys(annotations).flatMap((key) => Number(/\/aws-load-balancer-listener-attributes\.[A-Z_]+-(\d+)$/.exec(key)?.[1]) || []);
}
