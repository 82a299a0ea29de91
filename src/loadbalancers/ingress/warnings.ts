/** What an author relies on in vain, though nothing is wrong enough to keep the Ingress from being served. Pure. */
import type { SeenApplication } from "../application/plan.ts";
import type { FoundNetwork } from "../network/find.ts";
import { annotationKey, gatedAnnotations, unknownAnnotations } from "./annotations.ts";
import type { Frontend } from "./frontend.ts";
import type { LoadBalancerWish } from "./load-balancer.ts";
import type { MemberOptions } from "./member.ts";
import type { SeenIngress } from "./seen.ts";
import type { IngressSettings } from "./settings.ts";
import type { GroupSurvey } from "./survey.ts";
import { keyOf } from "./view.ts";

export function warningsOn(
  { view: { annotations, ...view } }: SeenIngress,
  { desire, seen, certificates, front }: GroupSurvey,
  { gates }: Pick<IngressSettings, "gates">,
): readonly string[] {
  const { guards } = seen.seen as SeenApplication;
  const key = keyOf(view);
  const { waits, fault, arns = [] } = certificates.answers.get(key) ?? {};
  const isUnprotected = annotations[annotationKey("shield-advanced-protection")] && desire.model.guards?.shield && !guards?.isSubscribed;
  return [
    ...[...gatedAnnotations(annotations, gates), ...unknownAnnotations(annotations)].map(({ message }) => message),
    ...(desire.overruled.get(key) ?? []),
    ...(annotations[annotationKey("frontend-nlb-eip-allocations")] ? keptAddresses(desire.frontend, front) : []),
    ...(waits ? [waits] : []),
    ...(fault && arns.length > 0 ? [`${fault}; until then it is served with the certificate that it had`] : []),
    ...(isUnprotected ? ["Shield Advanced protects nothing here: the account has no subscription to it, or it may not be asked for"] : []),
  ];
}

/** AWS gives a load balancer that stands no other elastic IPs where it stands. */
function keptAddresses(wish: Frontend | undefined, front: FoundNetwork | undefined): readonly string[] {
  return (wish?.model.subnets ?? []).flatMap(({ subnet, allocation }) => {
    const zone = front?.zones.find((each) => each.subnet === subnet);
    if (zone === undefined || allocation === undefined || allocation === zone.allocation) return [];
    return [
      `the load balancer in front keeps ${zone.allocation ?? "AWS's address"} in ${subnet}: AWS changes no elastic IP to ${allocation} there`,
    ];
  });
}

type Effective = Pick<LoadBalancerWish, "attributes" | "capacity" | "ipv4IpamPool">;

/**
 * Of attributes, capacity and address pool the class of the first Ingress of a group decides: what other classes, and annotations
 * beside it, say is not used. By member, what they say that is not so.
 */
export function overruledBy(
  members: readonly MemberOptions[],
  first: string,
  effective: Effective,
  { gates }: Pick<IngressSettings, "gates">,
): ReadonlyMap<string, readonly string[]> {
  const inEffect = (what: string, value: string | number | undefined) => (value === undefined ? "" : `, and ${what} is ${value}`);
  const because = `the class of Ingress ${first}, the first of the group, decides`;
  const found = members.map(({ key, member: { params }, values }) => {
    const unused = (where: string, what: string, value: string | number, is: string | number | undefined) =>
      value === is ? [] : [`${where}: ${what} ${value} is not used: ${because}${inEffect(what, is)}`];
    const ofClass = `IngressClassParams ${params?.name}`;
    const capacity = params?.minimumLoadBalancerCapacity?.capacityUnits;
    const pool = params?.ipamConfiguration?.ipv4IPAMPoolId;
    const units = values["minimum-load-balancer-capacity"];
    const asked = Object.entries(values["load-balancer-attributes"] ?? {});
    return [
      key,
      [
        ...(params?.loadBalancerAttributes ?? []).flatMap((each) =>
          unused(ofClass, `load balancer attribute ${each.key}`, each.value, effective.attributes[each.key]),
        ),
        ...(gates.capacityReservation && capacity !== undefined ? unused(ofClass, "capacity", capacity, effective.capacity) : []),
        ...(pool ? unused(ofClass, "address pool", pool, effective.ipv4IpamPool) : []),
        ...asked.flatMap(([name, value]) =>
          unused(annotationKey("load-balancer-attributes"), `load balancer attribute ${name}`, value, effective.attributes[name]),
        ),
        ...(units === undefined ? [] : unused(annotationKey("minimum-load-balancer-capacity"), "capacity", units, effective.capacity)),
        ...(values["ipam-ipv4-pool-id"]
          ? unused(annotationKey("ipam-ipv4-pool-id"), "address pool", values["ipam-ipv4-pool-id"], effective.ipv4IpamPool)
          : []),
      ],
    ] as const;
  });
  return new Map(found.filter(([, warnings]) => warnings.length > 0));
}
