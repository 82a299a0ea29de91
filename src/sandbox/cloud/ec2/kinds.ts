/** Kinds of EC2 resources: how their ids look, and what EC2 says of ids that are malformed or name nothing. */
import { ServiceError } from "../errors.ts";
import type { Table } from "../store.ts";

/** One kind of resource. */
export interface Kind {
  readonly prefix: string;
  /** As in TagSpecifications and DescribeTags. */
  readonly type: string;
  readonly malformed: string;
  readonly notFound: string;
  /** The words before the id in the message that it does not exist. */
  readonly noun: string;
}

/** The kinds the simulated EC2 has. */
export const KINDS = {
  instance: kind("i", "instance", "InvalidInstanceID.Malformed", "InvalidInstanceID.NotFound", "instance ID"),
  vpc: kind("vpc", "vpc", "InvalidVpcID.Malformed", "InvalidVpcID.NotFound", "vpc ID"),
  subnet: kind("subnet", "subnet", "InvalidSubnetID.Malformed", "InvalidSubnetID.NotFound", "subnet ID"),
  routeTable: kind("rtb", "route-table", "InvalidRouteTableID.Malformed", "InvalidRouteTableID.NotFound", "routeTable ID"),
  internetGateway: kind(
    "igw",
    "internet-gateway",
    "InvalidInternetGatewayID.Malformed",
    "InvalidInternetGatewayID.NotFound",
    "internetGateway ID",
  ),
  natGateway: kind("nat", "natgateway", "NatGatewayMalformed", "NatGatewayNotFound", "NAT gateway"),
  securityGroup: kind("sg", "security-group", "InvalidGroupId.Malformed", "InvalidGroup.NotFound", "security group"),
  rule: kind(
    "sgr",
    "security-group-rule",
    "InvalidSecurityGroupRuleId.Malformed",
    "InvalidSecurityGroupRuleId.NotFound",
    "security group rule ID",
  ),
  networkInterface: kind(
    "eni",
    "network-interface",
    "InvalidNetworkInterfaceID.Malformed",
    "InvalidNetworkInterfaceID.NotFound",
    "networkInterface ID",
  ),
  allocation: kind("eipalloc", "elastic-ip", "InvalidAllocationID.Malformed", "InvalidAllocationID.NotFound", "allocation ID"),
  image: kind("ami", "image", "InvalidAMIID.Malformed", "InvalidAMIID.NotFound", "image id"),
  volume: kind("vol", "volume", "InvalidParameterValue", "InvalidVolume.NotFound", "volume"),
  keyPair: kind("key", "key-pair", "InvalidKeyPair.Malformed", "InvalidKeyPair.NotFound", "key pair"),
  peering: kind(
    "pcx",
    "vpc-peering-connection",
    "InvalidVpcPeeringConnectionId.Malformed",
    "InvalidVpcPeeringConnectionID.NotFound",
    "vpcPeeringConnection ID",
  ),
  egressOnlyGateway: kind(
    "eigw",
    "egress-only-internet-gateway",
    "InvalidEgressOnlyInternetGatewayId.Malformed",
    "InvalidGatewayID.NotFound",
    "egressOnlyInternetGateway ID",
  ),
  vpcEndpoint: kind("vpce", "vpc-endpoint", "InvalidVpcEndpointId.Malformed", "InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id"),
  snapshot: kind("snap", "snapshot", "InvalidSnapshotID.Malformed", "InvalidSnapshot.NotFound", "snapshot"),
} as const;

/** The record of an id, or EC2's error for it. */
export function find<T extends object>(table: Table<T>, kind: Kind, id: string): T {
  checkForm(kind, id);
  const record = table.get(id);
  if (record === undefined) throw missing(kind, [id]);
  return record;
}

/** The records of all ids, each once; the error names every id that is missing, as EC2 does. */
export function findAll<T extends object>(table: Table<T>, kind: Kind, ids: readonly string[]): T[] {
  const wanted = [...new Set(ids)];
  for (const id of wanted) checkForm(kind, id);
  const records = wanted.map((id) => table.get(id));
  const absent = wanted.filter((_, index) => records[index] === undefined);
  if (absent.length > 0) throw missing(kind, absent);
  return records.filter((record) => record !== undefined);
}

/** `The instance IDs 'i-1, i-2' do not exist` */
export function missing(kind: Kind, ids: readonly string[]): ServiceError {
  const [noun, exist] = ids.length === 1 ? [kind.noun, "does not exist"] : [`${kind.noun}s`, "do not exist"];
  return new ServiceError(kind.notFound, `The ${noun} '${ids.join(", ")}' ${exist}`);
}

/** Whether an id has the form of its kind: 8 or 17 hexadecimal digits after the prefix. */
export function wellFormed(kind: Kind, id: string): boolean {
  return id.startsWith(`${kind.prefix}-`) && /^([0-9a-f]{8}|[0-9a-f]{17})$/.test(id.slice(kind.prefix.length + 1));
}

/** Throws for an id that has not the form of its kind. */
export function checkForm(kind: Kind, id: string): void {
  if (!wellFormed(kind, id)) throw new ServiceError(kind.malformed, `Invalid id: "${id}" (expecting "${kind.prefix}-...")`);
}

function kind(prefix: string, type: string, malformed: string, notFound: string, noun: string): Kind {
  return { prefix, type, malformed, notFound, noun };
}
