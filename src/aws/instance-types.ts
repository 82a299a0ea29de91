/** The instance types that a region offers, and in which of its zones. Nothing is remembered: they are asked for once in an hour. */
import type { Ask } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { describeInstanceTypeOfferings, describeInstanceTypes } from "./ec2-actions.ts";
import { number } from "./instance.ts";
import { type Page, scanPages } from "./pages.ts";
import { common, fields, list, type Shape, text } from "./scan.ts";

/** A type as far as AWS describes it. */
export interface InstanceType {
  readonly name: string;
  readonly vcpus: number | undefined;
  readonly memoryMiB: number | undefined;
}

/** One type in one zone. */
export interface Offering {
  readonly type: string;
  readonly zone: string;
}

/** The most that AWS gives at once. */
const typesPerPage = 100;
const offeringsPerPage = 1000;

export class InstanceTypes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Every type of the region. */
  all(ask: Ask): Promise<readonly InstanceType[]> {
    return scanPages(this.#caller, describeInstanceTypes, { MaxResults: typesPerPage }, typesPage, ask);
  }

  /** Which of them each zone has. */
  offerings(ask: Ask): Promise<readonly Offering[]> {
    const input = { LocationType: "availability-zone" as const, MaxResults: offeringsPerPage };
    return scanPages(this.#caller, describeInstanceTypeOfferings, input, offeringsPage, ask);
  }
}

const typesPage: Shape<Page<InstanceType>> = fields(
  {
    instanceTypeSet: list(
      fields(
        { instanceType: text, vCpuInfo: fields({ defaultVCpus: number }), memoryInfo: fields({ sizeInMiB: number }) },
        (found): InstanceType => ({
          name: found.instanceType ?? "",
          vcpus: found.vCpuInfo?.defaultVCpus,
          memoryMiB: found.memoryInfo?.sizeInMiB,
        }),
      ),
    ),
    nextToken: text,
  },
  (found) => ({ items: found.instanceTypeSet ?? [], nextToken: found.nextToken || undefined }),
);

const offeringsPage: Shape<Page<Offering>> = fields(
  {
    instanceTypeOfferingSet: list(
      fields(
        { instanceType: common, location: common },
        (found): Offering => ({ type: found.instanceType ?? "", zone: found.location ?? "" }),
      ),
    ),
    nextToken: text,
  },
  (found) => ({ items: found.instanceTypeOfferingSet ?? [], nextToken: found.nextToken || undefined }),
);
