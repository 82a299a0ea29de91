/** Subnets of a VPC, as much of them as anybody here reads. */
import type { Ask } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { describeSubnets } from "./ec2-actions.ts";
import type { Tags } from "./instance.ts";
import type { Filter } from "./instances.ts";
import { type Page, scanPages } from "./pages.ts";
import { fields, list, type Shape, text } from "./scan.ts";

export interface Subnet {
  readonly id: string;
  readonly vpc: string;
  readonly zone: string;
  readonly cidr: string;
  readonly ipv6Cidrs: readonly string[];
  readonly availableAddresses: number;
  /** Instances that start in it have a public address, unless they say otherwise. */
  readonly publicOnLaunch?: true;
  /** ARN of the Outpost that it is on. */
  readonly outpost?: string;
  readonly tags: Tags;
}

export class Subnets {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Every subnet that matches the filters. */
  list(filters: readonly Filter[], ask: Ask): Promise<readonly Subnet[]> {
    const input = { MaxResults: 1000, Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })) };
    return scanPages(this.#caller, describeSubnets, input, subnetsPage, ask);
  }
}

const tag = fields({ key: text, value: text }, ({ key = "", value = "" }) => [key, value] as const);
const ipv6Block = fields({ ipv6CidrBlock: text, ipv6CidrBlockState: fields({ state: text }) }, (found) =>
  found.ipv6CidrBlockState?.state === "associated" ? found.ipv6CidrBlock : undefined,
);

const subnetsPage: Shape<Page<Subnet>> = fields(
  {
    subnetSet: list(
      fields(
        {
          subnetId: text,
          vpcId: text,
          availabilityZone: text,
          cidrBlock: text,
          availableIpAddressCount: text,
          mapPublicIpOnLaunch: text,
          outpostArn: text,
          ipv6CidrBlockAssociationSet: list(ipv6Block),
          tagSet: list(tag),
        },
        (found): Subnet => ({
          id: found.subnetId ?? "",
          vpc: found.vpcId ?? "",
          zone: found.availabilityZone ?? "",
          cidr: found.cidrBlock ?? "",
          availableAddresses: Number(found.availableIpAddressCount ?? 0),
          ...(found.mapPublicIpOnLaunch === "true" && { publicOnLaunch: true }),
          ...(found.outpostArn && { outpost: found.outpostArn }),
          ipv6Cidrs: (found.ipv6CidrBlockAssociationSet ?? []).flatMap((cidr) => cidr ?? []),
          tags: Object.fromEntries(found.tagSet ?? []),
        }),
      ),
    ),
    nextToken: text,
  },
  (found) => ({ items: found.subnetSet ?? [], nextToken: found.nextToken || undefined }),
);
