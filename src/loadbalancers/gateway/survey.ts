/** One look at a Gateway: what it asks for, what stands, and the steps between them. Changes nothing. */
import type { Ask } from "../../aws/ask.ts";
import { deleteTargetGroup } from "../../aws/elbv2-actions.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import { applicationGlance } from "../application/glance.ts";
import type { SeenApplication } from "../application/plan.ts";
import type { FoundBalancer } from "../elbv2/found.ts";
import { besides, inTheWayOf, type Replaced } from "../elbv2/replacement.ts";
import { findLoadBalancers } from "../find.ts";
import { reconcileAges } from "../inventory.ts";
import { hostnameOf, type LoadBalancerKind } from "../kind.ts";
import type { ApplicationListener, ApplicationLoadBalancer, NetworkListener, NetworkLoadBalancer } from "../model.ts";
import { boundNetworkGlance } from "../network/bound-glance.ts";
import type { SeenNetwork } from "../network/plan.ts";
import type { Action } from "../routing.ts";
import { type Survey, survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { isBehind } from "../target-groups.ts";
import { noTargets } from "../targets.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { TargetGroupConfiguration } from "./config.ts";
import type { SurveyContext } from "./context.ts";
import { desireGateway, type GatewayDesire } from "./desire.ts";
import type { GatewayWish } from "./draft.ts";
import { type Loaded, logInsOf, objectSources } from "./load.ts";
import { capacityOf, guardsOf } from "./load-balancer.ts";
import { type LookUps, lookUp } from "./look-ups.ts";
import { ownerOf } from "./owner.ts";
import type { SeenGateway } from "./report.ts";
import { recordedSecrets, secretKeyOf, secretUser } from "./sent-secrets.ts";
import { usersText } from "./sharing.ts";
import type { StandingListener } from "./standing.ts";
import { keyOf } from "./view.ts";

export interface GatewaySurvey {
  readonly seen: Survey;
  readonly desire: GatewayDesire;
  /** Load balancers of another scheme than is wanted now. */
  readonly replaced: Replaced;
  /** Whether only lists were read, and everything else taken for what it was. */
  readonly isGlance: boolean;
  /** What AWS could not be asked; whatever it concerns stays as it is. */
  readonly unasked: LookUps["failures"];
}

export interface SurveyDepth {
  /** What was recorded when all was as wanted, as long as it may be believed. */
  readonly checkpoint?: string;
}

/** How old attributes may be: AWS tells of them one load balancer at a time. */
const attributesAgeMs = 60 * 60_000;

export async function surveyGateway(
  gateway: SeenGateway,
  loaded: Loaded,
  context: SurveyContext,
  depth: SurveyDepth,
  ask: Ask,
): Promise<GatewaySurvey> {
  const found = await findOwn(gateway, context, ask);
  const facts = await lookUp(loaded.wish, context, ask);
  const logIns = logInsOf(loaded.wish, objectSources(context.objects));
  await context.secrets.follow(keyOf(gateway.view), new Set(logIns.map(secretKeyOf)), ask.signal);
  const looking = { gateway, loaded, facts, context, ask };
  const glance = await glanceAt(looking, found, depth);
  if (glance !== undefined) return glance;
  const first = await look(looking, found, []);
  const others = found.filter((lb) => lb.internal !== first.desire.model.internal);
  // Of one that cannot be understood nobody knows which scheme it asks for.
  if (others.length === 0 || first.desire.problems.length > 0) return first;
  return look(
    looking,
    found.filter((lb) => !others.includes(lb)),
    others,
  );
}

interface Looking {
  readonly gateway: SeenGateway;
  readonly loaded: Loaded;
  readonly facts: LookUps;
  readonly context: SurveyContext;
  readonly ask: Ask;
}

const glances = { alb: applicationGlance as LoadBalancerKind, nlb: boundNetworkGlance as LoadBalancerKind };

/** A look at lists alone; undefined where it does not suffice. */
async function glanceAt(
  looking: Looking,
  found: readonly FoundBalancer[],
  { checkpoint }: SurveyDepth,
): Promise<GatewaySurvey | undefined> {
  if (!checkpoint || found.length !== 1) return undefined;
  const { flavour } = looking.context;
  const glance = await look(looking, found, [], glances[flavour.name]);
  const { seen, desire } = glance;
  const isRight = seen.problems.length === 0 && seen.steps.length === 0 && found[0]?.internal === desire.model.internal;
  return isRight && checkpointOf(desire, seen) === checkpoint ? { ...glance, isGlance: true } : undefined;
}

/** A look at one of the Gateway's load balancers, beside others that it replaces. */
async function look(
  { gateway, loaded: { wish }, facts, context, ask }: Looking,
  found: readonly FoundBalancer[],
  replaced: readonly FoundBalancer[],
  glance?: LoadBalancerKind,
): Promise<GatewaySurvey> {
  const { inventory, settings, flavour, objects, secrets, refusals } = context;
  const owner = ownerOf(gateway.view, flavour, settings);
  let desire: GatewayDesire | undefined;
  let taken: readonly SeenTargetGroup[] = [];
  const kind =
    glance ??
    besides(flavour.kind, replaced, (theirs) => {
      taken = theirs;
    });
  for (const { rule } of logInsOf(wish, objectSources(objects))) secrets.begin(keyOf(secretUser(rule, gateway)));
  const seen = await survey(
    {
      kind,
      standing: found,
      newName: owner.ownName,
      targets: noTargets,
      observe: {
        owner,
        tags: true,
        targetGroupAttributes: objects.targetGroups.list().some(({ view }) => mentionsAttributes(view.spec)),
        attributesKey: JSON.stringify(wish.config.loadBalancerAttributes ?? []),
        attributesAgeMs,
        managed: {
          attributes: (wish.config.loadBalancerAttributes ?? []).length > 0,
          listenerAttributes: attributePorts(wish),
          capacity: capacityOf({ ...wish, settings }) !== undefined,
          guards: Object.keys(guardsOf({ ...wish, settings }) ?? {}) as (keyof NonNullable<ReturnType<typeof guardsOf>>)[],
        },
      },
      desire(around) {
        const { targetGroups } = around.seen as SeenApplication | SeenNetwork;
        desire = desireGateway(wish, {
          ...objectSources(objects),
          ...facts,
          settings,
          network: around.network,
          ...(around.standing && { standing: around.standing }),
          targetGroups,
          standingListeners: standing[flavour.name](around.seen as SeenApplication & SeenNetwork),
          formerRules: context.formerRules?.get(keyOf(gateway.view)) ?? [],
          takenNames: taken.map(({ name }) => name),
          secret: (name, rule) => secrets.read(name, secretUser(rule, gateway), recordedSecrets(rule, gateway)),
          isForeignTag: (key) => owner.marks?.isForeign(key) ?? false,
          refusal: (key, wish) => refusals?.of(gateway.view, key, wish),
        });
        const { model, subnets, problems, warnings } = desire;
        // Nobody knows which part of the Gateway it is: what it would be taken for, or deleted for, is no guess of ours.
        const unnamed = targetGroups.filter(({ part }) => part === undefined);
        return {
          model,
          subnets,
          access: { kind: "from-group", loadBalancer: model.name },
          problems: [
            ...problems.map((message) => ({ message })),
            ...unnamed.map(({ arn }) => ({ message: `unexpected targetGroup with no resourceID: ${arn}` })),
          ],
          warnings: warnings.map((message) => ({ message })),
        };
      },
      problemsWith: ({ problems }) => problems,
    },
    inventory,
    ask,
  );
  const { model } = desire!;
  const inTheWay = await inTheWayOf({ name: model.name, given: givenGroups(model) }, replaced, inventory, ask, owner.key);
  return {
    seen: { ...seen, steps: seen.steps.filter((step) => !isHeld(step, desire!)).map((step) => withUsers(step, desire!)) },
    desire: desire!,
    replaced: { loadBalancers: replaced, targetGroups: taken, inTheWay },
    isGlance: false,
    unasked: facts.failures,
  };
}

/** What would change a target group that AWS refuses to change, or delete one behind something that stays as it is. */
function isHeld(step: Step, { refused, keptGroups }: GatewayDesire): boolean {
  const { TargetGroupArn: arn } = step.input as { readonly TargetGroupArn?: unknown };
  return (typeof step.by === "string" && refused.has(step.by)) || (isStepOf(step, deleteTargetGroup) && keptGroups.has(String(arn)));
}

/** A step about a target group that routes share says which. */
function withUsers(step: Step, { model, sharedBy }: GatewayDesire): Step {
  const group = model.targetGroups.find(({ by, name }) => by !== undefined && by === step.by && sharedBy.has(name));
  return group ? { ...step, why: `${step.why}; ${usersText(sharedBy.get(group.name)!)}` } : step;
}

/**
 * The load balancers that carry the Gateway's marks, the one whose address is published first. Where there is none, and the status
 * names one of this account, its tags may have been written a moment ago: they are read anew before another one is made.
 */
async function findOwn(
  { view, status }: SeenGateway,
  { inventory, flavour, settings }: SurveyContext,
  ask: Ask,
): Promise<readonly FoundBalancer[]> {
  const owner = ownerOf(view, flavour, settings);
  const published = status.addresses.map(({ value }) => value);
  const isPublished = ({ hostname }: { readonly hostname: string }) => published.includes(hostname);
  const find = async () => (await findLoadBalancers(owner, inventory, reconcileAges, ask)).found as readonly FoundBalancer[];
  let found = await find();
  if (found.length === 0 && published.length > 0) {
    const all = await inventory.loadBalancers.all(reconcileAges.presentMs, ask, owner.key);
    const named = all.filter((lb) => isPublished({ hostname: hostnameOf(lb) })).map(({ LoadBalancerArn = "" }) => LoadBalancerArn);
    if (named.length === 0) return found;
    const groups = await inventory.targetGroups.all(reconcileAges.presentMs, ask, owner.key);
    const behind = groups.filter((group) => named.some((arn) => isBehind(group, arn)));
    for (const arn of [...named, ...behind.map(({ TargetGroupArn = "" }) => TargetGroupArn)]) inventory.touchTags(arn);
    found = await find();
  }
  return found.toSorted((a, b) => Number(isPublished(b)) - Number(isPublished(a)));
}

const mentionsAttributes = ({ defaultConfiguration, routeConfigurations = [] }: TargetGroupConfiguration) =>
  [defaultConfiguration, ...routeConfigurations.map(({ targetGroupProps }) => targetGroupProps)].some(
    (props) => (props?.targetGroupAttributes ?? []).length > 0,
  );

/** Ports whose listeners have attributes that are asked for. */
const attributePorts = ({ config }: GatewayWish) =>
  (config.listenerConfigurations ?? []).flatMap(({ protocolPort, listenerAttributes = [] }) =>
    listenerAttributes.length > 0 ? [Number(protocolPort.split(":")[1])] : [],
  );

/** The listeners that stand, as each kind of load balancer sees them. */
const standing = {
  alb: ({ loadBalancer }: SeenApplication): readonly StandingListener[] =>
    (loadBalancer?.listeners ?? []).map((listener) => ({
      ...listener,
      certificates: [...(listener.certificate ? [listener.certificate] : []), ...listener.furtherCertificates],
    })),
  nlb: ({ loadBalancer }: SeenNetwork): readonly StandingListener[] =>
    (loadBalancer?.listeners ?? []).map((listener) => ({
      ...listener,
      certificates: [...(listener.certificate ? [listener.certificate] : []), ...(listener.kept?.furtherCertificates ?? [])],
      rules: [],
    })),
};

/** ARNs of target groups that somebody else made. */
function givenGroups(model: ApplicationLoadBalancer | NetworkLoadBalancer): readonly string[] {
  const listeners: readonly (ApplicationListener | NetworkListener)[] = model.listeners;
  const actions = listeners.flatMap((listener): readonly Action[] =>
    "forward" in listener ? [listener.forward] : [...listener.defaultActions, ...listener.rules.flatMap((rule) => rule.actions)],
  );
  return actions.flatMap((action) => (action.kind === "forward" ? action.to.flatMap(({ arn }) => arn ?? []) : []));
}
