/** What the cloud data discoverer must be allowed to do in AWS: to look. */
import * as ec2 from "../aws/ec2-actions.ts";
import type { Grant } from "./permissions.ts";

const inRegion = [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }];
const everywhere = { resources: ["*"], strict: inRegion };

export const discoveryGrants: readonly Grant[] = [
  {
    sid: "ReadInstanceTypes",
    why: "List the instance types of the region for the cluster autoscaler",
    calls: [ec2.describeInstanceTypes],
    ...everywhere,
  },
  {
    sid: "ProbePermissions",
    why: "Tell the platform whether its components may do these, by dry runs",
    calls: [ec2.describeAddressesAttribute, ec2.describeInstanceTopology],
    ...everywhere,
  },
  {
    sid: "ReadClusterNetwork",
    why: "Publish zones, subnets, security groups and the image of the cluster",
    calls: [ec2.describeAvailabilityZones, ec2.describeSubnets, ec2.describeSecurityGroups, ec2.describeImages],
    ...everywhere,
    optional: "the part that is refused stays as it was published",
  },
  {
    sid: "ReadOfferings",
    why: "Publish in which zones each instance type is offered",
    calls: [ec2.describeInstanceTypeOfferings],
    ...everywhere,
    optional: "zones of instance types are not published",
  },
  {
    sid: "ReadDisks",
    why: "Find disks of the cluster that no PersistentVolume knows",
    calls: [ec2.describeVolumes],
    ...everywhere,
    optional: "orphaned disks are not reported",
  },
];
