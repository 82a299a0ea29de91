/** The cluster's route tables in the nodes' world: a second one joins late, and no working route may ever be taken away. */
import type { Node } from "../../src/kube/types.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { describeRoute } from "../../src/sandbox/cloud/ec2/routes.ts";
import type { RouteTable } from "../../src/sandbox/cloud/ec2/state.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";
import type { NodesScene } from "./nodes-scene.ts";

const clusterTag = "kubernetes.io/cluster/simulated";

/** Where the cluster's routes must be: every table of its VPC that carries its tag at this moment. */
export function clusterTables(cloud: Cloud, { vpcId }: Pick<Network, "vpcId">): readonly RouteTable[] {
  return [...cloud.account.ec2.routeTables.values()].filter((table) => table.vpcId === vpcId && clusterTag in table.tags);
}

/** Where a table sends which pods: an instance, a gateway or an interface, by destination. */
export function routesIn(cloud: Cloud, table: RouteTable): ReadonlyMap<string, string | undefined> {
  const { ec2 } = cloud.account;
  const seen = table.routes.map((route) => describeRoute(ec2, route));
  return new Map(
    seen.map((route) => [route.DestinationCidrBlock ?? "", route.InstanceId ?? route.NatGatewayId ?? route.NetworkInterfaceId]),
  );
}

/** What keeps machines from being looked up just when every one of them has to be. */
const lookUpTroubles: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "throttle" },
  { kind: "cut" },
  { kind: "fail", code: "UnauthorizedOperation", status: 403 },
  { kind: "fail", code: "InternalError", status: 500 },
];

/** In some histories somebody tags a second route table after some minutes, mostly at a bad moment. */
export async function tagSecondTable(scene: NodesScene, signal: AbortSignal): Promise<void> {
  const { chance, cloud, history, network, world } = scene;
  if (!chance.happens(0.6)) return;
  await sleep(world.clock, chance.between(60_000, 330_000), signal).catch(() => {});
  if (signal.aborted) return;
  const table = cloud.account.ec2.routeTables.get(network.publicTableId)!;
  cloud.account.ec2.routeTables.update(table.id, { tags: { ...table.tags, [clusterTag]: "owned" } });
  history.tell("user", `tags ${table.id} as the cluster's`);
  if (!chance.happens(0.8)) return;
  const effect = chance.pick(lookUpTroubles)!;
  history.tell("faults", `machines cannot be looked up: ${JSON.stringify(effect)}`);
  const fault = cloud.controls.faults.add({ action: "ec2:DescribeInstances", effect });
  await sleep(world.clock, chance.between(10_000, 120_000), signal).catch(() => {});
  cloud.controls.faults.remove(fault);
}

/** A replica may not have heard yet of a Node that is younger: its watch was silent, or its call waited. */
const knownToAllMs = 150_000;

/** What would be wrong with a replica's call, were it carried out now: it takes a working route from a Node that lives. */
export function wrongRouteCall(scene: NodesScene, form: URLSearchParams): string | undefined {
  const { cloud, instances, world } = scene;
  const [action, tableId, destination] = [form.get("Action"), form.get("RouteTableId") ?? "", form.get("DestinationCidrBlock") ?? ""];
  if (action !== "DeleteRoute" && action !== "ReplaceRoute") return undefined;
  const table = cloud.account.ec2.routeTables.get(tableId);
  const target = table && routesIn(cloud, table).get(destination);
  const owner = scene.nodes().find((node) => node.spec?.podCIDRs?.includes(destination) && instanceIdOf(node) === target);
  if (target === undefined || owner === undefined) return undefined;
  // After a stale read a route may be pointed where it leads already.
  if (action === "ReplaceRoute" && form.get("InstanceId") === target) return undefined;
  const state = instances.get(target)?.state;
  const known = world.clock.now() - Date.parse(owner.metadata.creationTimestamp ?? "") > knownToAllMs;
  if (!known || (state !== "running" && state !== "stopped")) return undefined;
  return `${action} of ${destination} in ${tableId}, which leads to ${target} of Node ${owner.metadata.name} as it should`;
}

function instanceIdOf(node: Node): string | undefined {
  return node.spec?.providerID?.split("/").at(-1);
}
