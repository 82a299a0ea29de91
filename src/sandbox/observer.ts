/** Looks at the cluster and the account, and draws the picture of both. */
import { interruptionPlanAnnotation } from "../identity/node-view.ts";
import { readPlan } from "../interruptions/plan.ts";
import { events, leases, nodes, pods, services } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Informer, informer, type Trimmed } from "../kube/informer.ts";
import type { Frozen } from "../kube/resource.ts";
import type { Event, Lease, Node, Pod, Service } from "../kube/types.ts";
import { balancersIn } from "./balancers.ts";
import type { CallLog } from "./calls.ts";
import type { LocalPort, OpenPort } from "./clients-way.ts";
import type { Cloud } from "./cloud/cloud.ts";
import type { Instance } from "./cloud/ec2/state.ts";
import type { Machines } from "./machines.ts";
import type { Replicas } from "./replicas.ts";
import type { StepTaken } from "./steps.ts";
import type { EventRow, NodeRow, NodeView, Picture, PodRow, RouteRow, ServiceRow } from "./view/picture.ts";

/** What the observer does not see by itself. */
export interface Surroundings {
  readonly title: string;
  readonly cloud: Cloud;
  readonly machines: Machines;
  readonly calls: CallLog;
  /** The access key that Fairlead signs with. */
  readonly fairleadKey: string;
  readonly throttling: () => boolean;
  readonly replicas: Replicas;
  /** Of all processes of Fairlead. */
  readonly steps: readonly StepTaken[];
  /** Where load balancers listen on this machine. */
  readonly localPorts: readonly LocalPort[];
}

type Seen<T extends object> = Frozen<Trimmed<T>>;

export class Observer {
  readonly nodes: Informer<Trimmed<Node>>;
  readonly pods: Informer<Trimmed<Pod>>;
  readonly #services: Informer<Trimmed<Service>>;
  readonly #events: Informer<Trimmed<Event>>;
  readonly #locks: Informer<Trimmed<Lease>>;
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
    this.nodes = informer<Node>({ client: kube, of: nodes });
    this.pods = informer<Pod>({ client: kube, of: pods });
    this.#services = informer<Service>({ client: kube, of: services });
    this.#events = informer<Event>({ client: kube, of: events });
    this.#locks = informer<Lease>({ client: kube, of: leases, namespace: "kube-system", name: "locks" });
  }

  /** Follows the cluster until the signal aborts; resolves when everything is known that exists now. */
  async start(signal: AbortSignal): Promise<void> {
    const informers = [this.nodes, this.pods, this.#services, this.#events, this.#locks];
    for (const one of informers) void one.run(signal);
    await Promise.all(informers.map(({ synced }) => synced));
  }

  /** Who holds the lease of the controller managers. */
  holder(): string | undefined {
    return this.#locks.get("kube-system/cloud-controller-manager")?.spec?.holderIdentity || undefined;
  }

  /** The ports that kube-proxy opens on every node, and the Services they are for. */
  openPorts(): ReadonlyMap<number, string> {
    return new Map(
      this.#services.list().flatMap(({ metadata, spec }) => {
        const ports = [...(spec?.ports ?? []).map(({ nodePort }) => nodePort), spec?.healthCheckNodePort];
        const open = ports.filter((port) => port !== undefined && port > 0) as number[];
        return open.map((port) => [port, `${metadata.namespace}/${metadata.name}`] as const);
      }),
    );
  }

  /** The ports of pods that have addresses of their own, until they have ended. */
  podPorts(): readonly OpenPort[] {
    return this.pods.list().flatMap(({ metadata, spec, status }) => {
      const ports = (spec?.containers ?? []).flatMap(({ ports: all = [] }) => all.map(({ containerPort }) => containerPort));
      const name = `${metadata.namespace}/${metadata.name}`;
      return status?.podIP ? ports.map((port) => ({ address: status.podIP!, port, name })) : [];
    });
  }

  picture({ title, cloud, machines, calls, fairleadKey, throttling, replicas, steps, localPorts }: Surroundings): Picture {
    return {
      now: this.#kube.host.world.clock.now(),
      title,
      replicas: replicas.list(),
      steps,
      nodes: nodeRows(machines.list(), this.nodes.list()),
      pods: this.pods.list().map(podRow),
      services: this.#services.list().filter(isBalanced).map(serviceRow),
      routes: routesIn(cloud),
      balancers: balancersIn(cloud, localPorts),
      events: this.#events
        .list()
        .map(eventRow)
        .sort((a, b) => a.at - b.at),
      calls: {
        tallies: calls.tallies(fairleadKey),
        recent: calls.recent().map((call) => ({ ...call, who: call.by === fairleadKey ? "Fairlead" : "you" })),
      },
      throttling: throttling(),
    };
  }
}

/** One row a machine, oldest first, and one for every Node whose machine is unknown. Machines long gone are left out. */
function nodeRows(machines: readonly Instance[], all: readonly Seen<Node>[]): readonly NodeRow[] {
  const views = all.map(nodeView);
  const byMachine = (id: string) => machines.findIndex((machine) => machine.id === id);
  const nodeOf = (machine: Instance) =>
    views.find((view) => view.providerId?.endsWith(`/${machine.id}`)) ??
    views.find((view) => view.providerId === undefined && view.name === machine.privateDnsName);
  const rows = machines
    .map((machine): NodeRow => ({ instanceId: machine.id, machine: machine.state, node: nodeOf(machine) }))
    .filter(({ machine, node }) => machine !== "terminated" || node !== undefined);
  const shown = new Set(rows.map(({ node }) => node));
  const strays = views
    .filter((view) => !shown.has(view))
    .map((node): NodeRow => ({ instanceId: node.providerId?.split("/").at(-1), machine: undefined, node }));
  return [...rows.sort((a, b) => byMachine(a.instanceId!) - byMachine(b.instanceId!)), ...strays];
}

function nodeView({ metadata, spec, status }: Seen<Node>): NodeView {
  const address = (type: string) => status?.addresses?.find((other) => other.type === type)?.address;
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  return {
    name: metadata.name,
    uid: metadata.uid,
    ready: ready === "True" || ready === "Unknown" ? ready : "False",
    zone: metadata.labels?.["topology.kubernetes.io/zone"],
    type: metadata.labels?.["node.kubernetes.io/instance-type"],
    providerId: spec?.providerID || undefined,
    internalIp: address("InternalIP"),
    externalIp: address("ExternalIP"),
    podCidr: spec?.podCIDR,
    taints: [...new Set((spec?.taints ?? []).map(({ key }) => key.replace(/^.*\//, "")))].sort(),
    cordoned: spec?.unschedulable ?? false,
    interruption: readPlan(metadata.annotations?.[interruptionPlanAnnotation])?.phase,
  };
}

function podRow({ metadata, spec }: Seen<Pod>): PodRow {
  return { name: `${metadata.namespace}/${metadata.name}`, uid: metadata.uid, node: spec?.nodeName ?? "" };
}

function isBalanced({ metadata, spec }: Seen<Service>): boolean {
  return spec?.type === "LoadBalancer" || (metadata.finalizers ?? []).some((name) => name.includes("load-balancer"));
}

const typeAnnotation = "service.beta.kubernetes.io/aws-load-balancer-type";

function serviceRow({ metadata, spec, status }: Seen<Service>): ServiceRow {
  const isNetwork = spec?.loadBalancerClass !== undefined || metadata.annotations?.[typeAnnotation] === "nlb";
  return {
    name: `${metadata.namespace}/${metadata.name}`,
    kind: isNetwork ? "network" : "classic",
    ports: (spec?.ports ?? []).map(({ port, nodePort }) => (nodePort ? `${port}:${nodePort}` : String(port))).join(","),
    address: status?.loadBalancer?.ingress?.[0]?.hostname,
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

function eventRow({ metadata, type, reason, message, involvedObject, count, lastTimestamp, eventTime }: Seen<Event>): EventRow {
  return {
    uid: metadata.uid,
    at: Date.parse(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ""),
    warning: type === "Warning",
    reason: reason ?? "",
    about: `${(involvedObject.kind ?? "").toLowerCase()}/${involvedObject.name ?? ""}`,
    message: message ?? "",
    count: count ?? 1,
  };
}

function routesIn({ account: { ec2 } }: Cloud): readonly RouteRow[] {
  return ec2.routeTables
    .values()
    .flatMap(({ routes }) => routes)
    .flatMap(({ destination, target }) => (target.kind === "interface" ? [{ destination, instanceId: target.instanceId }] : []));
}
