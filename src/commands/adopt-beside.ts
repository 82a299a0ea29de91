/**
 * The adoption of a load balancer that cannot change hands: a second Service with the load balancer class is made beside the
 * first, names are moved to its address, and the first lets its load balancer go when clients have left it.
 */
import { services } from "../kube/builtin.ts";
import type { Stored } from "../kube/resource.ts";
import type { Service } from "../kube/types.ts";
import { isServing } from "../loadbalancers/kind.ts";
import { serviceOfManifest } from "../loadbalancers/service/manifest.ts";
import { taskOf } from "../loadbalancers/service/seen.ts";
import { serviceState } from "../loadbalancers/service-state.ts";
import type { Clock } from "../runtime/world.ts";
import type { AdoptionPlan, AdoptionStep } from "./adopt-plan.ts";
import { type Live, NotPossible } from "./live.ts";
import { type LiveClassServices, openClassServices } from "./live-class.ts";

/** On the second Service: the name of the first. */
const adoptsAnnotation = "service.fairlead.io/adopts";
const prefix = "service.beta.kubernetes.io/";
/** What others make names in DNS from. */
const namesPrefix = "external-dns.alpha.kubernetes.io/";

/** The Service that was made beside another. */
export type Beside = Stored<Service>;

export function besideOf({ metadata: { namespace, name } }: Stored<Service>, { stored }: Live): Beside | undefined {
  return stored.find(({ metadata }) => metadata.namespace === namespace && metadata.annotations?.[adoptsAnnotation] === name);
}

export interface BesideWish {
  readonly targetType: "instance" | "ip";
  readonly finish: boolean;
  /** Whether the load balancer that exists is internal. */
  readonly internal: boolean;
}

export async function planBeside(
  old: Stored<Service>,
  beside: Beside | undefined,
  { targetType, finish, internal }: BesideWish,
  live: Live,
  clock: Clock,
): Promise<AdoptionPlan> {
  const key = keyOf(old);
  if (beside === undefined) {
    if (finish) throw new NotPossible(`nothing was made beside Service ${key}: run the command without --finish first`);
    return planCreation(old, targetType, internal, live, clock);
  }
  const made = `${beside.metadata.namespace}/${beside.metadata.name}`;
  const isLetGo = taskOf(serviceState(old)).kind !== "ensure";
  const title = `service ${key}: Service ${made} has been made in its place`;
  const nothing = { title, problems: [], warnings: [], steps: [], later: [] };
  if (isLetGo) return { ...nothing, next: `It is over: ${made} serves, and the controller manager deletes what ${key} had.` };
  const address = beside.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
  const waits = address === "" ? "it has no address yet" : await unserved(beside, await openClassServices(live, clock), live);
  if (waits !== undefined) {
    return {
      ...nothing,
      problems: finish ? [`${made} does not serve yet: ${waits}`] : [],
      next: `Wait: ${waits}. See: fairlead explain service/${made}`,
    };
  }
  const former = old.status?.loadBalancer?.ingress?.[0]?.hostname ?? "nothing";
  const names = namesOf(old);
  if (names.length > 0) {
    const problems = finish ? [`names still lead to ${former}: run the command without --finish first`] : [];
    return {
      ...nothing,
      problems,
      steps: finish ? [] : moved(old, beside, names, live),
      next: `Names follow to ${address}. When clients have left ${former}: fairlead adopt service/${key} --finish`,
    };
  }
  if (!finish) {
    const next = `Point your names from ${former} to ${address}. When clients have left the former: fairlead adopt service/${key} --finish`;
    return { ...nothing, next };
  }
  return {
    ...nothing,
    steps: [letGo(old, former, live)],
    next: `The controller manager deletes the load balancer of ${key}; ${made} serves.`,
  };
}

async function planCreation(
  old: Stored<Service>,
  targetType: "instance" | "ip",
  internal: boolean,
  live: Live,
  clock: Clock,
): Promise<AdoptionPlan> {
  const key = keyOf(old);
  const { settings } = await openClassServices(live, clock);
  const manifest = manifestBeside(old, settings.loadBalancerClass, targetType, internal);
  const { namespace = "", name = "" } = manifest.metadata ?? {};
  if (live.stored.some(({ metadata }) => metadata.namespace === namespace && metadata.name === name))
    throw new NotPossible(`there is a Service ${namespace}/${name} already, which was not made for this: rename or delete it`);
  const ofClass = await openClassServices(live, clock, { services: [manifest] });
  const preview = await ofClass.preview(serviceOfManifest(manifest, undefined, namespace));
  const problems = (preview?.problems ?? []).map(({ message }) => message);
  const create: AdoptionStep = {
    what: `create Service ${namespace}/${name} of class ${settings.loadBalancerClass}, ${internal ? "internal" : "internet-facing"}`,
    why: `a classic load balancer, or one with a security group of the controller manager's, cannot change hands`,
    effect: "create",
    async carryOut() {
      await live.kube.create(services, manifest, { signal: live.ask.signal });
    },
  };
  return {
    title: `service ${key}: a second Service gets a network load balancer beside the one that exists; the address changes`,
    problems,
    warnings: (preview?.warnings ?? []).map(({ message }) => message),
    steps: problems.length > 0 ? [] : [create],
    later: problems.length > 0 ? [] : (preview?.steps ?? []),
    next: `When ${namespace}/${name} serves, run the command again: it says how names are moved.`,
  };
}

const notCopied = ["type", "nlb-target-type", "scheme", "internal", "name"].map((name) => `${prefix}aws-load-balancer-${name}`);

/** The same ports, pods and annotations; what the API server gave to the first is given to it anew. */
function manifestBeside(
  { metadata, spec = {} }: Stored<Service>,
  loadBalancerClass: string,
  targetType: string,
  internal: boolean,
): Service {
  const kept = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(prefix) && !notCopied.includes(key));
  const { selector, externalTrafficPolicy, internalTrafficPolicy, ipFamilies, ipFamilyPolicy, loadBalancerSourceRanges } = spec;
  return {
    metadata: {
      namespace: metadata.namespace ?? "",
      name: `${metadata.name}-nlb`.slice(-63).replace(/^[^a-z]+/, ""),
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: {
        ...Object.fromEntries(kept),
        [`${prefix}aws-load-balancer-nlb-target-type`]: targetType,
        [`${prefix}aws-load-balancer-scheme`]: internal ? "internal" : "internet-facing",
        [adoptsAnnotation]: metadata.name,
      },
    },
    spec: {
      type: "LoadBalancer",
      loadBalancerClass,
      ...(selector && { selector }),
      ...(externalTrafficPolicy && { externalTrafficPolicy }),
      ...(internalTrafficPolicy && { internalTrafficPolicy }),
      ...(ipFamilies && { ipFamilies }),
      ...(ipFamilyPolicy && { ipFamilyPolicy }),
      ...(loadBalancerSourceRanges && { loadBalancerSourceRanges }),
      ports: (spec.ports ?? []).map(({ nodePort: _given, ...port }) => port),
    },
  };
}

/** Why clients cannot be sent to it yet; undefined when they can. */
async function unserved(beside: Beside, ofClass: LiveClassServices, { ask }: Live): Promise<string | undefined> {
  const preview = await ofClass.preview(serviceState(beside));
  const survey = preview?.survey;
  const found = survey?.seen.found;
  if (survey === undefined || found === undefined) return "its load balancer is not there yet";
  const health = await survey.seen.kind.health(found, survey.seen.seen, ofClass.inventory, ask);
  return isServing(health) ? undefined : "its targets are not healthy yet";
}

const keyOf = ({ metadata }: Stored<Service>) => `${metadata.namespace}/${metadata.name}`;

const namesOf = ({ metadata }: Stored<Service>) =>
  Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(namesPrefix));

/** The second gets the names before the first loses them. */
function moved(old: Stored<Service>, beside: Beside, names: readonly (readonly [string, string])[], live: Live): readonly AdoptionStep[] {
  const patch = async ({ metadata: { namespace = "", name, uid } }: Stored<Service>, annotations: object) => {
    await live.kube.patch(services, { namespace, name }, { merge: { metadata: { annotations } }, uid }, { signal: live.ask.signal });
  };
  const texts = names.map(([key, value]) => `${key}: ${value}`).join(", ");
  const why = "names lead to the new load balancer from then on";
  return [
    {
      what: `annotate Service ${keyOf(beside)} with ${texts}`,
      why,
      effect: "change",
      carryOut: () => patch(beside, Object.fromEntries(names)),
    },
    {
      what: `remove annotations ${names.map(([key]) => key).join(", ")} of Service ${keyOf(old)}`,
      why,
      effect: "change",
      carryOut: () => patch(old, Object.fromEntries(names.map(([key]) => [key, null]))),
    },
  ];
}

/** It stays for clients inside the cluster. */
function letGo(old: Stored<Service>, former: string, live: Live): AdoptionStep {
  const { namespace = "", name, uid, resourceVersion } = old.metadata;
  return {
    what: `make Service ${keyOf(old)} of type ClusterIP`,
    why: `the controller manager then deletes its load balancer, ${former}; inside the cluster the Service stays as it is`,
    effect: "delete",
    async carryOut() {
      const merge = { metadata: { resourceVersion }, spec: { type: "ClusterIP" } };
      await live.kube.patch(services, { namespace, name }, { merge, uid }, { signal: live.ask.signal });
    },
  };
}
