/** An AWS account behind a socket, and Nodes in the test's cluster that run on its instances. */
import type { TestContext } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import type { Node, Taint } from "../../src/kube/types.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance, InstanceStateName } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import type { TestCluster } from "../bed/bed.ts";

export const uninitialized: Taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };

export interface NodeAccount {
  readonly cloud: Cloud;
  readonly network: Network;
  /** Of the cloud config that names the cluster's place in it. */
  readonly cloudConfig: string;
  /** Where the process finds the account. */
  readonly environment: Readonly<Record<string, string>>;
  launch(count: number): readonly Instance[];
  setState(id: string, state: InstanceStateName): void;
}

/** An account in us-west-2 with a network for the cluster `test`, until the test ends. */
export async function nodeAccount(t: TestContext, cluster: TestCluster): Promise<NodeAccount> {
  const world = realWorld();
  const cloud = createCloud({ world, region: "us-west-2" });
  const network = standardNetwork(cloud, { clusterId: "test" });
  const { url, close } = await serve(cloud);
  t.after(close);
  const cloudConfig = `${cluster.real.folder}/cloud-${network.vpcId}.conf`;
  const place = `[Global]\nRegion=us-west-2\nVPC=${network.vpcId}\nSubnetID=${network.privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.files.write(cloudConfig, place, 0o600);
  const setState = (id: string, state: InstanceStateName) => cloud.account.ec2.instances.update(id, { state });
  return {
    cloud,
    network,
    cloudConfig,
    environment: { AWS_ENDPOINT_URL: url },
    launch: (count) => launchNodes(cloud, network, count).map(({ id }) => setState(id, "running")),
    setState,
  };
}

/** Registers the Node of an instance; what is not given is as a kubelet with an external cloud provider sends it. */
export async function join(cluster: TestCluster, instance: Instance, wish: Partial<Node> = {}): Promise<string> {
  const name = wish.metadata?.name ?? instance.privateDnsName;
  const taints = wish.spec?.taints ?? [uninitialized];
  const providerID = wish.spec?.providerID;
  await cluster.admin.create(nodes, {
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...wish.metadata?.labels } },
    spec: { taints, ...(providerID && { providerID }) },
    status: wish.status ?? { conditions: [{ type: "Ready", status: "True" }] },
  });
  // Admission taints every new Node as not ready; on a live cluster kube-controller-manager takes that away again.
  await cluster.admin.patch(nodes, { name }, { merge: { spec: { taints } } });
  return name;
}

/** The kubelet reports, or somebody reports that it does not. */
export async function report(cluster: TestCluster, name: string, status: "True" | "False" | "Unknown"): Promise<void> {
  const conditions = [{ type: "Ready", status }];
  await cluster.admin.patch(nodes, { name, subresource: "status" }, { strategic: { status: { conditions } } });
}

/** Whether a Node carries a taint of this key. */
export async function hasTaint(cluster: TestCluster, name: string, key: string): Promise<boolean> {
  const { spec } = await cluster.admin.get(nodes, { name });
  return spec?.taints?.some((taint) => taint.key === key) ?? false;
}

/** A Node exactly as the reference leaves it. */
export function asTheReferenceLeavesIt(instance: Instance, ip: string): Partial<Node> {
  const { privateDnsName: name, type, zone, zoneId, id } = instance;
  return {
    metadata: {
      labels: {
        "beta.kubernetes.io/instance-type": type,
        "node.kubernetes.io/instance-type": type,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "topology.kubernetes.io/zone": zone,
        "failure-domain.beta.kubernetes.io/region": "us-west-2",
        "topology.kubernetes.io/region": "us-west-2",
        "topology.k8s.aws/zone-id": zoneId,
      },
    },
    spec: { providerID: `aws:///${zone}/${id}`, taints: [] },
    status: {
      addresses: [
        { type: "InternalIP", address: ip },
        { type: "InternalDNS", address: name },
        { type: "Hostname", address: name },
      ],
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}
