/** Peering connections between VPCs of this account and region. */
import {
  AcceptVpcPeeringConnection$,
  type AcceptVpcPeeringConnectionRequest,
  type AcceptVpcPeeringConnectionResult,
  CreateVpcPeeringConnection$,
  type CreateVpcPeeringConnectionRequest,
  type CreateVpcPeeringConnectionResult,
  DeleteVpcPeeringConnection$,
  type DeleteVpcPeeringConnectionRequest,
  type DeleteVpcPeeringConnectionResult,
  DescribeVpcPeeringConnections$,
  type DescribeVpcPeeringConnectionsRequest,
  type DescribeVpcPeeringConnectionsResult,
  type VpcPeeringConnection as PeeringAnswer,
  type VpcPeeringConnectionVpcInfo,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import type { Table } from "../store.ts";
import { contains, parseBlock } from "./cidr.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, Tags } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

export interface Peering {
  readonly id: string;
  readonly requester: Side;
  readonly accepter: Side;
  readonly status: "initiating-request" | "pending-acceptance" | "provisioning" | "active" | "deleted" | "failed";
  readonly message: string;
  readonly tags: Tags;
}

/** A VPC as it was when it was peered: the connection outlives it. */
interface Side {
  readonly vpcId: string;
  readonly cidrs: readonly string[];
}

const STEP_MS = 2_000;
/** A deleted connection is shown for two hours, a failed one too: https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-basics.html */
const MEMORY_MS = 7_200_000;

/** The account's peering connections by id. */
export function peerings(ec2: Ec2): Table<Peering> {
  return ec2.account.store.table("ec2/vpc-peering-connections");
}

/** The operations on peering connections. */
export function peeringOperations(ec2: Ec2): Operations {
  return [
    write<CreateVpcPeeringConnectionRequest, CreateVpcPeeringConnectionResult>(
      CreateVpcPeeringConnection$,
      (input) => ({ VpcPeeringConnection: describe(ec2, request(ec2, input)) }),
      needsCreateTags,
    ),
    write<AcceptVpcPeeringConnectionRequest, AcceptVpcPeeringConnectionResult>(AcceptVpcPeeringConnection$, (input) => ({
      VpcPeeringConnection: describe(ec2, accept(ec2, input.VpcPeeringConnectionId!)),
    })),
    write<DeleteVpcPeeringConnectionRequest, DeleteVpcPeeringConnectionResult>(DeleteVpcPeeringConnection$, (input) => {
      const peering = find(peerings(ec2), KINDS.peering, input.VpcPeeringConnectionId!);
      if (peering.status === "deleted" || peering.status === "failed") throw transition(peering, "deleted");
      end(ec2, peering.id, "deleted", `Deleted by ${ec2.account.id}`);
      return { Return: true };
    }),
    read<DescribeVpcPeeringConnectionsRequest, DescribeVpcPeeringConnectionsResult>(DescribeVpcPeeringConnections$, (input) => {
      const ids = input.VpcPeeringConnectionIds;
      const records = ids?.length ? findAll(peerings(ec2), KINDS.peering, ids) : peerings(ec2).values();
      const rule = { action: "DescribeVpcPeeringConnections", min: 5, max: 1000 };
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, filterTable(ec2)), ({ id }) => id, input, rule);
      return { VpcPeeringConnections: items.map((peering) => describe(ec2, peering)), NextToken };
    }),
  ];
}

function request(ec2: Ec2, input: CreateVpcPeeringConnectionRequest): Peering {
  const tags = specifiedTags(input.TagSpecifications, KINDS.peering);
  const { region, id: account } = ec2.account;
  if ((input.PeerOwnerId ?? account) !== account || (input.PeerRegion ?? region) !== region) {
    throw new ServiceError("OperationNotPermitted", "The simulated cloud has one account in one region, and peers only inside it.");
  }
  const [own, peer] = [find(ec2.vpcs, KINDS.vpc, input.VpcId ?? ""), find(ec2.vpcs, KINDS.vpc, input.PeerVpcId ?? "")];
  const between = (one: Peering) => [one.requester.vpcId, one.accepter.vpcId].sort().join() === [own.id, peer.id].sort().join();
  const standing = peerings(ec2).values();
  if (standing.some((other) => between(other) && other.status !== "deleted" && other.status !== "failed")) {
    throw new ServiceError("VpcPeeringConnectionAlreadyExists", "A VPC peering connection between the VPCs already exists.");
  }
  const id = ec2.account.ids.resource("pcx");
  const peering = peerings(ec2).put(id, {
    id,
    requester: { vpcId: own.id, cidrs: own.cidrs },
    accepter: { vpcId: peer.id, cidrs: peer.cidrs },
    status: "initiating-request",
    message: `Initiating Request to ${account}`,
    tags,
  });
  const clash = own.id === peer.id || own.cidrs.some((one) => peer.cidrs.some((other) => overlap(one, other)));
  ec2.account.time.after(STEP_MS, () => {
    if (peerings(ec2).get(id)?.status !== "initiating-request") return;
    if (clash) end(ec2, id, "failed", "Failed due to incorrect VPC-ID, Account ID, or overlapping CIDR range");
    else peerings(ec2).update(id, { status: "pending-acceptance", message: `Pending Acceptance by ${account}` });
  });
  return peering;
}

function accept(ec2: Ec2, id: string): Peering {
  const peering = find(peerings(ec2), KINDS.peering, id);
  if (peering.status === "active" || peering.status === "provisioning") return peering;
  if (peering.status !== "pending-acceptance") throw transition(peering, "active");
  ec2.account.time.after(STEP_MS, () => {
    if (peerings(ec2).get(id)?.status === "provisioning") peerings(ec2).update(id, { status: "active", message: "Active" });
  });
  return peerings(ec2).update(id, { status: "provisioning", message: "Provisioning" });
}

function end(ec2: Ec2, id: string, status: "deleted" | "failed", message: string): void {
  peerings(ec2).update(id, { status, message });
  ec2.account.time.forgetAfter(MEMORY_MS, () => peerings(ec2).delete(id));
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [parseBlock(one)!, parseBlock(other)!];
  return contains(a, b) || contains(b, a);
}

function transition({ id, status }: Peering, to: string): ServiceError {
  return new ServiceError("InvalidStateTransition", `Invalid state transition for ${id}, attempted to transition from ${status} to ${to}`);
}

function describe(ec2: Ec2, peering: Peering): PeeringAnswer {
  const side = ({ vpcId, cidrs }: Side): VpcPeeringConnectionVpcInfo => ({
    OwnerId: ec2.account.id,
    VpcId: vpcId,
    Region: ec2.account.region,
    CidrBlock: cidrs[0],
    CidrBlockSet: cidrs.map((CidrBlock) => ({ CidrBlock })),
    PeeringOptions: {
      AllowDnsResolutionFromRemoteVpc: false,
      AllowEgressFromLocalClassicLinkToRemoteVpc: false,
      AllowEgressFromLocalVpcToRemoteClassicLink: false,
    },
  });
  return {
    VpcPeeringConnectionId: peering.id,
    RequesterVpcInfo: side(peering.requester),
    AccepterVpcInfo: side(peering.accepter),
    Status: { Code: peering.status, Message: peering.message },
    Tags: tagList(peering.tags),
  };
}

function filterTable(ec2: Ec2): FilterTable<Peering> {
  return {
    ...tagFilters<Peering>(),
    "accepter-vpc-info.cidr-block": ({ accepter }) => accepter.cidrs[0],
    "accepter-vpc-info.owner-id": () => ec2.account.id,
    "accepter-vpc-info.vpc-id": ({ accepter }) => accepter.vpcId,
    "requester-vpc-info.cidr-block": ({ requester }) => requester.cidrs[0],
    "requester-vpc-info.owner-id": () => ec2.account.id,
    "requester-vpc-info.vpc-id": ({ requester }) => requester.vpcId,
    "status-code": ({ status }) => status,
    "status-message": ({ message }) => message,
    "vpc-peering-connection-id": ({ id }) => id,
  };
}
