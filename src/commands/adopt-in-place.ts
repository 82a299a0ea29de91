/** The adoption of a network load balancer: it stays, keeps its address, and changes hands. */
import { services } from "../kube/builtin.ts";
import type { Stored } from "../kube/resource.ts";
import type { Service } from "../kube/types.ts";
import { type Adoptee, type NodeGroup, planAdoption } from "../loadbalancers/adoption.ts";
import { mentions } from "../loadbalancers/groups/node-rules.ts";
import { presentAges } from "../loadbalancers/inventory.ts";
import type { Tags } from "../loadbalancers/model.ts";
import { network } from "../loadbalancers/network/kind.ts";
import type { SeenNetwork } from "../loadbalancers/network/plan.ts";
import { ownerOf, serviceTag } from "../loadbalancers/service/owner.ts";
import { taskOf } from "../loadbalancers/service/seen.ts";
import { type ServiceSurvey, surveyService } from "../loadbalancers/service/survey.ts";
import { parts, trackingTags } from "../loadbalancers/service-class/names.ts";
import { type SeenService, serviceState } from "../loadbalancers/service-state.ts";
import { possibleRules } from "../loadbalancers/targets/networking.ts";
import type { Clock } from "../runtime/world.ts";
import { type AdoptionPlan, type AdoptionStep, awsStep } from "./adopt-plan.ts";
import { type Live, NotPossible } from "./live.ts";
import { openClassServices } from "./live-class.ts";

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

/** A load balancer that has to be made anew: AWS turns no classic load balancer into a network load balancer. */
export interface NotInPlace {
  readonly internal: boolean;
}

export async function planInPlace(stored: Stored<Service>, live: Live, clock: Clock): Promise<AdoptionPlan | NotInPlace> {
  const service = serviceState(stored);
  const key = `${service.view.namespace}/${service.view.name}`;
  const task = taskOf(service);
  if (task.kind === "leave-to-others" || service.view.loadBalancerClass !== undefined) return takenOver(key);
  if (task.kind !== "ensure")
    throw new NotPossible(`Service ${key} has no load balancer of the controller manager's: it is not of type LoadBalancer, or wants none`);
  const survey = await surveyService(service, task.of, live, live.ask);
  const { found, seen, kind, other } = survey;
  if (other !== undefined)
    throw new NotPossible(`Service ${key} is being moved from a ${other.kind} load balancer: wait until that is over`);
  if (found === undefined) throw new NotPossible(`Service ${key} has no load balancer yet: create it with the load balancer class instead`);
  if (kind !== network || seen.managedGroup?.owned) return { internal: found.internal };
  return planNetworkAdoption(service, stored, survey, live, clock);
}

const takenOver = (key: string): AdoptionPlan => ({
  title: `service ${key}: the controller manager does not serve it`,
  problems: [],
  warnings: [],
  steps: [],
  later: [],
  next: `There is nothing to adopt. See: fairlead explain service/${key}`,
});

async function planNetworkAdoption(
  service: SeenService,
  stored: Stored<Service>,
  survey: ServiceSurvey,
  live: Live,
  clock: Clock,
): Promise<AdoptionPlan> {
  const { ask } = live;
  const key = `${service.view.namespace}/${service.view.name}`;
  const found = survey.found!;
  const changed = handedOver(stored, found.internal);
  const { settings } = await openClassServices(live, clock);
  const things = await adoptees(service, survey, settings.cluster, live);
  const tags = new Map(things.map(({ arn, tags: present, marks }) => [arn, withoutFormer({ ...present, ...marks })]));
  const ofClass = await openClassServices(live, clock, { services: [changed], tags });
  const preview = await ofClass.preview(serviceState(changed));
  if (preview === undefined)
    throw new NotPossible(`the load balancer controller would not serve Service ${key}: see its --load-balancer-class`);
  const marks = network.ruleMarks([found.name], []);
  const wanted = (preview.survey?.desire.bindings ?? []).flatMap(({ spec }) => possibleRules(spec));
  const steps = planAdoption({
    things,
    formerMark: serviceTag,
    nodeGroups: await nodeGroups(marks, live),
    formerDescriptions: marks.descriptions,
    wanted,
  });
  const problems = preview.problems.map(({ message }) => message);
  const annotations = changed.metadata?.annotations ?? {};
  const said = Object.keys(annotations).filter((name) => annotations[name] !== stored.metadata.annotations?.[name]);
  const annotate: AdoptionStep = {
    what: `annotate Service ${key} with ${said.map((name) => `${name}: ${annotations[name]}`).join(", ")}`,
    why: "the load balancer controller serves it from then on",
    effect: "change",
    async carryOut() {
      const { namespace, name, uid, resourceVersion } = stored.metadata;
      const merge = { metadata: { resourceVersion, annotations: Object.fromEntries(said.map((each) => [each, annotations[each]])) } };
      await live.kube.patch(services, { namespace: namespace ?? "", name }, { merge, uid }, { signal: ask.signal });
    },
  };
  return {
    title: `service ${key}: network load balancer ${found.name} is adopted where it stands, and keeps its address ${found.hostname}`,
    problems,
    warnings: preview.warnings.map(({ message }) => message),
    steps: problems.length > 0 ? [] : [...steps.map((step) => awsStep(step, live)), annotate],
    later: problems.length > 0 ? [] : preview.steps,
    next: `The load balancer controller does the rest. See: fairlead explain service/${key}`,
  };
}

/** The Service as it is to be: by annotation, because the API server lets nobody give a class to one that has a load balancer. */
function handedOver(stored: Stored<Service>, internal: boolean): Stored<Service> {
  const annotations = {
    ...stored.metadata.annotations,
    [`${prefix}type`]: "external",
    [`${prefix}nlb-target-type`]: "instance",
    [`${prefix}scheme`]: internal ? "internal" : "internet-facing",
  };
  return { ...stored, metadata: { ...stored.metadata, annotations } };
}

/** The load balancer and its target groups, each with the marks by which the load balancer controller knows it. */
async function adoptees(service: SeenService, { found, seen }: ServiceSurvey, cluster: string, live: Live): Promise<readonly Adoptee[]> {
  const { cloud, ask } = live;
  const { loadBalancer, targetGroups } = seen as SeenNetwork;
  const owner = ownerOf(service, live);
  const portOf = (arn: string) => loadBalancer?.listeners.find(({ actions }) => JSON.stringify(actions).includes(arn))?.port ?? 0;
  const listed = [
    { what: `load balancer ${found!.name}`, arn: loadBalancer?.arn ?? "", part: parts.loadBalancer },
    ...targetGroups
      .filter(({ arn }) => portOf(arn) !== 0)
      .map(({ name, arn }) => ({ what: `target group ${name}`, arn, part: parts.targetGroup(service.view, portOf(arn)) })),
  ];
  return Promise.all(
    listed.map(async ({ what, arn, part }) => {
      const tags = (await cloud.loadBalancers.tags(arn, ask)) ?? {};
      const marks = trackingTags(cluster, service.view, part);
      const isBegun = Object.entries(marks).every(([key, value]) => tags[key] === value);
      if (!owner.hasMarks(tags) && !isBegun)
        throw new NotPossible(
          `${what} does not carry the tags of this cluster and Service: it is not the controller manager's to hand over`,
        );
      return { what, arn, tags, marks };
    }),
  );
}

async function nodeGroups(marks: Parameters<typeof mentions>[1], { inventory, cloud, ask }: Live): Promise<readonly NodeGroup[]> {
  const groups = await inventory.groups.listed(presentAges.absentMs, ask);
  return Promise.all(
    groups
      .filter((group) => mentions(group, marks))
      .map(async ({ id, name }) => ({ id, name, rules: await cloud.securityGroups.rules(id, ask) })),
  );
}

const withoutFormer = ({ [serviceTag]: _former, ...rest }: Tags): Tags => rest;
