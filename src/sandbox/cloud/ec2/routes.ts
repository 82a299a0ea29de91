/** Routes: where they lead, when they are black holes, and everything EC2 refuses about them. */
import {
  CreateRoute$,
  type CreateRouteRequest,
  type CreateRouteResult,
  DeleteRoute$,
  type DeleteRouteRequest,
  ReplaceRoute$,
  type ReplaceRouteRequest,
  type Route as RouteAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { contains, formatBlock, parseBlock } from "./cidr.ts";
import { egressOnlyGateways } from "./ipv6-blocks.ts";
import { find, KINDS, missing } from "./kinds.ts";
import { peerings } from "./peerings.ts";
import { checkedPrefixList } from "./permissions.ts";
import type { Ec2, Route, RouteTable, RouteTarget } from "./state.ts";

/** The operations on routes. */
export function routeOperations(ec2: Ec2): Operations {
  return [
    write<CreateRouteRequest, CreateRouteResult>(CreateRoute$, (input) => {
      const table = find(ec2.routeTables, KINDS.routeTable, input.RouteTableId!);
      const destination = destinationOf(input);
      const target = targetOf(ec2, table, input);
      checkDestination(ec2, table, destination);
      if (routeTo(table, destination) !== undefined) throw alreadyExists(destination);
      checkQuota(ec2, table, destination);
      ec2.routeTables.update(table.id, { routes: [...table.routes, { ...destination, target }] });
      return { Return: true };
    }),
    write<ReplaceRouteRequest, void>(ReplaceRoute$, (input) => {
      const table = find(ec2.routeTables, KINDS.routeTable, input.RouteTableId!);
      const destination = destinationOf(input);
      const target = input.LocalTarget ? ({ kind: "local" } as const) : targetOf(ec2, table, input);
      const existing = routeTo(table, destination);
      if (existing === undefined) {
        throw new ServiceError(
          "InvalidParameterValue",
          `There is no route defined for '${destination.destination}' in the route table. Use CreateRoute instead.`,
        );
      }
      ec2.routeTables.update(table.id, { routes: table.routes.map((route) => (route === existing ? { ...destination, target } : route)) });
    }),
    write<DeleteRouteRequest, void>(DeleteRoute$, (input) => {
      const table = find(ec2.routeTables, KINDS.routeTable, input.RouteTableId!);
      const destination = destinationOf(input);
      const existing = routeTo(table, destination);
      if (existing === undefined) {
        throw new ServiceError(
          "InvalidRoute.NotFound",
          `no route with destination-cidr-block ${destination.destination} in route table ${table.id}`,
        );
      }
      if (existing.target.kind === "local") {
        throw new ServiceError("InvalidParameterValue", `cannot remove local route ${destination.destination} in route table ${table.id}`);
      }
      if (existing.target.kind === "endpoint") {
        throw new ServiceError(
          "InvalidParameterValue",
          `cannot remove VPC endpoint route ${destination.destination} in route table ${table.id}`,
        );
      }
      ec2.routeTables.update(table.id, { routes: table.routes.filter((route) => route !== existing) });
    }),
  ];
}

/** A route as answers show it. Its state is what its target is now: EC2 never takes a route away by itself. */
export function describeRoute(ec2: Ec2, route: Route): RouteAnswer {
  const { target, family, destination } = route;
  const instanceId = target.kind === "interface" ? instanceBehind(ec2, target) : undefined;
  return {
    ...(family === 4 ? { DestinationCidrBlock: destination } : {}),
    ...(family === 6 ? { DestinationIpv6CidrBlock: destination } : {}),
    ...(family === "prefix-list" ? { DestinationPrefixListId: destination } : {}),
    ...(target.kind === "local" ? { GatewayId: "local" } : {}),
    ...(target.kind === "gateway" || target.kind === "endpoint" ? { GatewayId: target.id } : {}),
    ...(target.kind === "nat" ? { NatGatewayId: target.id } : {}),
    ...(target.kind === "egress-only" ? { EgressOnlyInternetGatewayId: target.id } : {}),
    ...(target.kind === "transit" ? { TransitGatewayId: target.id } : {}),
    ...(target.kind === "peering" ? { VpcPeeringConnectionId: target.id } : {}),
    ...(target.kind === "interface" ? { NetworkInterfaceId: target.id } : {}),
    ...(instanceId === undefined ? {} : { InstanceId: instanceId, InstanceOwnerId: ec2.account.id }),
    Origin: target.kind === "local" ? "CreateRouteTable" : "CreateRoute",
    State: leadsSomewhere(ec2, target) ? "active" : "blackhole",
  };
}

/** The instance of the interface; one that took its interface along is named until EC2 forgets it. */
function instanceBehind(ec2: Ec2, target: Extract<RouteTarget, { kind: "interface" }>): string | undefined {
  const networkInterface = ec2.interfaces.get(target.id);
  if (networkInterface !== undefined) return networkInterface.attachment?.instanceId;
  return target.instanceId !== undefined && ec2.instances.has(target.instanceId) ? target.instanceId : undefined;
}

function leadsSomewhere(ec2: Ec2, target: RouteTarget): boolean {
  switch (target.kind) {
    case "gateway":
      return ec2.internetGateways.get(target.id)?.vpcId !== undefined;
    case "nat":
      return ec2.natGateways.get(target.id)?.state === "available" || ec2.natGateways.get(target.id)?.state === "pending";
    case "interface": {
      const attachment = ec2.interfaces.get(target.id)?.attachment;
      if (attachment === undefined) return false;
      if (attachment.instanceId === undefined) return true;
      const state = ec2.instances.get(attachment.instanceId)?.state;
      return state === "running" || state === "pending";
    }
    case "egress-only":
      return egressOnlyGateways(ec2).has(target.id);
    case "peering":
      return peerings(ec2).get(target.id)?.status === "active";
    default:
      return true;
  }
}

type Destination = Pick<Route, "destination" | "family">;

interface DestinationInput {
  readonly DestinationCidrBlock?: string | undefined;
  readonly DestinationIpv6CidrBlock?: string | undefined;
  readonly DestinationPrefixListId?: string | undefined;
}

function destinationOf(input: DestinationInput): Destination {
  const given = [input.DestinationCidrBlock, input.DestinationIpv6CidrBlock, input.DestinationPrefixListId].filter(
    (text) => text !== undefined,
  );
  if (given.length === 0)
    throw new ServiceError(
      "MissingParameter",
      "The request must contain the parameter destinationCidrBlock or destinationIpv6CidrBlock or destinationPrefixListId",
    );
  if (given.length > 1) {
    throw new ServiceError(
      "InvalidParameterCombination",
      "The parameters destinationCidrBlock and destinationIpv6CidrBlock cannot be used together.",
    );
  }
  if (input.DestinationPrefixListId !== undefined)
    return { destination: checkedPrefixList(input.DestinationPrefixListId), family: "prefix-list" };
  if (input.DestinationIpv6CidrBlock !== undefined) return blockOf(input.DestinationIpv6CidrBlock, 6, "destinationIpv6CidrBlock");
  return blockOf(input.DestinationCidrBlock ?? "", 4, "destinationCidrBlock");
}

/** EC2 keeps 10.1.2.3/16 as 10.1.0.0/16. */
function blockOf(text: string, family: 4 | 6, parameter: string): Destination {
  const block = parseBlock(text);
  if (block?.family !== family) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${text}) for parameter ${parameter} is invalid. This is not a valid CIDR block.`,
    );
  }
  return { destination: formatBlock(block), family };
}

/** A route may not equal the VPC's own block, nor reach inside it. */
function checkDestination(ec2: Ec2, table: RouteTable, { destination, family }: Destination): void {
  const vpc = ec2.vpcs.get(table.vpcId);
  const own = family === 4 ? vpc?.cidrs : family === 6 && vpc?.ipv6Cidr !== undefined ? [vpc.ipv6Cidr] : [];
  const block = family === "prefix-list" ? undefined : parseBlock(destination);
  const conflict = own?.find((cidr) => block !== undefined && contains(parseBlock(cidr)!, block));
  if (conflict === destination) throw alreadyExists({ destination, family });
  // Narrower routes inside the VPC exist only for middlebox targets in a subnet's exact block.
  if (conflict !== undefined && !ec2.subnets.values().some((subnet) => subnet.vpcId === table.vpcId && subnet.cidr === destination)) {
    throw new ServiceError(
      "InvalidParameterValue",
      `The destination CIDR block ${destination} is equal to or more specific than one of this VPC's CIDR blocks. This route can target only an interface or an instance.`,
    );
  }
}

function checkQuota(ec2: Ec2, table: RouteTable, { family }: Destination): void {
  const { routesPerTable } = ec2.account.settings().quotas;
  const added = table.routes.filter((route) => route.target.kind !== "local" && route.family === family).length;
  if (added >= routesPerTable) {
    throw new ServiceError("RouteLimitExceeded", `The maximum number of routes has been reached.`);
  }
}

interface TargetInput {
  readonly InstanceId?: string | undefined;
  readonly NetworkInterfaceId?: string | undefined;
  readonly GatewayId?: string | undefined;
  readonly NatGatewayId?: string | undefined;
  readonly EgressOnlyInternetGatewayId?: string | undefined;
  readonly TransitGatewayId?: string | undefined;
  readonly VpcPeeringConnectionId?: string | undefined;
  readonly VpcEndpointId?: string | undefined;
  readonly LocalGatewayId?: string | undefined;
  readonly CarrierGatewayId?: string | undefined;
}

const TARGETS = [
  "InstanceId",
  "NetworkInterfaceId",
  "GatewayId",
  "NatGatewayId",
  "EgressOnlyInternetGatewayId",
  "TransitGatewayId",
  "VpcPeeringConnectionId",
  "VpcEndpointId",
  "LocalGatewayId",
  "CarrierGatewayId",
] as const;

function targetOf(ec2: Ec2, table: RouteTable, input: TargetInput): RouteTarget {
  const given = TARGETS.filter((name) => input[name] !== undefined);
  if (given.length === 0) {
    throw new ServiceError(
      "MissingParameter",
      "The request must contain exactly one of gatewayId, natGatewayId, networkInterfaceId, vpcPeeringConnectionId, egressOnlyInternetGatewayId, transitGatewayId, localGatewayId, carrierGatewayId or instanceId",
    );
  }
  if (given.length > 1) throw new ServiceError("InvalidParameterCombination", "The request must contain exactly one target");
  const id = input[given[0]!]!;
  switch (given[0]) {
    case "InstanceId":
      return instanceTarget(ec2, table, id);
    case "NetworkInterfaceId":
      return interfaceTarget(ec2, table, id);
    case "GatewayId":
      return gatewayTarget(ec2, table, id);
    case "NatGatewayId":
      return { kind: "nat", id: find(ec2.natGateways, KINDS.natGateway, id).id };
    case "EgressOnlyInternetGatewayId":
      return { kind: "egress-only", id: find(egressOnlyGateways(ec2), KINDS.egressOnlyGateway, id).id };
    case "TransitGatewayId":
      return { kind: "transit", id };
    case "VpcPeeringConnectionId":
      return peeringTarget(ec2, table, id);
    default:
      throw new ServiceError("InvalidParameterValue", `The simulated cloud has no target of the kind ${given[0]}.`);
  }
}

function instanceTarget(ec2: Ec2, table: RouteTable, id: string): RouteTarget {
  const instance = find(ec2.instances, KINDS.instance, id);
  if (instance.state === "terminated" || instance.state === "shutting-down") {
    throw new ServiceError("IncorrectInstanceState", `Instance '${id}' is not in a valid state for this operation.`);
  }
  if (instance.interfaceIds.length > 1) {
    throw new ServiceError(
      "InvalidInstanceID",
      `There are multiple interfaces attached to instance '${id}'. Please specify an interface ID for the operation instead.`,
    );
  }
  return interfaceTarget(ec2, table, instance.interfaceIds[0]!);
}

function interfaceTarget(ec2: Ec2, table: RouteTable, id: string): RouteTarget {
  const networkInterface = find(ec2.interfaces, KINDS.networkInterface, id);
  if (networkInterface.vpcId !== table.vpcId) {
    throw new ServiceError("InvalidParameterValue", `route table ${table.id} and interface ${id} belong to different networks`);
  }
  return { kind: "interface", id, instanceId: networkInterface.attachment?.instanceId };
}

function gatewayTarget(ec2: Ec2, table: RouteTable, id: string): RouteTarget {
  const gateway = find(ec2.internetGateways, KINDS.internetGateway, id);
  if (gateway.vpcId !== table.vpcId) {
    throw new ServiceError("InvalidParameterValue", `route table ${table.id} and network gateway ${id} belong to different networks`);
  }
  return { kind: "gateway", id };
}

function peeringTarget(ec2: Ec2, table: RouteTable, id: string): RouteTarget {
  const { requester, accepter, status } = find(peerings(ec2), KINDS.peering, id);
  if (requester.vpcId !== table.vpcId && accepter.vpcId !== table.vpcId) {
    throw new ServiceError(
      "InvalidParameterValue",
      `route table ${table.id} and VPC peering connection ${id} belong to different networks`,
    );
  }
  if (status === "deleted" || status === "failed") throw missing(KINDS.peering, [id]);
  return { kind: "peering", id };
}

function routeTo(table: RouteTable, destination: Destination): Route | undefined {
  return table.routes.find((route) => route.destination === destination.destination && route.family === destination.family);
}

function alreadyExists({ destination }: Destination): ServiceError {
  return new ServiceError("RouteAlreadyExists", `The route identified by ${destination} already exists.`);
}
