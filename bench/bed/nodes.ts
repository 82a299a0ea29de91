/** Nodes of the size they have on EC2. */
import type { Node, Taint } from "../../src/kube/types.ts";
import type { Machine } from "./cloud-process.ts";

const uninitialized: Taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };

/** How far a Node is. */
export type NodeStage =
  | { readonly kind: "registered"; readonly providerId: boolean }
  /** With all that a cloud controller manager gives it. */
  | { readonly kind: "initialised"; readonly podCidr?: string };

/** The Node that a kubelet on this machine registers, and what has become of it. */
export function nodeOf(machine: Machine, stage: NodeStage): Node {
  const { name, zone, id, address } = machine;
  const providerID = `aws:///${zone}/${id}`;
  const labels = { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", ...groupLabels };
  if (stage.kind === "registered") {
    const spec = { taints: [uninitialized], ...(stage.providerId && { providerID }) };
    return { metadata: { name, labels }, spec, status: kubeletStatus(number(id), []) };
  }
  const { podCidr } = stage;
  return {
    metadata: { name, labels: { ...labels, ...placeLabels(zone) } },
    spec: { providerID, taints: [], ...(podCidr && { podCIDR: podCidr, podCIDRs: [podCidr] }) },
    status: kubeletStatus(number(id), [
      { type: "InternalIP", address },
      { type: "InternalDNS", address: name },
      { type: "Hostname", address: name },
    ]),
  };
}

/** What a kubelet reports: above all its images, fifty at most. `seed` makes one Node differ from the next. */
export function kubeletStatus(seed: number, addresses: readonly { type: string; address: string }[]): NonNullable<Node["status"]> {
  const images = Array.from({ length: 50 }, (_, index) => {
    const repository = `602401143452.dkr.ecr.us-west-2.amazonaws.com/team-${index % 7}/service-${index}`;
    const digest = `${index.toString(16)}${seed.toString(16)}`.padStart(64, "ab");
    return { names: [`${repository}@sha256:${digest}`, `${repository}:v1.${index}.${seed % 30}`], sizeBytes: 50_000_000 + index };
  });
  const capacity = { cpu: "16", memory: "65536000Ki", pods: "234", "ephemeral-storage": "104845292Ki", "hugepages-2Mi": "0" };
  return {
    addresses: [...addresses],
    capacity,
    allocatable: capacity,
    images,
    conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
      type,
      status: type === "Ready" ? "True" : "False",
      reason: `Kubelet${type}`,
      message: `kubelet reports on ${type}`,
    })),
    nodeInfo: {
      architecture: "amd64",
      bootID: "3d8aee4e-2d4c-4f52-8b7a-6a8f3d5f7e10",
      containerRuntimeVersion: "containerd://2.1.4",
      kernelVersion: "6.12.40-63.114.amzn2023.x86_64",
      kubeletVersion: "v1.36.3",
      kubeProxyVersion: "",
      machineID: `ec2${seed.toString(16).padStart(29, "0")}`,
      operatingSystem: "linux",
      osImage: "Amazon Linux 2023.8.20250808",
      systemUUID: `ec2${seed.toString(16).padStart(33, "0")}`,
    },
  };
}

/** Labels that a node group's kubelets bring along. */
export const groupLabels = { "eks.amazonaws.com/nodegroup": "general", "eks.amazonaws.com/capacityType": "ON_DEMAND" };

/** Labels that tell where a Node is, in both forms. */
export function placeLabels(zone: string): Readonly<Record<string, string>> {
  const region = zone.slice(0, -1);
  return {
    "beta.kubernetes.io/instance-type": "m5.large",
    "node.kubernetes.io/instance-type": "m5.large",
    "failure-domain.beta.kubernetes.io/region": region,
    "topology.kubernetes.io/region": region,
    "failure-domain.beta.kubernetes.io/zone": zone,
    "topology.kubernetes.io/zone": zone,
    "topology.k8s.aws/zone-id": `usw2-az${zone.charCodeAt(zone.length - 1) - 96}`,
  };
}

function number(id: string): number {
  return Number.parseInt(id.slice(-8), 16);
}
