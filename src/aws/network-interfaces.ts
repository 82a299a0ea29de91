/** Network interfaces by address: how a Fargate node, which has no instance, is found. */
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { describeNetworkInterfaces } from "./ec2-actions.ts";
import { groupByEach } from "./grouped.ts";
import { type NetworkInterface, networkInterfacesPage } from "./instance.ts";
import type { Filter } from "./instances.ts";
import { scanPages } from "./pages.ts";

/** AWS's limit of values in one filter. */
const valuesPerFilter = 200;

interface Wanted {
  readonly ip: string;
  readonly vpc: string;
  readonly cause: string;
}

export class NetworkInterfaces {
  readonly #caller: Caller;
  readonly #byAddress: Coalescer<Wanted, readonly NetworkInterface[]>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#byAddress = new Coalescer({
      clock,
      most: valuesPerFilter,
      keyOf: ({ ip }) => ip,
      groupOf: ({ ip, vpc }) => `${vpc} ${filterFor(ip)}`,
      fetch: async (items, options) => {
        const { ip, vpc } = items[0]!;
        const filters = [
          { name: "attachment.status", values: ["attached"] },
          { name: "vpc-id", values: [vpc] },
          { name: filterFor(ip), values: items.map((item) => item.ip) },
        ];
        const found = await this.list(filters, { ...options, cause: joinedCause(items) });
        return groupByEach(found, (each) => [each.privateIp, ...each.ipv6Addresses]);
      },
    });
  }

  /** The attached interfaces of a VPC that have this primary private address, or this IPv6 address. */
  async attachedWith(ip: string, vpc: string, ask: Ask): Promise<readonly NetworkInterface[]> {
    return (await this.#byAddress.get({ ip, vpc, cause: ask.cause }, ask.urgency ?? "background", ask.signal)) ?? [];
  }

  /** Every interface that matches the filters. */
  list(filters: readonly Filter[], ask: Ask): Promise<readonly NetworkInterface[]> {
    const input = { MaxResults: 1000, Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })) };
    return scanPages(this.#caller, describeNetworkInterfaces, input, networkInterfacesPage, ask);
  }
}

function filterFor(ip: string): string {
  return ip.includes(":") ? "ipv6-addresses.ipv6-address" : "private-ip-address";
}
