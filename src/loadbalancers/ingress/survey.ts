/** One look at a group: what its Ingresses ask for, what stands, and the steps between them. Changes nothing. */
import type { Ask } from "../../aws/ask.ts";
import type { FoundApplication } from "../application/find.ts";
import { application } from "../application/kind.ts";
import type { SeenApplication } from "../application/plan.ts";
import { findLoadBalancers } from "../find.ts";
import { reconcileAges } from "../inventory.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { type Survey, survey } from "../survey.ts";
import { noTargets } from "../targets.ts";
import { annotationKey } from "./annotations.ts";
import { secretNames } from "./auth.ts";
import type { GroupContext } from "./context.ts";
import { desireGroup, type GroupDesire, type GroupSources } from "./desire.ts";
import type { Group } from "./groups.ts";
import { lookUp } from "./look-ups.ts";

export interface GroupSurvey {
  readonly seen: Survey;
  readonly desire: GroupDesire;
}

/** Looks, and changes nothing. */
export async function surveyGroup(group: Group, owner: LoadBalancerOwner, context: GroupContext, ask: Ask): Promise<GroupSurvey> {
  const { inventory, settings, secrets } = context;
  const { found: standing } = await findLoadBalancers(owner, inventory, reconcileAges, ask);
  const backendGroup = await context.backendGroup.id(ask);
  const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
  await secrets.follow(owner.key, secretKeys(group, context), ask.signal);
  const lookUps = await lookUp(group, context, ask);
  let desire: GroupDesire | undefined;
  const seen = await survey(
    {
      kind: application,
      standing,
      newName: owner.ownName,
      targets: noTargets,
      observe: {
        owner,
        tags: true,
        targetGroupAttributes: mentions(group, context, "target-group-attributes"),
        attributesKey: attributesKey(group),
        attributesAgeMs: context.attributesAgeMs,
        managed: {
          attributes:
            mentions(group, context, "load-balancer-attributes") || group.members.some(({ params }) => params?.loadBalancerAttributes),
          listenerAttributes: group.members.flatMap(listenerAttributePorts),
          capacity:
            mentions(group, context, "minimum-load-balancer-capacity") ||
            group.members.some(({ params }) => params?.minimumLoadBalancerCapacity),
        },
      },
      desire(around) {
        const sources: GroupSources = {
          settings,
          network: around.network,
          groups,
          certificates: lookUps.certificates,
          ...(backendGroup !== undefined && { backendGroup }),
          ...(around.standing && { standing: around.standing as FoundApplication }),
          isForeignTag: (key) => owner.marks?.isForeign(key) ?? false,
          trustStore: (name) => lookUps.trustStores.get(name),
          service: (namespace, name) => context.services.get(`${namespace}/${name}`)?.view,
          secret: (namespace, name) => secrets.read(namespace, name, owner.key),
          targetGroupArn: (name) => lookUps.targetGroups.get(name),
          seen: around.seen as SeenApplication,
        };
        desire = desireGroup(group, around.standing?.name, context.memory, sources);
        const { model, subnets, problems } = desire;
        return {
          model,
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
  return { seen, desire: desire! };
}

/** Whether anything says something about these: only then are they read. */
function mentions({ members }: Group, { services }: GroupContext, name: Parameters<typeof annotationKey>[0]): boolean {
  const key = annotationKey(name);
  const namespaces = new Set(members.map(({ ingress }) => ingress.namespace));
  return (
    members.some(({ ingress }) => ingress.annotations[key] !== undefined) ||
    services.list().some(({ view }) => namespaces.has(view.namespace) && view.annotations[key] !== undefined)
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

function secretKeys({ members }: Group, { services }: GroupContext): ReadonlySet<string> {
  const namespaces = new Set(members.map(({ ingress }) => ingress.namespace));
  const ofServices = services.list().filter(({ view }) => namespaces.has(view.namespace));
  return new Set([
    ...members.flatMap(({ ingress }) => secretNames([ingress.annotations]).map((name) => `${ingress.namespace}/${name}`)),
    ...ofServices.flatMap(({ view }) => secretNames([view.annotations]).map((name) => `${view.namespace}/${name}`)),
  ]);
}
