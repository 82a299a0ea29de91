/** What a Node runs on, as AWS describes it: an instance, or the network interface that is all there is to see of Fargate. Pure. */
import type { Instance, InstanceState, NetworkInterface } from "../aws/instance.ts";
import { providerIdOf } from "../identity/provider-id.ts";
import { canonicalAddress, cloudAddresses, type IpFamily, type NodeAddress } from "./addresses.ts";

export type Machine =
  | { readonly kind: "instance"; readonly instance: Instance }
  | { readonly kind: "fargate"; readonly networkInterface: NetworkInterface };

/** Empty for Fargate, which has no instance type. */
export function typeOf(machine: Machine): string {
  return machine.kind === "instance" ? machine.instance.type : "";
}

export function zoneOf(machine: Machine): string | undefined {
  return machine.kind === "instance" ? machine.instance.zone : machine.networkInterface.zone;
}

/** The provider ID a Node on this machine gets when it has none; undefined where it must bring its own. */
export function providerIdFor(machine: Machine): string | undefined {
  if (machine.kind === "fargate" || !machine.instance.zone) return undefined;
  return providerIdOf(machine.instance.zone, machine.instance.id);
}

/** Every address AWS knows of the machine, family by family in the configured order. */
export function addressesOf(machine: Machine, families: readonly IpFamily[]): NodeAddress[] {
  if (machine.kind === "instance") return cloudAddresses(machine.instance, families);
  const { networkInterface } = machine;
  return families.flatMap((family) => {
    const ip = family === "ipv4" ? networkInterface.privateIp : networkInterface.ipv6Addresses[0];
    if (ip === undefined) return [];
    const internal = { type: "InternalIP", address: canonicalAddress(ip, networkInterface.id) };
    return networkInterface.privateDnsName ? [internal, { type: "InternalDNS", address: networkInterface.privateDnsName }] : [internal];
  });
}

/** States in which a machine will not come back. */
export function isEnding(state: InstanceState | undefined): boolean {
  return state === "shutting-down" || state === "terminated";
}
