/** Where a classic load balancer stands: subnets with its interfaces in them, zones, security groups. */
import {
  type AddAvailabilityZonesInput,
  type AddAvailabilityZonesOutput,
  ApplySecurityGroupsToLoadBalancer$,
  type ApplySecurityGroupsToLoadBalancerInput,
  type ApplySecurityGroupsToLoadBalancerOutput,
  AttachLoadBalancerToSubnets$,
  type AttachLoadBalancerToSubnetsInput,
  type AttachLoadBalancerToSubnetsOutput,
  DetachLoadBalancerFromSubnets$,
  type DetachLoadBalancerFromSubnetsInput,
  type DetachLoadBalancerFromSubnetsOutput,
  DisableAvailabilityZonesForLoadBalancer$,
  EnableAvailabilityZonesForLoadBalancer$,
  type RemoveAvailabilityZonesInput,
  type RemoveAvailabilityZonesOutput,
} from "@aws-sdk/client-elastic-load-balancing";
import {
  checkedSecurityGroups,
  checkedSubnets,
  checkRoom,
  invalidConfiguration,
  openInterface,
  releaseInterfaces,
} from "../balancing/network.ts";
import type { Subnet } from "../ec2/state.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { type ClassicLoadBalancer, type Elb, loadBalancerNamed } from "./state.ts";

/** The operations that move a load balancer. */
export function networkOperations(elb: Elb): Operations {
  return [
    write<AttachLoadBalancerToSubnetsInput, AttachLoadBalancerToSubnetsOutput>(AttachLoadBalancerToSubnets$, (input) => ({
      Subnets: [...attach(elb, loadBalancerNamed(elb, input.LoadBalancerName), input.Subnets ?? []).subnetIds],
    })),
    write<DetachLoadBalancerFromSubnetsInput, DetachLoadBalancerFromSubnetsOutput>(DetachLoadBalancerFromSubnets$, (input) => ({
      Subnets: [...detach(elb, loadBalancerNamed(elb, input.LoadBalancerName), input.Subnets ?? []).subnetIds],
    })),
    write<ApplySecurityGroupsToLoadBalancerInput, ApplySecurityGroupsToLoadBalancerOutput>(ApplySecurityGroupsToLoadBalancer$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      if (!input.SecurityGroups?.length) throw invalidConfiguration("At least one security group is required");
      const groupIds = checkedSecurityGroups(elb.account, loadBalancer.vpcId, input.SecurityGroups);
      for (const id of Object.values(loadBalancer.interfaceIds)) elb.account.ec2.interfaces.update(id, { groupIds });
      elb.loadBalancers.update(loadBalancer.name, { groupIds });
      return { SecurityGroups: [...groupIds] };
    }),
    write<AddAvailabilityZonesInput, AddAvailabilityZonesOutput>(EnableAvailabilityZonesForLoadBalancer$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const present = zonesOf(elb, loadBalancer);
      const added = (input.AvailabilityZones ?? []).filter((zone) => !present.includes(zone));
      const subnets = added.map((zone) => defaultSubnet(elb, zone, loadBalancer.vpcId));
      return {
        AvailabilityZones: zonesOf(
          elb,
          attach(
            elb,
            loadBalancer,
            subnets.map((subnet) => subnet.id),
          ),
        ),
      };
    }),
    write<RemoveAvailabilityZonesInput, RemoveAvailabilityZonesOutput>(DisableAvailabilityZonesForLoadBalancer$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const leaving = (input.AvailabilityZones ?? []).map((zone) => defaultSubnet(elb, zone, loadBalancer.vpcId).id);
      const attached = leaving.filter((id) => loadBalancer.subnetIds.includes(id));
      return { AvailabilityZones: zonesOf(elb, detach(elb, loadBalancer, attached)) };
    }),
  ];
}

/** The zones of its subnets. */
export function zonesOf(elb: Elb, loadBalancer: Pick<ClassicLoadBalancer, "subnetIds">): string[] {
  return loadBalancer.subnetIds.map((id) => elb.account.ec2.subnets.get(id)?.zone ?? "");
}

/** The subnet that a zone stands for; only the default VPC has them. */
export function defaultSubnet(elb: Elb, zone: string, vpcId?: string): Subnet {
  const subnet = elb.account.ec2.subnets.values().find((other) => other.defaultForZone && other.zone === zone);
  if (subnet === undefined) throw new ServiceError("ValidationError", `There is no default subnet in Availability Zone '${zone}'`);
  if (vpcId !== undefined && subnet.vpcId !== vpcId)
    throw invalidConfiguration("Availability Zones can only be set in the default VPC: use subnets");
  return subnet;
}

/** An interface in each of these subnets. */
export function openInterfaces(
  elb: Elb,
  loadBalancer: Pick<ClassicLoadBalancer, "name" | "scheme" | "groupIds">,
  subnets: readonly Subnet[],
): Readonly<Record<string, string>> {
  checkRoom(elb.account, subnets);
  const opened = subnets.map((subnet) => {
    const made = openInterface(elb.account, {
      subnet,
      description: `ELB ${loadBalancer.name}`,
      interfaceType: "interface",
      ownerId: "amazon-elb",
      groupIds: loadBalancer.groupIds,
      publicIp: loadBalancer.scheme === "internet-facing",
    });
    return [subnet.id, made.id] as const;
  });
  return Object.fromEntries(opened);
}

function attach(elb: Elb, loadBalancer: ClassicLoadBalancer, added: readonly string[]): ClassicLoadBalancer {
  const subnetIds = [...new Set([...loadBalancer.subnetIds, ...added])];
  const subnets = checkedSubnets(elb.account, subnetIds, loadBalancer.scheme === "internet-facing");
  const fresh = subnets.filter((subnet) => !loadBalancer.subnetIds.includes(subnet.id));
  const interfaceIds = { ...loadBalancer.interfaceIds, ...openInterfaces(elb, loadBalancer, fresh) };
  return elb.loadBalancers.update(loadBalancer.name, { subnetIds, interfaceIds });
}

function detach(elb: Elb, loadBalancer: ClassicLoadBalancer, leaving: readonly string[]): ClassicLoadBalancer {
  const stranger = leaving.find((id) => !loadBalancer.subnetIds.includes(id));
  if (stranger !== undefined) throw invalidConfiguration(`${loadBalancer.name} is not attached to subnet ${stranger}`);
  const subnetIds = loadBalancer.subnetIds.filter((id) => !leaving.includes(id));
  if (subnetIds.length === 0) throw invalidConfiguration(`${loadBalancer.name} cannot be detached from all subnets`);
  const kept = Object.entries(loadBalancer.interfaceIds).filter(([subnetId]) => !leaving.includes(subnetId));
  releaseInterfaces(
    elb.account,
    leaving.map((id) => loadBalancer.interfaceIds[id]!),
  );
  return elb.loadBalancers.update(loadBalancer.name, { subnetIds, interfaceIds: Object.fromEntries(kept) });
}
