import { type Elbv2, loadBalancersOf, type Target, type TargetGroup } from "./state.ts";

/** Where a target is reached: an instance by the first address of its first interface, an address as it is. */
export interface TargetPlace {
  readonly instanceId: string | undefined;
  readonly address: string;
}

/** The place of a target of this group. */
export function placeOf({ account: { ec2 } }: Elbv2, group: Pick<TargetGroup, "ipAddressType">, { id }: Pick<Target, "id">): TargetPlace {
  const instance = ec2.instances.get(id);
  if (instance === undefined) return { instanceId: undefined, address: id };
  const first = ec2.interfaces.get(instance.interfaceIds[0] ?? "");
  const addresses = group.ipAddressType === "ipv6" ? first?.ipv6Addresses : first?.privateAddresses;
  return { instanceId: instance.id, address: addresses?.[0] ?? "" };
}

/** The interfaces of the load balancers that use a target group: who knocks at its targets. */
export function interfacesOf(elbv2: Elbv2, groupArn: string): readonly string[] {
  const owners = loadBalancersOf(elbv2, groupArn).flatMap((arn) => elbv2.loadBalancers.get(arn) ?? []);
  return owners.flatMap(({ zones }) => zones.map(({ interfaceId }) => interfaceId));
}
