/** One look at a group: what its Ingresses ask for, what stands, and the steps between them. Changes nothing. */
import type { Ask } from "../../aws/ask.ts";
import type { FoundApplication } from "../application/find.ts";
import { applicationGlance } from "../application/glance.ts";
import type { SeenApplication } from "../application/plan.ts";
import { inTheWayOf } from "../elbv2/replacement.ts";
import { findLoadBalancers } from "../find.ts";
import { reconcileAges } from "../inventory.ts";
import type { Found, LoadBalancerKind } from "../kind.ts";
import type { FoundNetwork } from "../network/find.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { type Survey, survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { noTargets } from "../targets.ts";
import { annotationKey } from "./annotations.ts";
import { recordedAttributes } from "./attribute-records.ts";
import { secretNames } from "./auth.ts";
import type { CertificateSurvey } from "./certificate-pass.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { SurveyContext } from "./context.ts";
import { desireGroup, type GroupDesire, type GroupSources } from "./desire.ts";
import { type Group, keyIn } from "./groups.ts";
import { mentionedGuards } from "./guards.ts";
import { type LookUps, lookUp } from "./look-ups.ts";
import { frontOwnerOf } from "./owner.ts";
import { besides, givenGroups, type Replaced, withFreeNames } from "./replacement.ts";
import { concernedBy, withResets } from "./resets.ts";
import { keyOf } from "./view.ts";

export interface GroupSurvey {
  readonly seen: Survey;
  readonly desire: GroupDesire;
  /** What it was asked of. */
  readonly sources: GroupSources;
  /** Load balancers of another scheme than is wanted now. */
  readonly replaced: Replaced;
  /** The network load balancer that stands in front. */
  readonly front?: FoundNetwork;
  /** Whether only lists were read, and everything else taken for what it was. */
  readonly isGlance: boolean;
  /** Those that are requested for its Ingresses. */
  readonly certificates: CertificateSurvey;
}

/** Looks, and changes nothing. */
export async function surveyGroup(
  group: Group,
  owner: LoadBalancerOwner,
  context: SurveyContext,
  certificates: CertificateSurvey,
  ask: Ask,
): Promise<GroupSurvey> {
  const { inventory, secrets } = context;
  const { found: standing } = await findLoadBalancers(owner, inventory, reconcileAges, ask);
  const backendGroup = await context.backendGroup.id(ask);
  const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
  await secrets.follow(owner.key, secretKeys(group, context), ask.signal);
  const [front] = (await findLoadBalancers(frontOwnerOf(owner), inventory, reconcileAges, ask)).found;
  const facts: Facts = {
    ...(front && { front: front as FoundNetwork }),
    groups,
    ...(backendGroup !== undefined && { backendGroup }),
    requested: certificates,
    ...(await lookUp(group, context, ask)),
  };
  const glance = await glanceAt(group, owner, standing, facts, context, ask);
  if (glance !== undefined) return glance;
  const first = await look(group, owner, standing, [], facts, context, ask);
  const isOther = ({ internal }: Found) => internal !== first.desire.model.internal;
  // While somebody is not understood nobody knows which scheme they asked for.
  if (!standing.some(isOther) || first.desire.model.keepsUnclaimed !== undefined) return first;
  return look(
    group,
    owner,
    standing.filter((lb) => !isOther(lb)),
    standing.filter(isOther),
    facts,
    context,
    ask,
  );
}

type Facts = LookUps &
  Pick<GroupSources, "groups" | "backendGroup"> & { readonly front?: FoundNetwork; readonly requested: CertificateSurvey };

/** A look at lists alone; undefined where it does not suffice. */
async function glanceAt(
  group: Group,
  owner: LoadBalancerOwner,
  standing: readonly Found[],
  facts: Facts,
  context: SurveyContext,
  ask: Ask,
): Promise<GroupSurvey | undefined> {
  const [first] = group.members;
  const recorded = (first && context.ingresses.get(keyOf(first.ingress))?.checkpoint) || undefined;
  if (recorded === undefined || standing.length !== 1 || !context.checkpoints?.trustedMs(owner.key)) return undefined;
  const { seen, desire, ...rest } = await look(group, owner, standing, [], facts, context, ask, applicationGlance as LoadBalancerKind);
  const isRight = desire.faults.size === 0 && seen.problems.length === 0 && seen.steps.length === 0 && group.leaving.length === 0;
  const isSame = isRight && checkpointOf(desire, seen.seen as SeenApplication) === recorded;
  return isSame && standing[0]?.internal === desire.model.internal ? { seen, desire, ...rest, isGlance: true } : undefined;
}

/** A look at one of the group's load balancers, beside others that it replaces. */
async function look(
  group: Group,
  owner: LoadBalancerOwner,
  standing: readonly Found[],
  replaced: readonly Found[],
  { certificates, requested, trustStores, targetGroups, webAcls, ...facts }: Facts,
  context: SurveyContext,
  ask: Ask,
  glance?: LoadBalancerKind,
): Promise<GroupSurvey> {
  const { inventory, settings, secrets, ingresses } = context;
  let taken: readonly SeenTargetGroup[] = [];
  let desire: GroupDesire | undefined;
  let asked: GroupSources | undefined;
  const onTaken = (theirs: readonly SeenTargetGroup[]) => {
    taken = theirs;
  };
  const kind = glance ?? besides(replaced, onTaken);
  const set = recordedAttributes(group, context);
  const resets = concernedBy(set);
  for (const { ingress } of group.members) secrets.begin(keyIn(group.id, keyOf(ingress)));
  const seen = await survey(
    {
      kind,
      standing,
      newName: owner.ownName,
      targets: noTargets,
      observe: {
        owner,
        tags: true,
        targetGroupAttributes: resets.targetGroupAttributes || mentions(group, context, "target-group-attributes"),
        attributesKey: attributesKey(group),
        attributesAgeMs: context.attributesAgeMs,
        managed: {
          attributes:
            resets.attributes ||
            mentions(group, context, "load-balancer-attributes") ||
            group.members.some(({ params }) => params?.loadBalancerAttributes),
          listenerAttributes: [...resets.listenerAttributes, ...group.members.flatMap(listenerAttributePorts)],
          capacity:
            resets.capacity ||
            mentions(group, context, "minimum-load-balancer-capacity") ||
            group.members.some(({ params }) => params?.minimumLoadBalancerCapacity),
          guards: mentionedGuards(group.members, annotationKey, settings),
        },
      },
      desire(around) {
        const sources: GroupSources = {
          ...facts,
          settings,
          network: around.network,
          certificates,
          requested: (key) => requested.answers.get(key),
          ...(around.standing && { standing: around.standing as FoundApplication }),
          isForeignTag: (key) => owner.marks?.isForeign(key) ?? false,
          trustStore: (name) => trustStores.get(name),
          service: (namespace, name) => context.services.get(`${namespace}/${name}`)?.view,
          secret: (name, ingress) =>
            secrets.read(name, ingress, ingresses.get(keyOf(ingress))?.sentSecrets ?? {}, keyIn(group.id, keyOf(ingress))),
          targetGroupArn: (name) => targetGroups.get(name),
          webAcl: (name) => webAcls.get(name),
          seen: around.seen as SeenApplication,
          refusal: (key, model) => context.refusals?.of(keyIn(group.id, key), model),
        };
        asked = sources;
        desire = withFreeNames(desireGroup(group, around.standing?.name, context.memory, sources), taken);
        const { model, subnets, problems } = desire;
        return {
          model: withResets(model, set),
          subnets,
          access: { kind: "from-group", loadBalancer: model.name },
          problems: problems.map((message) => ({ message })),
          warnings: [],
        };
      },
      problemsWith: ({ problems }) => problems,
    },
    inventory,
    ask,
  );
  const { front } = facts;
  const { model } = desire!;
  const loadBalancers = replaced as readonly FoundApplication[];
  const inTheWay = await inTheWayOf({ name: model.name, given: givenGroups(model) }, loadBalancers, inventory, ask, owner.key);
  return {
    seen,
    desire: desire!,
    sources: asked!,
    replaced: { loadBalancers, targetGroups: taken, inTheWay },
    ...(front && { front }),
    isGlance: false,
    certificates: requested,
  };
}

/** Whether anything says something about these: only then are they read. */
function mentions({ members }: Group, { services }: SurveyContext, name: Parameters<typeof annotationKey>[0]): boolean {
  const key = annotationKey(name);
  const namespaces = new Set(members.map(({ ingress }) => ingress.namespace));
  return (
    members.some(({ ingress }) => ingress.annotations[key] !== undefined) ||
    services.list().some(({ view: { namespace, annotations } }) => namespaces.has(namespace) && annotations[key] !== undefined)
  );
}

function listenerAttributePorts({ ingress, params }: Group["members"][number]): readonly number[] {
  const keys = Object.keys(ingress.annotations).flatMap((key) => /\/listener-attributes\.[A-Z]+-(\d+)$/.exec(key)?.[1] ?? []);
  return [...keys.map(Number), ...(params?.listeners ?? []).flatMap(({ port }) => port ?? [])];
}

const attributesKey = ({ members }: Group) =>
  JSON.stringify(
    members.map(({ ingress, params }) => [ingress.annotations[annotationKey("load-balancer-attributes")], params?.loadBalancerAttributes]),
  );

function secretKeys({ members }: Group, { services }: SurveyContext): ReadonlySet<string> {
  const namespaces = new Set(members.map(({ ingress }) => ingress.namespace));
  const ofServices = services.list().filter(({ metadata }) => namespaces.has(metadata.namespace));
  return new Set([
    ...members.flatMap(({ ingress }) => secretNames([ingress.annotations]).map((name) => `${ingress.namespace}/${name}`)),
    ...ofServices.flatMap(({ view: { namespace, annotations } }) => secretNames([annotations]).map((name) => `${namespace}/${name}`)),
  ]);
}
