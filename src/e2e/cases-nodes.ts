/** Cases of nodes, routes and images. */
import { claimedInstance } from "../identity/node-view.ts";
import { clusterTagFilter } from "../identity/ownership.ts";
import type { Case } from "./cases.ts";
import { type Context, eventually, expect, NotHere, readyNodes } from "./context.ts";
import { startPod } from "./pods.ts";

const layers = [1, 2, 3].map((layer) => `topology.k8s.aws/network-node-layer-${layer}`);
const placeLabels = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type"];

async function someNodes(context: Context) {
  const ready = await readyNodes(context);
  if (ready.length === 0) throw new NotHere("a Node that is ready and takes pods");
  return ready;
}

export const nodeCases: readonly Case[] = [
  {
    name: "nodes-initialised",
    checks: "every ready Node has a provider ID, an internal address and the labels of its place, and no uninitialized taint",
    run: (context) =>
      eventually(context, async () => {
        for (const { metadata, providerId, addresses, taints } of await someNodes(context)) {
          expect(providerId.startsWith("aws:///"), `Node ${metadata.name} has no provider ID`);
          expect(
            addresses.some(({ type }) => type === "InternalIP"),
            `Node ${metadata.name} has no internal address`,
          );
          const missing = placeLabels.filter((label) => metadata.labels[label] === undefined);
          expect(missing.length === 0, `Node ${metadata.name} lacks ${missing.join(", ")}`);
          expect(
            !taints.some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized"),
            `Node ${metadata.name} is not initialised`,
          );
        }
      }),
  },
  {
    name: "nodes-zone-id",
    checks: "every ready Node has the label topology.k8s.aws/zone-id",
    run: (context) =>
      eventually(context, async () => {
        const without = (await someNodes(context)).filter(({ metadata }) => metadata.labels["topology.k8s.aws/zone-id"] === undefined);
        expect(without.length === 0, `without it: ${without.map(({ metadata }) => metadata.name).join(", ")}`);
      }),
  },
  {
    name: "nodes-network-topology",
    checks: "a Node has all three labels of its place in the network, or none; p4d.24xlarge have them",
    async run(context) {
      for (const { metadata } of await someNodes(context)) {
        const there = layers.filter((label) => metadata.labels[label] !== undefined);
        expect(there.length === 0 || there.length === layers.length, `Node ${metadata.name} has only ${there.join(", ")}`);
        const placed = metadata.labels["node.kubernetes.io/instance-type"] !== "p4d.24xlarge" || there.length > 0;
        expect(placed, `Node ${metadata.name} is a p4d.24xlarge without them: is ec2:DescribeInstanceTopology allowed?`);
      }
    },
  },
  {
    name: "routes",
    checks: "each Node's pod CIDR has a route to its instance",
    async run(context) {
      const { clusterCidr, cloud, cluster, ask } = context;
      if (clusterCidr === "") throw new NotHere("routes switched on (--configure-cloud-routes with --cluster-cidr)");
      await eventually(context, async () => {
        const tables = await cloud.routeTables.list([clusterTagFilter(cluster)], ask);
        const known = new Set(tables.flatMap(({ routes }) => routes.map((route) => `${route.destination} ${route.instanceId}`)));
        for (const node of await someNodes(context)) {
          for (const cidr of node.podCidrs) {
            expect(
              known.has(`${cidr} ${claimedInstance(node)}`),
              `Node ${node.metadata.name}: no route of ${cidr} to ${claimedInstance(node)}`,
            );
          }
        }
      });
    },
  },
  {
    name: "ecr-pull",
    checks: "a pod with a private image of Amazon's registry starts: kubelet has credentials for it",
    async run(context) {
      if (!context.pods) throw new NotHere("pods that run");
      const image = "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5";
      await startPod(context, "ecr", { image }, "Running");
    },
  },
];
