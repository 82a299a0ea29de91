/** From a Service and its surroundings to the load balancer it asks for. Pure: the same inputs always give the same model. */
import type { ClusterId } from "../../identity/cluster-id.ts";
import { hasClusterTag, ownershipTags } from "../../identity/ownership.ts";
import type { Found } from "../kind.ts";
import type { Problem, Tags } from "../model.ts";
import { discoverSubnets, type Network, namedSubnets, type Subnet, type SubnetChoice } from "../subnets.ts";
import type { Desire, Surroundings } from "../survey.ts";
import { annotationKey, sourceRangesAnnotation } from "./annotations.ts";
import { desireClassic } from "./desire-classic.ts";
import { desireNetwork, mappingProblems, nodeAccess } from "./desire-network.ts";
import { type Kind, kindTable } from "./kinds.ts";
import type { ServiceOptions } from "./options.ts";
import { serviceTag } from "./owner.ts";
import { usablePorts } from "./ports.ts";
import { sourceRanges } from "./source-ranges.ts";
import type { LoadBalancerSettings, ServiceView } from "./view.ts";
import type { Wish } from "./wish.ts";

export interface ServiceSurroundings extends Surroundings {
  readonly options: ServiceOptions;
  readonly settings: LoadBalancerSettings;
  readonly cluster: ClusterId;
}

/** The load balancer, and what the nodes must let in for it; for one that has yet to be made more may be wrong. */
const desires: Readonly<Record<Kind, (wish: Wish, isNew: boolean) => Pick<Desire, "model" | "access" | "problems">>> = {
  classic: (wish) => ({ ...desireClassic(wish), access: { kind: "from-group", loadBalancer: wish.name } }),
  network: (wish, isNew) => {
    const { model, problems } = desireNetwork(wish);
    return { model, access: nodeAccess(model, wish), problems: [...problems, ...(isNew ? mappingProblems(wish) : [])] };
  },
};

export function desireService(view: ServiceView, kind: Kind, around: ServiceSurroundings): Desire {
  const { options, network, cluster, standing } = around;
  const ports = usablePorts(view, kind);
  const ranges = sourceRanges(view.sourceRanges, view.annotations[sourceRangesAnnotation]);
  const moved = standing !== undefined && standing.internal !== options.internal;
  const named = options.subnets && namedSubnets(options.subnets, network.subnets);
  const choice = named?.kind !== "none" && moved ? keptSubnets(standing, network) : (named ?? discover(options, network, cluster));
  const subnets = choice.kind === "chosen" ? choice.subnets : [];
  const dualStack = dualStackFor(view, kind, subnets);
  const tags = tagsFor(view, options, cluster);
  const wish: Wish = {
    name: around.name,
    service: view,
    options,
    settings: around.settings,
    ports: ports.ports,
    subnets: subnets.map(({ id }) => id),
    dualStack: dualStack.use,
    instances: around.instances,
    sourceRanges: ranges.cidrs,
    tags: tags.tags,
    groupTags: { ...tags.given, ...tags.ownership },
    ownership: tags.ownership,
  };
  const before = [...ports.problems, ...ranges.problems];
  const missing = choice.kind === "none" ? [{ message: choice.message }] : [];
  const warnings = [...ports.warnings, ...tags.warnings, ...dualStack.warnings, ...(moved ? [schemeWarning(options.internal)] : [])];
  // Without subnets their number says nothing about the addresses given.
  const isNew = choice.kind !== "none" && standing === undefined;
  const { model, access, problems } = desires[kind](wish, isNew);
  return { subnets: choice, model, access, problems: [...before, ...problems, ...missing], warnings };
}

function discover(options: ServiceOptions, network: Network, cluster: ClusterId): SubnetChoice {
  return discoverSubnets(network, options.internal, { mine: (tags) => hasClusterTag(tags, cluster) });
}

/** The scheme cannot be changed, so the subnets that fit it stay. */
function keptSubnets(standing: Pick<Found, "subnets">, network: Network): SubnetChoice {
  const subnets = network.subnets.filter(({ id }) => standing.subnets.includes(id));
  const why = "the load balancer is already in it, and its scheme cannot be changed";
  return { kind: "chosen", subnets, verdicts: subnets.map((subnet) => ({ subnet, taken: true, why })) };
}

function schemeWarning(internal: boolean): Problem {
  const annotation = annotationKey("internal");
  const wanted = internal ? "internal" : "internet-facing";
  return {
    annotation,
    message: `annotation ${annotation} asks for an ${wanted} load balancer, but AWS cannot change the existing one: delete the Service and create it again`,
  };
}

/** Both families where the Service has both and AWS can: else IPv4, and a word about what is missing. */
function dualStackFor(view: ServiceView, kind: Kind, subnets: readonly Subnet[]): { use: boolean; warnings: readonly Problem[] } {
  const asked = view.ipFamilies.includes("IPv6") && view.ipFamilies.includes("IPv4");
  if (!asked || !kindTable[kind].dualStack) return { use: false, warnings: [] };
  const without = subnets.filter(({ ipv6Cidrs }) => ipv6Cidrs.length === 0).map(({ id }) => id);
  if (without.length === 0) return { use: true, warnings: [] };
  const message = `the Service has both address families, but ${without.join(", ")} have no IPv6 block: the load balancer is IPv4 only`;
  return { use: false, warnings: [{ message }] };
}

/** Tags that are given, those that say whose something is, and all that a load balancer or target group carries. */
export function tagsFor(view: Pick<ServiceView, "namespace" | "name">, options: ServiceOptions, cluster: ClusterId) {
  const ownership: Tags = ownershipTags(cluster, "owned");
  const reserved = Object.keys(options.tags).filter((key) => key === serviceTag || key in ownership);
  const given = Object.fromEntries(Object.entries(options.tags).filter(([key]) => !reserved.includes(key)));
  const annotation = annotationKey("additional-resource-tags");
  const warnings = reserved.map((key) => ({
    annotation,
    message: `annotation ${annotation}: ${key} marks the owner of the load balancer of ${view.namespace}/${view.name} and cannot be set`,
  }));
  return { given, ownership, warnings, tags: { ...given, [serviceTag]: `${view.namespace}/${view.name}`, ...ownership } };
}
