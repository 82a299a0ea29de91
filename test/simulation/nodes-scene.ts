/** Where the nodes' histories take place: a cluster and an account, who runs on what, and what must be true of it. */
import type { Node } from "../../src/kube/types.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../src/runtime/http.ts";
import { bodyText } from "../../src/runtime/http.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { LeaseRule } from "./lease-rule.ts";
import { clusterCidr, plantForeignRoutes, wrongRoutes } from "./nodes-routes.ts";
import { wrongRouteCall } from "./route-tables.ts";
import { streamedListsOf } from "./streamed-lists.ts";

/** Compiled once: they are the same in every history. */
const shapes = new Shapes();

export const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";
export const shutdown = "node.cloudprovider.kubernetes.io/shutdown";
const nodeControllers = "cloud-node,cloud-node-lifecycle,route";
const leaseName = "cloud-controller-manager";

/** How a kubelet introduces itself. */
export type Introduction = "provider ID" | "DNS name" | "address";

/** A machine and the name of the Node its kubelet registers. */
export interface Kubelet {
  readonly name: string;
  readonly instanceId: string;
  readonly by: Introduction;
  readonly labels: Readonly<Record<string, string>>;
  /** Nobody stops it, ends it, or deletes its Node. */
  readonly steady?: boolean;
  /** Until when its reports do not get through. */
  silentUntil: number;
}

export class NodesScene {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  /** By Node name. */
  readonly kubelets = new Map<string, Kubelet>();
  /** Names of Nodes on machines of another VPC: nobody initialises or deletes them. */
  readonly strangers = new Set<string>();
  /** When a replica last changed a Node with which nothing was amiss, in virtual milliseconds. */
  lastWriteAt = 0;

  /** Of every controller manager here. */
  readonly flags: readonly string[];
  readonly config: string;
  /** A machine of the cluster that is always there: else nothing that is missing could be proven to be. */
  protected readonly witness: Instance;

  /** Who leads, and that nobody else writes. */
  readonly lease: LeaseRule;

  constructor(seed: number, controllers = nodeControllers, settings = "") {
    this.world = virtualWorld(seed);
    this.history = new History(this.world.clock);
    this.chance = chanceOf(this.world.random);
    this.cluster = createEmbeddedCluster({ world: this.world, historyLimit: 500, streamedLists: streamedListsOf(seed) });
    this.lease = new LeaseRule(this, leaseName);
    this.cloud = createCloud({ world: this.world, seed, shapes });
    this.network = standardNetwork(this.cloud, { clusterId: "simulated", zones: 2 });
    this.witness = launchNodes(this.cloud, this.network, 1)[0]!;
    plantForeignRoutes(this.cloud, this.network, this.witness.interfaceIds[0]!);
    this.flags = [
      `--controllers=${controllers}`,
      "--node-monitor-period=15s",
      "--node-status-update-frequency=2m",
      `--cluster-cidr=${clusterCidr}`,
      "--route-reconciliation-period=1m",
    ];
    const { vpcId, privateSubnetIds } = this.network;
    this.config = `[Global]\nRegion=us-east-1\nVPC=${vpcId}\nSubnetID=${privateSubnetIds[0]}\nKubernetesClusterID=simulated\n${settings}\n`;
  }

  get instances() {
    return this.cloud.account.ec2.instances;
  }

  nodes(): readonly (Node & { metadata: { name: string; uid: string } })[] {
    return this.cluster.objects("nodes") as never;
  }

  instanceOf(kubelet: Kubelet): Instance | undefined {
    this.cloud.account.time.settle();
    return this.instances.get(kubelet.instanceId);
  }

  /** The API server as replicas reach it, with an eye on what they do to Nodes. */
  readonly serve: Transport = async (request) => {
    const name = /^\/api\/v1\/nodes\/([^/]+)(\/status)?$/.exec(request.url.pathname)?.[1];
    const before = name === undefined || request.method === "GET" ? undefined : this.nodes().find(({ metadata }) => metadata.name === name);
    const answer = await this.cluster.send(request);
    if (before !== undefined && answer.status < 300) this.#judge(before, request);
    const aside = request.method === "GET" || /\/(leases|events)(\/|$)/.test(request.url.pathname);
    if (!aside) this.changed(`${request.method} ${request.url.pathname}`, answer.status < 300);
    return answer;
  };

  /** AWS as replicas reach it. */
  readonly serveAws: Transport = async (request) => {
    const form = new URLSearchParams(String(request.body));
    const action = form.get("Action") ?? "";
    const wrong = wrongRouteCall(this, form);
    // What is cut off may have been carried out all the same.
    let done = true;
    try {
      const answer = await this.cloud.handle(request);
      done = answer.status < 300;
      if (done && wrong !== undefined) this.history.broken("a working route of a Node that lives is never taken away", wrong);
      return answer;
    } finally {
      if (!action.startsWith("Describe")) this.changed(action, done, String(request.body));
    }
  };

  /** Told after everything by which a replica changed the world, or tried to. */
  protected changed(_by: string, _done: boolean, _input?: string): void {}

  async say(who: string, method: string, path: string, body?: object, patch = "strategic-merge"): Promise<HttpResponse> {
    const answer = await this.cluster.send({
      method,
      url: new URL(path, "http://cluster"),
      headers: { "content-type": method === "PATCH" ? `application/${patch}-patch+json` : "application/json", "user-agent": who },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await bodyText(answer);
    this.history.tell(who, `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)} → ${answer.status}`);
    return answer;
  }

  /** What is wrong with the state of the world, were it final. */
  differences(): string[] {
    this.cloud.account.time.settle();
    const nodes = this.nodes().filter(({ metadata }) => !this.strangers.has(metadata.name));
    const missing = [...this.kubelets.values()]
      .filter(
        (kubelet) =>
          ["pending", "running"].includes(this.instanceOf(kubelet)?.state ?? "") &&
          !nodes.some(({ metadata }) => metadata.name === kubelet.name),
      )
      .map(({ name }) => `Node ${name} is missing`);
    const routes = wrongRoutes(this.cloud, this.network, nodes, (node) => this.#routedTo(node));
    return [...missing, ...nodes.flatMap((node) => this.#wrongWith(node)), ...routes];
  }

  /** The machine a Node's pods are reached by: one that exists, and that the Node says it is. */
  #routedTo(node: Node): string | undefined {
    const id = node.spec?.providerID?.split("/").at(-1);
    const state = id === undefined ? undefined : this.instances.get(id)?.state;
    return state === "running" || state === "stopped" ? id : undefined;
  }

  #wrongWith(node: Node & { metadata: { name: string } }): string[] {
    const { name } = node.metadata;
    const kubelet = this.kubelets.get(name);
    const instance = kubelet && this.instanceOf(kubelet);
    const tainted = (key: string) => node.spec?.taints?.some((taint) => taint.key === key) ?? false;
    if (instance === undefined || instance.state === "terminated") {
      // Who never had a provider ID cannot be proven gone.
      return node.spec?.providerID ? [`Node ${name} should be deleted: its instance is gone`] : [];
    }
    const stopped = instance.state === "stopped";
    if (stopped && tainted(uninitialized)) return [];
    if (!stopped && instance.state !== "running") return [`instance ${instance.id} of Node ${name} is ${instance.state}`];
    const wrong: string[] = [];
    const expect = (what: string, seen: unknown, wanted: unknown) => {
      if (JSON.stringify(seen) !== JSON.stringify(wanted))
        wrong.push(`Node ${name} has ${what} ${JSON.stringify(seen)}, should be ${JSON.stringify(wanted)}`);
    };
    const { labels = {} } = node.metadata;
    expect("the uninitialised taint", tainted(uninitialized), false);
    expect("the shutdown taint", tainted(shutdown), stopped);
    expect("provider ID", node.spec?.providerID, `aws:///${instance.zone}/${instance.id}`);
    expect("zone", labels["topology.kubernetes.io/zone"], instance.zone);
    expect("zone id", labels["topology.k8s.aws/zone-id"], instance.zoneId);
    expect("type", labels["node.kubernetes.io/instance-type"], instance.type);
    // Of a stopped instance EC2 does not tell the place, and that is said until it runs.
    if (!stopped) expect("condition", node.status?.conditions?.find(({ type }) => type === "CloudProviderInitialized")?.message, undefined);
    const ips = instance.interfaceIds.flatMap((id) => this.cloud.account.ec2.interfaces.get(id)?.privateAddresses ?? []);
    const addresses = [...ips, instance.privateDnsName, instance.privateDnsName];
    expect(
      "addresses",
      node.status?.addresses?.map(({ address }) => address),
      addresses,
    );
    return wrong;
  }

  /** What a replica did to a Node must be true at that moment. */
  #judge(before: Node & { metadata: { name: string } }, request: HttpRequest): void {
    const { name } = before.metadata;
    // Where something is amiss it is told again and again what.
    const amiss = before.status?.conditions?.some(({ type }) => type === "CloudProviderInitialized");
    const initialised = !before.spec?.taints?.some(({ key }) => key === uninitialized);
    // One that was initialised late, of a machine that has been stopped meanwhile, gets its taint with the next look.
    if (!amiss && initialised && this.#wrongWith(before).length === 0) this.lastWriteAt = this.world.clock.monotonic();
    if (request.method === "DELETE") {
      const id = before.spec?.providerID?.split("/").at(-1) ?? name;
      this.cloud.account.time.settle();
      const state = this.instances.get(id)?.state ?? "gone";
      if (state !== "terminated" && state !== "gone")
        this.history.broken("no Node is deleted whose instance lives", `${name} on ${id}, which is ${state}`);
      return;
    }
    const { spec } = JSON.parse(String(request.body)) as Node;
    const given = spec?.providerID;
    const own = this.kubelets.get(name)?.instanceId;
    if (given !== undefined && given.split("/").at(-1) !== own)
      this.history.broken("every initialised Node tells the truth", `${name} runs on ${own} and was given ${given}`);
  }
}
