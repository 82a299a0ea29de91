/** DNS names that EC2 gives. */
import type { Ec2, NameOptions } from "./state.ts";

/** `ip-10-0-0-4.ec2.internal`, or with the region outside us-east-1. */
export function privateIpName(ec2: Ec2, address: string): string {
  return `ip-${address.replaceAll(".", "-")}.${privateDomain(ec2)}`;
}

/** The private host name of an instance: made of its address or of its id, as its subnet or the launch asked for. */
export function instanceName(ec2: Ec2, options: NameOptions, id: string, address: string | undefined): string {
  return options.hostnameType === "resource-name" || address === undefined ? `${id}.${privateDomain(ec2)}` : privateIpName(ec2, address);
}

/** The public host name of an address; empty in a VPC without DNS host names. */
export function publicName(ec2: Ec2, vpcId: string, address: string): string {
  const { region, dnsSuffix } = ec2.account;
  if (!ec2.vpcs.get(vpcId)?.dnsHostnames) return "";
  const dashed = address.replaceAll(".", "-");
  return region === "us-east-1" ? `ec2-${dashed}.compute-1.${dnsSuffix}` : `ec2-${dashed}.${region}.compute.${dnsSuffix}`;
}

/** What private host names end in. */
export function privateDomain(ec2: Ec2): string {
  const { region } = ec2.account;
  return region === "us-east-1" ? "ec2.internal" : `${region}.compute.internal`;
}
