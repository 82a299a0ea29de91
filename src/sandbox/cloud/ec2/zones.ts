/** Availability zones with their ids. Names are shuffled over ids for each account, as AWS does. */
import { createHash } from "node:crypto";
import {
  type AvailabilityZone,
  DescribeAvailabilityZones$,
  type DescribeAvailabilityZonesRequest,
  type DescribeAvailabilityZonesResult,
  DescribeRegions$,
  type DescribeRegionsRequest,
  type DescribeRegionsResult,
  ModifyAvailabilityZoneGroup$,
  type ModifyAvailabilityZoneGroupRequest,
  type ModifyAvailabilityZoneGroupResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type FilterTable, filtered } from "./filters.ts";
import type { Ec2 } from "./state.ts";

/** A zone of the region. */
export interface Zone {
  readonly name: string;
  readonly id: string;
  readonly type: "availability-zone" | "local-zone" | "wavelength-zone";
  readonly group: string;
  readonly borderGroup: string;
  readonly parent: { readonly name: string; readonly id: string } | undefined;
}

const REGION_ZONES: Readonly<Record<string, number>> = { "us-east-1": 6, "us-west-2": 4, "us-west-1": 2, "ap-northeast-1": 4 };
const USUAL_ZONES = 3;

/** All zones of the region: its own, and one local and one Wavelength zone that must be opted into. */
export function zonesOf(region: string, account: string): readonly Zone[] {
  const code = regionCode(region);
  const count = REGION_ZONES[region] ?? USUAL_ZONES;
  const shift = createHash("sha256").update(`${account} ${region}`).digest()[0]! % count;
  const own = Array.from({ length: count }, (_, index): Zone => {
    const number = ((index + shift) % count) + 1;
    const name = `${region}${String.fromCharCode(97 + index)}`;
    return { name, id: `${code}-az${number}`, type: "availability-zone", group: `${region}-zg-1`, borderGroup: region, parent: undefined };
  });
  const parent = { name: own[0]!.name, id: own[0]!.id };
  return [
    ...own,
    {
      name: `${region}-loc-1a`,
      id: `${code}-loc1-az1`,
      type: "local-zone",
      group: `${region}-loc-1`,
      borderGroup: `${region}-loc-1`,
      parent,
    },
    {
      name: `${region}-wl1-loc-wlz-1`,
      id: `${code}-wl1-loc-wlz1`,
      type: "wavelength-zone",
      group: `${region}-wl1`,
      borderGroup: `${region}-wl1-loc-wlz-1`,
      parent,
    },
  ];
}

/** The zone of that name or id, or undefined. */
export function zoneNamed(ec2: Ec2, name: string | undefined, id: string | undefined): Zone | undefined {
  return zonesOf(ec2.account.region, ec2.account.id).find((zone) => (name === undefined ? zone.id === id : zone.name === name));
}

/** The region, its zones, and the opt-in of zone groups. */
export function zoneOperations(ec2: Ec2): Operations {
  return [
    read<DescribeRegionsRequest, DescribeRegionsResult>(DescribeRegions$, (input) => {
      const { region, dnsSuffix } = ec2.account;
      const unknown = input.RegionNames?.find((name) => name !== region);
      if (unknown !== undefined) throw new ServiceError("InvalidParameterValue", `Invalid region: [${unknown}]`);
      const endpoint = `ec2.${region}.${dnsSuffix}`;
      const table: FilterTable<string> = {
        endpoint: () => endpoint,
        "opt-in-status": () => "opt-in-not-required",
        "region-name": (name) => name,
      };
      return {
        Regions: filtered([region], input.Filters, table).map((RegionName) => ({
          OptInStatus: "opt-in-not-required",
          RegionName,
          Endpoint: endpoint,
        })),
      };
    }),
    read<DescribeAvailabilityZonesRequest, DescribeAvailabilityZonesResult>(DescribeAvailabilityZones$, (input) => ({
      AvailabilityZones: describeZones(ec2, input),
    })),
    write<ModifyAvailabilityZoneGroupRequest, ModifyAvailabilityZoneGroupResult>(ModifyAvailabilityZoneGroup$, (input) => {
      const zone = zonesOf(ec2.account.region, ec2.account.id).find(({ group }) => group === input.GroupName);
      if (zone === undefined || zone.type === "availability-zone") {
        throw new ServiceError("InvalidParameterValue", `Invalid zone group: ${input.GroupName}`);
      }
      if (input.OptInStatus !== "opted-in") throw new ServiceError("OptOutNotSupported", "Contact support to opt out of a zone group.");
      optIns(ec2).put(zone.group, { group: zone.group });
      return { Return: true };
    }),
  ];
}

/** Whether the account may use a zone. */
export function optedIn(ec2: Ec2, zone: Zone): boolean {
  return zone.type === "availability-zone" || optIns(ec2).has(zone.group);
}

function describeZones(ec2: Ec2, input: DescribeAvailabilityZonesRequest): AvailabilityZone[] {
  const all = zonesOf(ec2.account.region, ec2.account.id);
  for (const name of input.ZoneNames ?? []) {
    if (!all.some((zone) => zone.name === name)) throw new ServiceError("InvalidParameterValue", `Invalid availability zone: [${name}]`);
  }
  for (const id of input.ZoneIds ?? []) {
    if (!all.some((zone) => zone.id === id)) throw new ServiceError("InvalidParameterValue", `Invalid availability zone-id: [${id}]`);
  }
  const visible = all.filter(
    (zone) =>
      (input.AllAvailabilityZones || optedIn(ec2, zone)) &&
      (!input.ZoneNames?.length || input.ZoneNames.includes(zone.name)) &&
      (!input.ZoneIds?.length || input.ZoneIds.includes(zone.id)),
  );
  const table: FilterTable<Zone> = {
    "group-name": (zone) => zone.group,
    "group-long-name": (zone) => zone.group,
    message: () => undefined,
    "opt-in-status": (zone) => optInStatus(ec2, zone),
    "parent-zone-id": (zone) => zone.parent?.id,
    "parent-zone-name": (zone) => zone.parent?.name,
    "region-name": () => ec2.account.region,
    state: () => "available",
    "zone-id": (zone) => zone.id,
    "zone-name": (zone) => zone.name,
    "zone-type": (zone) => zone.type,
  };
  return filtered(visible, input.Filters, table).map((zone) => ({
    OptInStatus: optInStatus(ec2, zone),
    Messages: [],
    RegionName: ec2.account.region,
    ZoneName: zone.name,
    ZoneId: zone.id,
    GroupName: zone.group,
    NetworkBorderGroup: zone.borderGroup,
    ZoneType: zone.type,
    ...(zone.parent === undefined ? {} : { ParentZoneName: zone.parent.name, ParentZoneId: zone.parent.id }),
    State: "available",
  }));
}

function optInStatus(ec2: Ec2, zone: Zone): "opt-in-not-required" | "opted-in" | "not-opted-in" {
  if (zone.type === "availability-zone") return "opt-in-not-required";
  return optedIn(ec2, zone) ? "opted-in" : "not-opted-in";
}

function optIns(ec2: Ec2) {
  return ec2.account.store.table<{ readonly group: string }>("ec2/zone-groups");
}

/** `use1` for us-east-1, `apse2` for ap-southeast-2. */
function regionCode(region: string): string {
  const parts = region.split("-");
  const number = parts.at(-1) ?? "1";
  const direction = (parts.at(-2) ?? "")
    .replace("north", "n")
    .replace("south", "s")
    .replace("east", "e")
    .replace("west", "w")
    .replace("central", "c");
  return `${parts[0]}${parts.length > 3 ? parts[1]?.charAt(0) : ""}${direction}${number}`;
}
