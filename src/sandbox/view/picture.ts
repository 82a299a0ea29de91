/** Everything the sandbox shows, at one moment, as plain data. */
import type { CloudCall, Tally } from "../calls.ts";
import type { InstanceStateName } from "../cloud/ec2/state.ts";
import type { ReplicaView } from "../replicas.ts";
import type { StepTaken } from "../steps.ts";

export interface Picture {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly title: string;
  readonly replicas: readonly ReplicaView[];
  /** Machines and their Nodes; a machine that has not registered has no Node, a Node may outlive its machine. */
  readonly nodes: readonly NodeRow[];
  readonly pods: readonly PodRow[];
  readonly services: readonly ServiceRow[];
  /** Routes to pods in the VPC's route tables. */
  readonly routes: readonly RouteRow[];
  readonly balancers: readonly BalancerRow[];
  /** What Fairlead did to AWS, step by step, and why. */
  readonly steps: readonly StepTaken[];
  readonly events: readonly EventRow[];
  readonly calls: CallsView;
  /** Whether AWS is made to throttle. */
  readonly throttling: boolean;
}

export interface NodeRow {
  readonly instanceId: string | undefined;
  readonly machine: InstanceStateName | undefined;
  /** The Node's parts; undefined while there is no Node. */
  readonly node: NodeView | undefined;
}

export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly ready: "True" | "False" | "Unknown";
  /** From its labels, so that one sees them come. */
  readonly zone: string | undefined;
  readonly type: string | undefined;
  readonly providerId: string | undefined;
  readonly internalIp: string | undefined;
  readonly externalIp: string | undefined;
  readonly podCidr: string | undefined;
  /** Without what stands before the slash, in alphabetic order. */
  readonly taints: readonly string[];
  readonly cordoned: boolean;
  /** How far the plan of its interruption is; undefined when there is none. */
  readonly interruption: string | undefined;
}

export interface PodRow {
  /** `namespace/name` */
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

export interface ServiceRow {
  readonly name: string;
  readonly kind: string;
  readonly ports: string;
  /** The load balancer's host name, once there is one. */
  readonly address: string | undefined;
  readonly deleting: boolean;
}

export interface RouteRow {
  readonly destination: string;
  /** The machine it leads to. */
  readonly instanceId: string | undefined;
}

export interface BalancerRow {
  readonly kind: "classic" | "network" | "application";
  readonly dnsName: string;
  readonly ports: readonly number[];
  /** Nodes behind it, and how many of them pass its health checks. */
  readonly targets: number;
  readonly healthy: number;
  /** Its ports on this machine, those that are open. */
  readonly local: readonly { readonly port: number; readonly url: string }[];
}

export interface EventRow {
  readonly uid: string;
  readonly at: number;
  readonly warning: boolean;
  readonly reason: string;
  /** `node/ip-10-0-0-1` */
  readonly about: string;
  readonly message: string;
  readonly count: number;
}

export interface CallsView {
  /** Of Fairlead alone. */
  readonly tallies: readonly Tally[];
  /** Of everybody, the newest last. */
  readonly recent: readonly (CloudCall & { readonly who: "Fairlead" | "you" })[];
}

/** The same moment before anything was there, so that the story can begin at the beginning. */
export function emptied(picture: Picture): Picture {
  return { ...picture, nodes: [], pods: [], replicas: [], services: [], events: [], routes: [], balancers: [], steps: [] };
}

/** The load balancer that serves a Service. */
export function balancerOf(service: ServiceRow, { balancers }: Picture): BalancerRow | undefined {
  return balancers.find(({ dnsName }) => dnsName === service.address);
}

/** Sums over all actions. */
export function totals(tallies: readonly Tally[]): Omit<Tally, "action"> {
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  return { calls: sum(({ calls }) => calls), throttled: sum(({ throttled }) => throttled), failed: sum(({ failed }) => failed) };
}

/** `ip-10-0-1-2` of `ip-10-0-1-2.ec2.internal`. */
export function shortName(name: string): string {
  return name.replace(/\..*/, "");
}
