/** Classic load balancers: instances behind one load balancer, and a security group that the nodes let everything in from. */
import { modifyAttributes } from "../../aws/elb-actions.ts";
import { isStepOf } from "../../aws/plan.ts";
import { marksOfSource } from "../groups/claims.ts";
import { presentAges, reconcileAges } from "../inventory.ts";
import { hostnameOf, type LoadBalancerKind, namesWith } from "../kind.ts";
import { type ClassicLoadBalancer, wantedGroups } from "../model.ts";
import { classicSecurityGroupName } from "../names.ts";
import { accepted, registrable } from "../targets.ts";
import { type FoundClassic, foundClassic } from "./find.ts";
import { classicInstances, seeAttributes, seeClassic } from "./observe.ts";
import { planClassic, planClassicDeletion, type SeenClassic } from "./plan.ts";
import { planInstances } from "./plan-instances.ts";

export const classic: LoadBalancerKind<ClassicLoadBalancer, SeenClassic, FoundClassic> = {
  name: "classic",

  async find(name, inventory, ages, ask) {
    const description = await inventory.classic.get(name, ages, ask);
    return description && foundClassic(description);
  },
  // No door knows those of the first generation by their marks alone.
  findMarked: async () => [],
  async namesBehind(hostname, { classic: all }, maxAgeMs, ask, by) {
    const listed = await all.all(maxAgeMs, ask, by);
    return namesWith(hostname, listed);
  },
  tags: ({ name }, { cloud }, ask) => cloud.classicLoadBalancers.tags(name, ask),
  targetGroups: async () => [],
  managedGroupName: (_owner, loadBalancer) => classicSecurityGroupName(loadBalancer),

  async observe(found, options, { cloud, classicAttributes }, ask) {
    if (found === undefined) return { kind: "classic" };
    const { name, description } = found;
    const [attributes, tags] = await Promise.all([
      classicAttributes.get(attributesKey(name, options.attributesKey), options.attributesAgeMs, async () =>
        seeAttributes((await cloud.classicLoadBalancers.attributes(name, ask)) ?? {}),
      ),
      options.tags ? cloud.classicLoadBalancers.tags(name, ask) : undefined,
    ]);
    return { kind: "classic", loadBalancer: seeClassic(description, attributes, tags) };
  },
  async observeTargets({ description }) {
    return { kind: "classic", loadBalancer: { ...nothingElse, instances: classicInstances(description) } };
  },
  withoutStrangers: async (seen) => seen,
  async health({ name }, _seen, { cloud }, ask) {
    const states = await cloud.classicLoadBalancers.health(name, ask);
    const targets = states.map(({ InstanceId: id = "", State: state = "", Description: text = "" }) => ({
      id,
      healthy: state === "InService",
      state,
      why: text === "N/A" ? "" : text,
    }));
    return [{ where: "", targets }];
  },

  withTargets: (model) => model,
  plan(model, seen, vpc, { subnets }) {
    const zones = Object.fromEntries(subnets.map(({ id, zone }) => [id, zone]));
    return planClassic(model, vpc, { ...seen, zones });
  },
  planDeletion: (found, askedBy) => planClassicDeletion(found.name, { loadBalancer: found }, askedBy),
  registered,
  planTargets: (name, seen, targets, askedBy) =>
    planInstances({ name, askedBy, instances: registrable(targets, registered(seen)) }, seen.loadBalancer?.instances ?? []),

  afterParts(model, seen) {
    const made = { ...model, securityGroups: [], listeners: [], policies: { names: [], backends: {} }, instances: [] };
    return { kind: "classic", loadBalancer: seen.loadBalancer ?? made };
  },
  async refreshTargets(name, seen, inventory, ask) {
    const description = await inventory.classic.get(name, presentAges, ask);
    const instances = description ? classicInstances(description) : [];
    return { ...seen, loadBalancer: { ...(seen.loadBalancer ?? nothingElse), instances } };
  },
  afterTargets(seen, targets, refused) {
    const instances = accepted(registrable(targets, registered(seen)), refused);
    return { ...seen, loadBalancer: { ...(seen.loadBalancer ?? nothingElse), instances } };
  },
  hostnameIn: (output) => hostnameOf(output as { readonly DNSName?: string }) || undefined,
  rememberAttributes({ model, steps, isNew }, key, { classicAttributes }, now) {
    const isWritten = isNew || steps.some((step) => isStepOf(step, modifyAttributes));
    if (isWritten) classicAttributes.offer(attributesKey(model.name, key), model.attributes, now);
  },
  forgetAttributes: (name, key, { classicAttributes }) => classicAttributes.invalidate(attributesKey(name, key)),

  touch: (name, inventory, by) => inventory.classic.touch(name, by),
  touchTargets: (name, _seen, inventory, by) => inventory.classic.touch(name, by),
  touchParts() {},

  ruleMarks: marksOfSource,
  async ruleSources(model, { managedGroup }, _found, made, inventory, ask) {
    const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
    const sources = wantedGroups(model).flatMap((entry) => {
      const id = entry.kind === "given" ? entry.id : (managedGroup?.id ?? made.get(`security group ${entry.group.name}`));
      return id === undefined ? [] : [{ id, ours: entry.kind === "managed" }];
    });
    const isTagged = ({ id, ours }: { id: string; ours: boolean }) =>
      ours || inventory.mine(groups.find((group) => group.id === id)?.tags ?? {});
    const source = sources.find(isTagged) ?? sources[0];
    const own = new Set([...(managedGroup?.owned ? [managedGroup.id] : []), ...sources.filter(({ ours }) => ours).map(({ id }) => id)]);
    return { ...(source && { source }), ownGroups: [...own], subnetCidrs: [] };
  },
  async usage(name, inventory, ask) {
    const standing = await inventory.classic.get(name, reconcileAges, ask);
    return { ports: [], sources: standing?.SecurityGroups ?? [] };
  },

  describe: ({ listeners, healthCheck }) => [
    ...listeners.map(
      ({ protocol, port, instanceProtocol, instancePort }) => `${protocol}:${port} to ${instanceProtocol}:${instancePort} of the nodes`,
    ),
    `health check ${healthCheck.target} every ${healthCheck.interval} s`,
  ],
  plannedTargetGroups: () => [],
};

function registered({ loadBalancer }: SeenClassic): ReadonlySet<string> {
  return new Set(loadBalancer?.instances ?? []);
}

/** A load balancer, and everything asked of it that attributes follow from. */
const attributesKey = (name: string, key: string) => `${name} ${key}`;

/** Of a load balancer whose targets alone are of interest. */
const nothingElse: NonNullable<SeenClassic["loadBalancer"]> = {
  subnets: [],
  securityGroups: [],
  listeners: [],
  instances: [],
  attributes: { accessLog: { enabled: false }, connectionDraining: { enabled: false }, idleTimeout: 60, crossZone: false },
  policies: { names: [], backends: {} },
};
