/** The class that machines of a NodeGroup are made from in one zone, and the checksum whose change replaces them. */
import { createHash } from "node:crypto";
import type { ArtifactsInput, InstanceClassSpec, NodeGroupInput } from "./input.ts";
import { plainYaml } from "./plain-yaml.ts";

/** Where machines live. */
export const machineNamespace = "d8-cloud-instance-manager";
const defaultDiskGb = 20;

/** `worker-5d62b9b2`: the group, and a digest of cluster and zone. */
export function machineClassName(group: string, clusterUUID: string, zone: string): string {
  return `${group}-${sha256(`${clusterUUID}${zone}`).slice(0, 8)}`;
}

/** Keys of the class that replace machines when they are there, whatever their value. */
const hashedKeys = ["ami", "spot", "diskType", "iops", "additionalSecurityGroups", "additionalTags"] as const;

/** Of the class and of the asked-for rollout, and of nothing else: another name, version or zone replaces nothing. */
export function machineClassChecksum(instanceClass: InstanceClassSpec, manualRolloutID = ""): string {
  const { diskSizeGb, instanceType } = instanceClass;
  const present = hashedKeys.filter((key) => instanceClass[key] !== undefined).map((key) => [key, instanceClass[key]]);
  return sha256(
    plainYaml({
      ...Object.fromEntries(present),
      instanceType: instanceType ?? null,
      ...(diskSizeGb !== undefined && diskSizeGb !== defaultDiskGb && { diskSizeGb }),
      ...(manualRolloutID !== "" && { manualRolloutID }),
    }),
  );
}

/** The class, or why it cannot be one: the machine controller would find out only when it makes a machine. */
export function machineClass(input: ArtifactsInput, group: NodeGroupInput, zone: string): object | { readonly problem: string } {
  const { clusterUUID, clusterConfiguration, discoveryData } = input;
  const { instances, zoneToSubnetIdMap, keyName } = discoveryData;
  const { instanceClass } = group;
  const subnetID = zoneToSubnetIdMap[zone];
  if (subnetID === undefined) return { problem: `zone ${zone}: no subnet; there are: ${Object.keys(zoneToSubnetIdMap).sort().join(", ")}` };
  const securityGroupIDs = [...new Set([...instances.additionalSecurityGroups, ...(instanceClass.additionalSecurityGroups ?? [])])];
  if (securityGroupIDs.length === 0) return { problem: "no security group: the default ones are off, and its instance class names none" };
  const name = machineClassName(group.name, clusterUUID, zone);
  const iops = instanceClass.iops === undefined || instanceClass.iops === "" ? undefined : Number(instanceClass.iops);
  return {
    apiVersion: "machine.sapcloud.io/v1alpha1",
    kind: "AWSMachineClass",
    metadata: { name, namespace: machineNamespace, labels: { heritage: "deckhouse", module: "node-manager", "node-group": group.name } },
    spec: {
      ami: instanceClass.ami || instances.ami,
      region: clusterConfiguration.provider.region,
      machineType: instanceClass.instanceType,
      iam: { name: instances.iamProfileName },
      keyName,
      sourceDestCheck: false,
      ...(instanceClass.spot && { spotPrice: "" }),
      networkInterfaces: [
        { subnetID, associatePublicIPAddress: instances.associatePublicIPAddress, deleteOnTermination: true, securityGroupIDs },
      ],
      useMachineNameAsNodeName: true,
      tags: {
        [`kubernetes.io/cluster/${clusterUUID}`]: "1",
        [`kubernetes.io/role/${clusterUUID}`]: "1",
        ...clusterConfiguration.tags,
        ...instanceClass.additionalTags,
      },
      blockDevices: [
        {
          ebs: {
            volumeSize: instanceClass.diskSizeGb || defaultDiskGb,
            volumeType: instanceClass.diskType || "gp2",
            ...(iops !== undefined && { iops }),
          },
        },
      ],
      secretRef: { namespace: machineNamespace, name },
    },
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
