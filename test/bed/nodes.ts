/** Nodes as a kubelet registers them on EC2. */
import type { Node, Taint } from "../../src/kube/types.ts";

export interface NodeOptions {
  /** Whether the kubelet reports in. Default: true. */
  readonly ready?: boolean;
  /** Whether the cloud's part is still to be done: tainted so, without provider ID. Default: false. */
  readonly uninitialized?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
}

/** The number-th Node of a test process and the instance it runs on. */
export interface TestNode {
  readonly name: string;
  readonly instanceId: string;
  readonly address: string;
}

/** Names and ids that no other number gets. */
export function nodeNumber(number: number): TestNode {
  const [high, low] = [Math.floor(number / 250), (number % 250) + 1];
  return {
    name: `ip-10-1-${high}-${low}.us-west-2.compute.internal`,
    instanceId: `i-${number.toString(16).padStart(17, "0")}`,
    address: `10.1.${high}.${low}`,
  };
}

/** The object a kubelet would register for it. */
export function nodeObject(node: TestNode, options: NodeOptions = {}): Node {
  const { ready = true, uninitialized = false, taints = [] } = options;
  return {
    metadata: {
      name: node.name,
      labels: { "kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", ...options.labels },
      annotations: { ...options.annotations },
    },
    spec: {
      ...(!uninitialized && { providerID: `aws:///us-west-2a/${node.instanceId}` }),
      taints: [...(uninitialized ? [uninitializedTaint] : []), ...taints],
    },
    status: {
      addresses: [
        { type: "InternalIP", address: node.address },
        { type: "Hostname", address: node.name },
      ],
      conditions: [
        ready
          ? { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" }
          : { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." },
      ],
    },
  };
}

const uninitializedTaint: Taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
