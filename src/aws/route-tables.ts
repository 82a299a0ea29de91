/** Route tables of a VPC, as much of them as anybody here reads. */
import type { Ask } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { describeRouteTables } from "./ec2-actions.ts";
import type { Tags } from "./instance.ts";
import type { Filter } from "./instances.ts";
import { type Page, scanPages } from "./pages.ts";
import { fields, list, type Shape, text } from "./scan.ts";

export interface RouteTable {
  readonly id: string;
  readonly vpc: string;
  readonly tags: Tags;
  /** Whether it serves the subnets of its VPC that have none of their own. */
  readonly main: boolean;
  readonly subnets: readonly string[];
  readonly routes: readonly Route[];
}

export interface Route {
  /** An IPv4 or IPv6 block; undefined for a prefix list. */
  readonly destination: string | undefined;
  readonly state: string;
  readonly origin: string;
  readonly instanceId: string | undefined;
  readonly interfaceId: string | undefined;
  /** `local`, `igw-…`, `nat-…`, `pcx-…`, `tgw-…`: whatever else it may lead to. */
  readonly otherTarget: string | undefined;
}

/** The tables that a setting names: their ids, separated by commas. */
export function tableIdsIn(setting: string | undefined): readonly string[] {
  const ids = setting?.split(",").map((id) => id.trim()) ?? [];
  return ids.filter((id) => id !== "");
}

export class RouteTables {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Every table that matches the filters. */
  list(filters: readonly Filter[], ask: Ask): Promise<readonly RouteTable[]> {
    const input = { MaxResults: 100, Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })) };
    return scanPages(this.#caller, describeRouteTables, input, routeTablesPage, ask);
  }
}

const others = [
  "gatewayId",
  "natGatewayId",
  "transitGatewayId",
  "vpcPeeringConnectionId",
  "egressOnlyInternetGatewayId",
  "localGatewayId",
  "carrierGatewayId",
  "coreNetworkArn",
] as const;

const route = fields(
  {
    destinationCidrBlock: text,
    destinationIpv6CidrBlock: text,
    state: text,
    origin: text,
    instanceId: text,
    networkInterfaceId: text,
    ...(Object.fromEntries(others.map((name) => [name, text])) as Record<(typeof others)[number], typeof text>),
  },
  (found): Route => ({
    destination: found.destinationCidrBlock ?? found.destinationIpv6CidrBlock,
    state: found.state ?? "",
    origin: found.origin ?? "",
    instanceId: found.instanceId || undefined,
    interfaceId: found.networkInterfaceId || undefined,
    otherTarget: others.map((name) => found[name]).find((target) => target),
  }),
);

const tag = fields({ key: text, value: text }, ({ key = "", value = "" }) => [key, value] as const);
const association = fields({ main: text, subnetId: text });

const routeTablesPage: Shape<Page<RouteTable>> = fields(
  {
    routeTableSet: list(
      fields(
        { routeTableId: text, vpcId: text, tagSet: list(tag), associationSet: list(association), routeSet: list(route) },
        (found): RouteTable => ({
          id: found.routeTableId ?? "",
          vpc: found.vpcId ?? "",
          tags: Object.fromEntries(found.tagSet ?? []),
          main: (found.associationSet ?? []).some(({ main }) => main === "true"),
          subnets: (found.associationSet ?? []).flatMap(({ subnetId }) => subnetId || []),
          routes: found.routeSet ?? [],
        }),
      ),
    ),
    nextToken: text,
  },
  (found) => ({ items: found.routeTableSet ?? [], nextToken: found.nextToken || undefined }),
);
