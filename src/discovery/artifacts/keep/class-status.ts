/** Instance classes: which NodeGroups use each, and whether machines can be made from it at all. Pure. */
import type { Discovered } from "../../document.ts";
import type { DiscoveryData, InstanceClassSpec } from "../input.ts";
import type { InstanceClass, NodeGroup } from "./resources.ts";

/** The NodeGroups of each class that have their machines made from it, by class and in the order of their names. */
export function consumersOf(groups: readonly NodeGroup[]): ReadonlyMap<string, readonly NodeGroup[]> {
  const consumers = new Map<string, NodeGroup[]>();
  for (const group of [...groups].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const { kind, name } = group.spec?.cloudInstances?.classReference ?? {};
    if (group.spec?.nodeType !== "CloudEphemeral" || kind !== "AWSInstanceClass" || name === undefined) continue;
    consumers.set(name, [...(consumers.get(name) ?? []), group]);
  }
  return consumers;
}

/** The status that a class is to have; undefined when it has it. The node manager may write the same names in another order. */
export function statusChange({ status }: InstanceClass, consumers: readonly NodeGroup[]): InstanceClass["status"] | undefined {
  const nodeGroupConsumers = consumers.map(nameOf);
  const written = status?.nodeGroupConsumers ?? undefined;
  return written && [...written].sort().join() === nodeGroupConsumers.join() ? undefined : { nodeGroupConsumers };
}

/** Those that the machine controller makes machines with. */
const diskTypes = ["gp3", "gp2", "io1", "st1", "sc1", "standard"];

/** What the machine controller would find out when it makes the first machine. */
export function classProblems(
  spec: InstanceClassSpec,
  consumers: readonly NodeGroup[],
  { instances, zones, zoneToSubnetIdMap }: DiscoveryData,
  discovered: Discovered | undefined,
): readonly string[] {
  // A definition of the platform's may let null pass.
  const given: InstanceClassSpec = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
  const { instanceType = "", diskType = "", iops = "", additionalSecurityGroups = [] } = given;
  const used = new Set(consumers.flatMap((group) => group.spec?.cloudInstances?.zones ?? zones));
  const offered = discovered?.instanceTypeZones?.[instanceType];
  return [
    ...(instanceType === "" ? ["spec.instanceType is empty"] : []),
    ...(diskType !== "" && !diskTypes.includes(diskType)
      ? [`spec.diskType: ${diskType} is none of those that machines can have: ${diskTypes.join(", ")}`]
      : []),
    ...(iops !== "" && !(Number(iops) > 0) ? [`spec.iops: ${iops} is not a number greater than zero`] : []),
    ...(diskType === "io1" && iops === "" ? ["spec.diskType io1 needs spec.iops"] : []),
    ...(instances.additionalSecurityGroups.length + additionalSecurityGroups.length === 0
      ? ["no security group: the default ones are off, and spec.additionalSecurityGroups names none"]
      : []),
    ...[...used].filter((zone) => zoneToSubnetIdMap[zone] === undefined).map((zone) => `zone ${zone} of a NodeGroup has no subnet`),
    ...(offered === undefined ? [] : [...used].filter((zone) => !offered.includes(zone))).map(
      (zone) => `spec.instanceType: ${instanceType} is not offered in zone ${zone} of a NodeGroup`,
    ),
  ];
}

function nameOf({ metadata }: NodeGroup): string {
  return metadata?.name ?? "";
}
