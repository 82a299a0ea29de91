/** `fairlead explain node/NAME`: one page about a Node: which machine it is, what it should show, how its pods are reached. */

import type { InstanceLookup } from "../aws/instances.ts";
import { examineNode } from "../doctor/examine-node.ts";
import type { Finding } from "../doctor/finding.ts";
import { metadataOf } from "../doctor/network-questions.ts";
import { claimedAddresses, claimedInstance, type Nodes, type SeenNode } from "../identity/node-view.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import { explainInterruption } from "../interruptions/explain.ts";
import { events } from "../kube/builtin.ts";
import { reconcileAges } from "../loadbalancers/inventory.ts";
import { type Identification, Identities } from "../nodes/identify.ts";
import { addressesFor } from "../nodes/initialise-plan.ts";
import { addressesOf, typeOf, zoneOf } from "../nodes/machine.ts";
import { leadsTo } from "../routes/model.ts";
import { stepsOf } from "../routes/plan.ts";
import { ageText } from "../runtime/age-text.ts";
import { warningsIn } from "./event-history.ts";
import { type Live, NotPossible } from "./live.ts";
import { routesOf } from "./live-routes.ts";

/** The page. */
export async function explainNode(name: string, live: Live, now: number): Promise<string> {
  const views = live.nodes.list();
  const node = views.find(({ metadata }) => metadata.name === name);
  if (node === undefined) throw new NotPossible(`there is no Node ${name}`);
  const { cloud, self, ask } = live;
  const identities = new Identities({ cloud, self, nodes: lookups(views), byNameTag: false });
  const found = await identities.identify(node, ask);
  const findings = await findingsAbout(node, found, live, now);
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["identity", identity(found)],
    ["addresses", addresses(node, found, live)],
    ["taints", node.taints.map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`)],
    ["conditions", node.conditions.map(({ type, status, reason }) => `${type} ${status}${reason ? ` (${reason})` : ""}`)],
    ["interruption", explainInterruption(node.interruptionPlan, now)],
    ["routes", await routes(node, live)],
    ["warnings", await warnings(node, live, now)],
    ["wrong", findings.map(({ check, what }) => `${check}: ${what}`)],
    ["next", next(node, found, findings)],
  ];
  const width = Math.max(...rows.map(([title]) => title.length)) + 2;
  const lines = rows.flatMap(([title, texts]) =>
    (texts.length > 0 ? texts : ["none"]).map((text, i) => `  ${(i === 0 ? title : "").padEnd(width)}${text}`),
  );
  return `node ${name}\n\n${lines.join("\n")}\n`;
}

/** Nodes as identification asks for them, from one list. */
function lookups(views: readonly SeenNode[]): Pick<Nodes, "get" | "by"> {
  const keys = { instance: (node: SeenNode) => [claimedInstance(node)], address: claimedAddresses };
  return {
    get: (name) => views.find(({ metadata }) => metadata.name === name),
    by: (index, key) => views.filter((node) => (keys[index](node) as readonly (string | undefined)[]).includes(key)),
  };
}

function identity(found: Identification): string[] {
  if (found.kind === "unidentified") return [`not known: ${found.reason}: ${found.message}`];
  const { machine, by } = found;
  if (machine.kind === "fargate")
    return [`a Fargate pod's interface ${machine.networkInterface.id} in ${zoneOf(machine)}, known by its ${by}`];
  return [`${machine.instance.id}, ${typeOf(machine)} in ${zoneOf(machine)}, ${machine.instance.state}, known by its ${by}`];
}

function addresses(node: SeenNode, found: Identification, { config }: Live): string[] {
  const shown = node.addresses.map(({ type, address }) => `${type} ${address}`);
  if (found.kind === "unidentified") return shown;
  const wanted = addressesFor(node, addressesOf(found.machine, config.nodes.ipFamilies)).map(({ type, address }) => `${type} ${address}`);
  const missing = wanted.filter((text) => !shown.includes(text));
  const surplus = shown.filter((text) => !wanted.includes(text));
  return [
    ...shown.filter((text) => wanted.includes(text)),
    ...missing.map((text) => `${text}: EC2 has it, the Node does not show it yet`),
    ...surplus.map((text) => `${text}: the Node shows it, EC2 does not have it`),
  ];
}

async function routes(node: SeenNode, live: Live): Promise<string[]> {
  if (node.podCidrs.length === 0) return ["the Node has no pod CIDR"];
  if (live.clusterCidr === "") return ["not checked: give the --cluster-cidr of the controllers"];
  const { tables, changes, refused } = await routesOf(live);
  const own = { instanceId: claimedInstance(node) };
  return node.podCidrs.flatMap((cidr) => [
    ...tables.map(({ id, routes: seen }) => {
      const route = seen.get(cidr);
      if (route === undefined) return `${cidr}: not in route table ${id}`;
      const target = route.instanceId ?? route.interfaceId ?? route.otherTarget ?? "nothing";
      return `${cidr} leads to ${target} in route table ${id}, ${route.state}${leadsTo(route, own) ? "" : ", which is not this node"}`;
    }),
    ...refused
      .filter((refusal) => refusal.node.name === node.metadata.name && refusal.destination === cidr)
      .map(({ why }) => `${cidr}: ${why}`),
    ...changes.filter(({ destination }) => destination === cidr).flatMap((change) => stepsOf(change).map(({ what }) => `would ${what}`)),
  ]);
}

async function warnings({ metadata: { uid } }: SeenNode, { kube, ask }: Live, now: number): Promise<string[]> {
  const { items } = await kube.list(events, { namespace: "default", fieldSelector: `involvedObject.uid=${uid}`, signal: ask.signal });
  return warningsIn(items).map(({ text, atMs }) => `${ageText(atMs, now)}: ${text}`);
}

/** The same checks as the doctor's, of this Node alone. */
async function findingsAbout(node: SeenNode, found: Identification, live: Live, now: number): Promise<readonly Finding[]> {
  const { cloud, self, inventory, ask } = live;
  const id = claimedInstance(node);
  const machine = found.kind === "unidentified" ? undefined : found.machine;
  const identified = machine?.kind === "instance" ? ({ kind: "found", instance: machine.instance } as const) : undefined;
  const [lookup, groups, metadata] = await Promise.all([
    identified ?? (id === undefined ? undefined : cloud.instances.lookup(id, ask)),
    inventory.groups.listed(reconcileAges.absentMs, ask),
    metadataOf(cloud, [node], ask),
  ]);
  const { cluster, vpc } = self;
  const all = live.nodes.list();
  const isForeign = lookup?.kind === "found" && !hasClusterTag(lookup.instance.tags, cluster);
  const beside = isForeign ? await instancesOf(all, live) : new Map<string, InstanceLookup>();
  return examineNode({ node, all, lookup, beside, cluster, vpc, region: cloud.region, groups, metadata, now });
}

/** Enough to tell whether it is one instance that is tagged for another cluster, or all of them. */
const maxBeside = 100;

async function instancesOf(views: readonly SeenNode[], { cloud, ask }: Live): Promise<ReadonlyMap<string, InstanceLookup>> {
  const ids = [...new Set(views.flatMap((view) => claimedInstance(view) ?? []))].slice(0, maxBeside);
  return new Map(await Promise.all(ids.map(async (id) => [id, await cloud.instances.lookup(id, ask)] as const)));
}

function next(node: SeenNode, found: Identification, findings: readonly Finding[]): string[] {
  const remedies = findings.flatMap(({ remedy }) => remedy ?? []);
  if (remedies.length > 0) return remedies;
  const waits = node.taints.some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized");
  if (found.kind === "unidentified") return ["make the Node's identity known: see docs/troubleshoot.md"];
  if (found.machine.kind === "instance" && found.machine.instance.state === "stopped") return ["start the instance, or delete the Node"];
  if (waits) return ["the cloud-node-controller has not initialised it yet: look at its log, and who leads (fairlead doctor)"];
  return ["nothing"];
}
