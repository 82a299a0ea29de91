/** Cases of Services of type LoadBalancer, of both kinds. */
import { createSecurityGroup, deleteSecurityGroup } from "../aws/ec2-actions.ts";
import { claimedInstance, type NodeView } from "../identity/node-view.ts";
import { services } from "../kube/builtin.ts";
import {
  address,
  annotate,
  type Balanced,
  behindFirstListener,
  classicOf,
  createService,
  networkOf,
  type ServiceOptions,
  toClusterIp,
} from "./balancers.ts";
import type { Case } from "./cases.ts";
import { CaseFailed, type Context, eventually, expect, mark, NotHere, readyNodes } from "./context.ts";
import { askFromInside, startServer } from "./pods.ts";

const nlb = { type: "nlb" };
const hostnameLabel = "kubernetes.io/hostname";

/** A Service for the time of a case: at its end it is made one of type ClusterIP, and must lose its load balancer. */
async function withService(
  context: Context,
  what: string,
  options: ServiceOptions,
  body: (balanced: Balanced, hostname: string) => Promise<void>,
): Promise<void> {
  const balanced = await createService(context, what, options);
  await body(balanced, await address(context, balanced));
  await toClusterIp(context, balanced);
}

/** Real requests, from where the suite runs. */
async function reachable(context: Context, hostname: string, ports: readonly number[]): Promise<void> {
  if (!context.pods) return context.leftOut("real requests");
  for (const port of ports) {
    await eventually(context, async () => {
      const { status } = await context.request(`http://${hostname}:${port}/`);
      expect(status === 200, `http://${hostname}:${port}/ answers ${status}`);
    });
  }
}

/** A worker with a host name, for what is pinned to one node. */
async function oneWorker(context: Context): Promise<NodeView & { readonly host: string; readonly instance: string }> {
  for (const node of await readyNodes(context)) {
    const [host, instance] = [node.metadata.labels[hostnameLabel], claimedInstance(node)];
    const isControlPlane = node.metadata.labels["node-role.kubernetes.io/control-plane"] !== undefined;
    if (host && instance && node.taints.length === 0 && !isControlPlane) return { ...node, host, instance };
  }
  throw new NotHere(`a worker Node without taints and with the label ${hostnameLabel}`);
}

async function hairpin(context: Context, what: string, node: NodeView, hostname: string): Promise<void> {
  if (!context.pods) return context.leftOut("requests from a pod on the same node");
  await startServer(context, `${what}-server`, { node: node.metadata.name });
  await askFromInside(context, `${what}-client`, node.metadata.name, `http://${hostname}/`);
}

/** A security group of the suite's own, with its mark. */
async function ownGroup({ cloud, vpc, run, ask }: Context, what: string): Promise<string> {
  const { GroupId: id } = await cloud.call(
    createSecurityGroup,
    {
      GroupName: `e2e-${run}-${what}`,
      Description: `Made by fairlead e2e, run ${run}`,
      VpcId: vpc,
      TagSpecifications: [{ ResourceType: "security-group", Tags: [{ Key: mark, Value: run }] }],
    },
    { ...ask, target: `e2e-${run}-${what}`, repeatable: false },
  );
  if (id === undefined) throw new CaseFailed("EC2 gave the security group no id");
  return id;
}

function needManagedGroups({ managedNetworkGroups }: Context): void {
  if (!managedNetworkGroups)
    throw new NotHere("NLBSecurityGroupMode = Managed in the controllers' cloud config (--cloud-config here, if it is not found)");
}

async function groupsOf(context: Context, balanced: Balanced): Promise<readonly string[]> {
  return (await networkOf(context, balanced)).SecurityGroups ?? [];
}

async function groupExists({ cloud, ask }: Context, id: string): Promise<boolean> {
  return (await cloud.securityGroups.list([{ name: "group-id", values: [id] }], ask)).length > 0;
}

export const serviceCases: readonly Case[] = [
  {
    name: "clb-default",
    checks: "a classic load balancer with two ports, the cluster's mark and ours; requests are answered",
    run: (context) =>
      withService(context, "clb", { ports: [{ port: 80 }, { port: 81 }] }, async (balanced, hostname) => {
        if (context.pods) await startServer(context, "server");
        const { ListenerDescriptions = [], Scheme } = await classicOf(context, balanced);
        const ports = ListenerDescriptions.map(({ Listener: listener }) => listener?.LoadBalancerPort).sort();
        expect(ports.join() === "80,81", `its listeners are ${ports.join(", ")}`);
        expect(Scheme === "internet-facing", `its scheme is ${Scheme}`);
        const tags = await context.cloud.classicLoadBalancers.tags(balanced.balancer, context.ask);
        expect(tags?.[mark] === context.run, `it lacks the tag ${mark}`);
        await reachable(context, hostname, [80, 81]);
      }),
  },
  {
    name: "clb-internal-hairpin",
    checks: "an internal classic load balancer before one chosen node; a pod on that node reaches it",
    async run(context) {
      const node = await oneWorker(context);
      const annotations = { internal: "true", "target-node-labels": `${hostnameLabel}=${node.host}` };
      await withService(context, "clb-in", { annotations }, async (balanced, hostname) => {
        await eventually(context, async () => {
          const { Instances = [], Scheme } = await classicOf(context, balanced);
          expect(Scheme === "internal", `its scheme is ${Scheme}`);
          const ids = Instances.flatMap(({ InstanceId }) => InstanceId ?? []);
          expect(ids.join() === node.instance, `its instances are ${ids.join(", ") || "none"}, not ${node.instance}`);
        });
        await hairpin(context, "clb-in", node, hostname);
      });
    },
  },
  {
    name: "clb-source-ranges",
    checks: "loadBalancerSourceRanges are the sources of the load balancer's security group",
    run: (context) =>
      withService(context, "clb-src", { sourceRanges: ["192.0.2.0/24", "198.51.100.0/24"] }, async (balanced) => {
        await eventually(context, async () => {
          const { SecurityGroups: [group = ""] = [] } = await classicOf(context, balanced);
          const rules = await context.cloud.securityGroups.rules(group, context.ask);
          const sources = [...new Set(rules.filter(({ fromPort }) => fromPort === 80).flatMap(({ cidr }) => cidr ?? []))].sort();
          expect(sources.join() === "192.0.2.0/24,198.51.100.0/24", `port 80 is open to ${sources.join(", ") || "nobody"}`);
        });
      }),
  },
  {
    name: "nlb-default",
    checks: "a network load balancer; requests are answered",
    run: (context) =>
      withService(context, "nlb", { annotations: nlb }, async (balanced, hostname) => {
        const { Scheme, Type } = await networkOf(context, balanced);
        expect(Type === "network" && Scheme === "internet-facing", `it is ${Type}, ${Scheme}`);
        await reachable(context, hostname, [80]);
      }),
  },
  {
    name: "nlb-target-node-labels",
    checks: "the targets of a network load balancer are the nodes that its labels choose",
    async run(context) {
      const node = await oneWorker(context);
      const annotations = { ...nlb, "target-node-labels": `${hostnameLabel}=${node.host}` };
      await withService(context, "nlb-tnl", { annotations }, (balanced) =>
        eventually(context, async () => {
          const { targets } = await behindFirstListener(context, balanced);
          expect(targets.join() === node.instance, `its targets are ${targets.join(", ") || "none"}, not ${node.instance}`);
        }),
      );
    },
  },
  {
    name: "nlb-internal-hairpin",
    checks: "an internal network load balancer that does not preserve client addresses; a pod on its node reaches it",
    async run(context) {
      const node = await oneWorker(context);
      const annotations = {
        ...nlb,
        internal: "true",
        "target-node-labels": `${hostnameLabel}=${node.host}`,
        "target-group-attributes": "preserve_client_ip.enabled=false",
      };
      await withService(context, "nlb-in", { annotations }, async (balanced, hostname) => {
        await eventually(context, async () => {
          const { group } = await behindFirstListener(context, balanced);
          const attributes = await context.cloud.loadBalancers.targetGroupAttributes(group.TargetGroupArn ?? "", context.ask);
          const value = attributes["preserve_client_ip.enabled"];
          expect(value === "false", `preserve_client_ip.enabled is ${value}`);
        });
        await hairpin(context, "nlb-in", node, hostname);
      });
    },
  },
  {
    name: "nlb-udp",
    checks: "a network load balancer with a listener for UDP",
    run: (context) =>
      withService(context, "nlb-udp", { annotations: nlb, ports: [{ port: 53, protocol: "UDP" }] }, async (balanced) => {
        const { listener } = await behindFirstListener(context, balanced);
        expect(listener.Protocol === "UDP" && listener.Port === 53, `its listener is ${listener.Protocol} ${listener.Port}`);
      }),
  },
  {
    name: "nlb-own-security-group",
    checks: "a network load balancer that is made with a given security group has exactly that",
    async run(context) {
      needManagedGroups(context);
      const own = await ownGroup(context, "own");
      await withService(context, "nlb-own", { annotations: { ...nlb, "security-groups": own } }, async (balanced) => {
        const groups = await groupsOf(context, balanced);
        expect(groups.join() === own, `it has ${groups.join(", ") || "none"}, not ${own}`);
      });
    },
  },
  {
    name: "nlb-managed-to-own-group",
    checks: "a given security group takes the place of the managed one, which is deleted",
    async run(context) {
      needManagedGroups(context);
      const own = await ownGroup(context, "later");
      await withService(context, "nlb-m2o", { annotations: nlb }, async (balanced) => {
        const [managed = "", ...more] = await groupsOf(context, balanced);
        expect(managed !== "" && more.length === 0, "it does not begin with one managed group");
        await annotate(context, balanced, "security-groups", own);
        await eventually(context, async () => {
          const groups = await groupsOf(context, balanced);
          expect(groups.join() === own, `it has ${groups.join(", ")}, not ${own}`);
          expect(!(await groupExists(context, managed)), `the managed group ${managed} is still there`);
        });
      });
    },
  },
  {
    name: "nlb-own-to-managed-group",
    checks: "when the given security group is taken away, a managed one is attached; the given one stays",
    async run(context) {
      needManagedGroups(context);
      const own = await ownGroup(context, "first");
      await withService(context, "nlb-o2m", { annotations: { ...nlb, "security-groups": own } }, async (balanced) => {
        await annotate(context, balanced, "security-groups", null);
        await eventually(context, async () => {
          const groups = await groupsOf(context, balanced);
          expect(groups.length === 1 && groups[0] !== own, `it has ${groups.join(", ") || "none"}`);
        });
        expect(await groupExists(context, own), `the given group ${own} is gone`);
      });
    },
  },
  {
    name: "bad-annotation",
    checks: "an annotation that cannot be understood is told of on the Service, and makes nothing in AWS",
    async run(context) {
      const { kube, namespace, ask, cloud } = context;
      const { name, balancer } = await createService(context, "bad", { annotations: { "connection-idle-timeout": "soon" } });
      await eventually(context, async () => {
        const { status } = await kube.get(services, { namespace, name }, { signal: ask.signal });
        const told = status?.conditions?.some(({ message }) => message.includes("connection-idle-timeout"));
        expect(told === true, "no condition of the Service names the annotation");
      });
      expect((await cloud.classicLoadBalancers.byName(balancer, ask)) === undefined, "a load balancer was made all the same");
    },
  },
];

/** Deletes a group of the suite's own. */
export async function deleteOwnGroup({ cloud, ask }: Context, id: string): Promise<void> {
  await cloud.call(deleteSecurityGroup, { GroupId: id }, { ...ask, target: id, repeatable: true });
}
