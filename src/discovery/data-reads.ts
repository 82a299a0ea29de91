/** Where each part of the document comes from. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { isAwsError } from "../aws/errors.ts";
import { type Discovered, groupEntries, subnetEntries, usableZones, zoneEntries, zonesByType } from "./document.ts";
import { firstSubnet, type Infrastructure } from "./infrastructure.ts";

/** What a read is given. */
export interface ReadFrom {
  readonly cloud: Cloud;
  readonly ask: Ask;
  readonly infrastructure: Infrastructure;
  readonly clusterId: string | undefined;
  /** What earlier reads have found. */
  readonly found: Discovered;
}

/** One read, and the fields that it gives. A field that it does not return is not in the document. */
export interface DataRead {
  readonly fields: readonly (keyof Discovered)[];
  read(from: ReadFrom): Promise<Discovered>;
}

/** In this order; the groups are those of the VPC that was found before. */
export const dataReads: readonly DataRead[] = [
  {
    fields: ["zones", "availabilityZones"],
    async read({ cloud, ask, infrastructure }) {
      const zones = await cloud.availabilityZones.all(ask);
      return { zones: usableZones(zones, infrastructure.zones), availabilityZones: zoneEntries(zones) };
    },
  },
  {
    fields: ["vpcID"],
    async read({ cloud, ask, infrastructure }) {
      const subnet = firstSubnet(infrastructure);
      if (subnet === undefined) return {};
      const [found] = await cloud.subnets.list([{ name: "subnet-id", values: [subnet] }], ask);
      return found === undefined ? {} : { vpcID: found.vpc };
    },
  },
  {
    fields: ["subnets"],
    async read({ cloud, ask, clusterId }) {
      if (clusterId === undefined) return {};
      const filters = [{ name: "tag-key", values: [`kubernetes.io/cluster/${clusterId}`] }];
      return { subnets: subnetEntries(await cloud.subnets.list(filters, ask)) };
    },
  },
  {
    fields: ["securityGroups"],
    async read({ cloud, ask, found }) {
      if (found.vpcID === undefined) return {};
      return { securityGroups: groupEntries(await cloud.securityGroups.list([{ name: "vpc-id", values: [found.vpcID] }], ask)) };
    },
  },
  {
    fields: ["instanceTypeZones"],
    async read({ cloud, ask }) {
      try {
        return { instanceTypeZones: zonesByType(await cloud.instanceTypes.offerings(ask)) };
      } catch (error) {
        // The policy of installers that were there before does not name this call; nothing else depends on it.
        if (isAwsError(error, "denied")) return {};
        throw error;
      }
    },
  },
  {
    fields: ["defaultAMI"],
    async read({ cloud, ask, infrastructure }) {
      const ami = infrastructure.instances?.ami;
      const image = ami === undefined || ami === "" ? undefined : await cloud.images.byId(ami, ask);
      return image === undefined ? {} : { defaultAMI: image };
    },
  },
];
