/** VPCs: which addresses lie in them. */
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import { unlessGone } from "./balancer-reads.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import { describeVpcs } from "./ec2-actions.ts";

/** People add blocks to a VPC, and wait a moment for it to show. */
const ageMs = 10 * 60_000;

export class Vpcs {
  readonly #caller: Caller;
  readonly #cidrs: Cache<readonly string[] | undefined>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#cidrs = new Cache({ clock, most: 100, absent: { is: (cidrs) => cidrs === undefined, ageMs: ageMs / 2 } });
  }

  /** The ids of the VPCs that have all of these tags. */
  async tagged(tags: Readonly<Record<string, string>>, ask: Ask): Promise<readonly string[]> {
    const Filters = Object.entries(tags).map(([key, value]) => ({ Name: `tag:${key}`, Values: [value] }));
    const { Vpcs = [] } = await this.#caller.call(describeVpcs, { Filters }, ask);
    return Vpcs.flatMap(({ VpcId }) => VpcId ?? []);
  }

  /** The blocks of both families that a VPC has; undefined when these credentials know no such VPC. */
  cidrs(vpc: string, ask: Ask): Promise<readonly string[] | undefined> {
    return this.#cidrs.get(vpc, ageMs, () =>
      unlessGone(async () => {
        const { Vpcs = [] } = await this.#caller.call(describeVpcs, { VpcIds: [vpc] }, ask);
        return Vpcs.flatMap(({ CidrBlockAssociationSet = [], Ipv6CidrBlockAssociationSet = [] }) => [
          ...CidrBlockAssociationSet.flatMap((each) => (each.CidrBlockState?.State === "associated" ? (each.CidrBlock ?? []) : [])),
          ...Ipv6CidrBlockAssociationSet.flatMap((each) =>
            each.Ipv6CidrBlockState?.State === "associated" ? (each.Ipv6CidrBlock ?? []) : [],
          ),
        ]);
      }),
    );
  }
}
