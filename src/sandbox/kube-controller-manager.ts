/**
 * A stand-in for the parts of kube-controller-manager that Fairlead counts on: it gives Nodes their pod CIDR, notices
 * when a kubelet falls silent, and keeps the taints that follow from a Node's readiness.
 */
import { leases, nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type Informer, informer, type Trimmed } from "../kube/informer.ts";
import type { Frozen } from "../kube/resource.ts";
import type { Lease, Node, Taint } from "../kube/types.ts";
import { sleep } from "../runtime/world.ts";

export interface StandInOptions {
  readonly kube: KubeClient;
  readonly nodes: Informer<Trimmed<Node>>;
  /** A kubelet that has not renewed its Lease for so long counts as lost; 50 seconds in a real cluster. */
  readonly graceMs: number;
  readonly complain: (message: string, error: unknown) => void;
}

type NodeView = Frozen<Trimmed<Node>>;

/** Pods get addresses of this network, a /24 for every Node. */
export const podNetwork = "10.244.0.0/16";

const lookEveryMs = 250;

/** Runs until the signal aborts. */
export async function standInForKubeControllerManager(options: StandInOptions, signal: AbortSignal): Promise<void> {
  const { kube } = options;
  const heartbeats = informer<Lease>({ client: kube, of: leases, namespace: "kube-node-lease", name: "node leases" });
  void heartbeats.run(signal);
  const seen = new Heartbeats(kube.host.world.clock.monotonic());
  const given: GivenCidrs = new Map();
  while (!signal.aborted) {
    const now = kube.host.world.clock.monotonic();
    for (const { metadata, spec } of heartbeats.list()) seen.note(metadata.name, spec?.renewTime ?? "", now);
    for (const node of options.nodes.list()) {
      try {
        if (node.spec?.podCIDR) await look(node, seen.silentFor(node.metadata.name, now) > options.graceMs, kube, signal);
        else await givePodCidr(node, options, given, signal);
      } catch (error) {
        // Somebody else changed it or took it away: the next look sees it as it is.
        if (!signal.aborted && !isApiError(error, "conflict", "not-found")) options.complain("a Node was not handled", error);
      }
    }
    await sleep(kube.host.world.clock, lookEveryMs, signal).catch(() => {});
  }
}

/** When each Lease was last seen to change, on our own clock: those of the machines may be wrong. */
class Heartbeats {
  readonly #began: number;
  readonly #last = new Map<string, { readonly renewTime: string; readonly at: number }>();
  constructor(began: number) {
    this.#began = began;
  }
  note(name: string, renewTime: string, now: number): void {
    if (this.#last.get(name)?.renewTime !== renewTime) this.#last.set(name, { renewTime, at: now });
  }
  silentFor(name: string, now: number): number {
    return now - (this.#last.get(name)?.at ?? this.#began);
  }
}

/** By UID of the Node: the informer tells of what we gave only a moment later. */
type GivenCidrs = Map<string, string>;

async function givePodCidr(node: NodeView, options: StandInOptions, given: GivenCidrs, signal: AbortSignal): Promise<void> {
  const { name, uid, resourceVersion } = node.metadata;
  const all = options.nodes.list();
  const living = new Set(all.map(({ metadata }) => metadata.uid));
  for (const other of given.keys()) if (!living.has(other)) given.delete(other);
  const podCIDR = given.get(uid) ?? freeCidr(new Set([...all.map(({ spec }) => spec?.podCIDR), ...given.values()]));
  given.set(uid, podCIDR);
  const spec = { podCIDR, podCIDRs: [podCIDR] };
  await options.kube.patch(nodes, { name }, { merge: { metadata: { resourceVersion }, spec } }, { signal });
}

async function look(node: NodeView, silent: boolean, kube: KubeClient, signal: AbortSignal): Promise<void> {
  const { name, resourceVersion } = node.metadata;
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  if (silent && ready === "True") {
    const now = `${new Date(kube.host.world.clock.now()).toISOString().slice(0, 19)}Z`;
    const lost = {
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastTransitionTime: now,
    };
    const conditions = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({ type, ...lost }));
    await kube.patch(nodes, { name, subresource: "status" }, { strategic: { status: { conditions } } }, { signal });
    return;
  }
  const taints = taintsFor(node.spec?.taints ?? [], ready);
  if (taints !== undefined) await kube.patch(nodes, { name }, { merge: { metadata: { resourceVersion }, spec: { taints } } }, { signal });
}

const notReady = "node.kubernetes.io/not-ready";
const unreachable = "node.kubernetes.io/unreachable";

/** The taints a Node in this state has; undefined when it has them already. */
function taintsFor(present: readonly Taint[], ready: string | undefined): readonly Taint[] | undefined {
  const key = ready === "True" ? undefined : ready === "Unknown" ? unreachable : notReady;
  const ours = present.filter((taint) => taint.key === notReady || taint.key === unreachable);
  if (key === undefined ? ours.length === 0 : ours.length > 0 && ours.every((taint) => taint.key === key)) return undefined;
  const others = present.filter((taint) => !ours.includes(taint));
  if (key === undefined) return others;
  return [...others, { key, effect: "NoSchedule" }, ...(key === unreachable ? [{ key, effect: "NoExecute" }] : [])];
}

function freeCidr(taken: ReadonlySet<string | undefined>): string {
  for (let number = 0; number < 256; number++) {
    const cidr = `10.244.${number}.0/24`;
    if (!taken.has(cidr)) return cidr;
  }
  throw new Error(`the pod network ${podNetwork} has no /24 left: at most 256 Nodes fit into it`);
}
