/** Which instance types each place of the region has. */
import {
  type _InstanceType,
  DescribeInstanceTypeOfferings$,
  type DescribeInstanceTypeOfferingsRequest,
  type DescribeInstanceTypeOfferingsResult,
  type LocationType,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered } from "./filters.ts";
import { typesOf } from "./instance-types.ts";
import { page } from "./pages.ts";
import type { Ec2 } from "./state.ts";
import { optedIn, type Zone, zonesOf } from "./zones.ts";

interface Offering {
  readonly type: string;
  readonly location: string;
}

/** What a zone lacks, put there by tests: a type and the name of a zone. Otherwise every zone has every type. */
export function lackingTypes(ec2: Ec2): Table<Offering> {
  return ec2.account.store.table("ec2/lacking-types");
}

const FILTERS: FilterTable<Offering> = { "instance-type": ({ type }) => type, location: ({ location }) => location };

const LOCATIONS: Readonly<Partial<Record<LocationType, (zone: Zone) => string>>> = {
  "availability-zone": ({ name }) => name,
  "availability-zone-id": ({ id }) => id,
};

/** DescribeInstanceTypeOfferings. */
export function instanceTypeOfferingOperations(ec2: Ec2): Operations {
  return [
    read<DescribeInstanceTypeOfferingsRequest, DescribeInstanceTypeOfferingsResult>(DescribeInstanceTypeOfferings$, (input) => {
      const { LocationType = "region" } = input;
      const { items, NextToken } = page(
        ec2,
        filtered(offerings(ec2, LocationType), input.Filters, FILTERS),
        ({ type, location }) => `${type} ${location}`,
        input,
        { action: "DescribeInstanceTypeOfferings", min: 5, max: 1000, usual: 100 },
      );
      return {
        InstanceTypeOfferings: items.map(({ type, location }) => ({
          InstanceType: type as _InstanceType,
          LocationType,
          Location: location,
        })),
        NextToken,
      };
    }),
  ];
}

function offerings(ec2: Ec2, kind: LocationType): readonly Offering[] {
  const types = typesOf(ec2);
  if (kind === "region") return types.map(({ name }) => ({ type: name, location: ec2.account.region }));
  const location = LOCATIONS[kind];
  if (location === undefined) throw new ServiceError("InvalidParameterValue", `Value (${kind}) for parameter locationType is invalid.`);
  const lacking = new Set([...lackingTypes(ec2).values()].map(({ type, location }) => `${type} ${location}`));
  return zonesOf(ec2.account.region, ec2.account.id)
    .filter((zone) => optedIn(ec2, zone))
    .flatMap((zone) =>
      types.filter(({ name }) => !lacking.has(`${name} ${zone.name}`)).map(({ name }) => ({ type: name, location: location(zone) })),
    );
}
