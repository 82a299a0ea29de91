/** The pods of Nodes that are drained. They are followed only while some Node is: a process that waits for notices knows no pod. */
import { pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Informer, informer } from "../kube/informer.ts";
import type { Frozen } from "../kube/resource.ts";
import type { Pod } from "../kube/types.ts";
import type { Source } from "../runtime/controller.ts";
import { type PodView, podView } from "./pods.ts";

/** How long pods are followed after the last drain. */
const lingerMs = 5 * 60_000;

type PodInformer = Informer<PodView, "node">;

/** Pods by Node. */
export class DrainedPods {
  readonly source: Source;
  readonly #kube: KubeClient;
  readonly #fieldSelector: string | undefined;
  readonly #withLabels: boolean;
  readonly #wanted = new Set<string>();
  #enqueue: (key: string) => void = () => {};
  #life: AbortSignal | undefined;
  #following: { readonly informer: PodInformer; readonly end: AbortController } | undefined;
  #cancelEnd: () => void = () => {};

  /** Of one Node, where only one is ever drained; with their labels, where somebody reads them. */
  constructor(kube: KubeClient, { onlyNode, withLabels = false }: { readonly onlyNode?: string; readonly withLabels?: boolean } = {}) {
    this.#kube = kube;
    this.#withLabels = withLabels;
    this.#fieldSelector = onlyNode === undefined ? undefined : `spec.nodeName=${onlyNode}`;
    this.source = {
      name: "pods of drained nodes",
      start: async (enqueue, signal) => {
        this.#enqueue = enqueue;
        this.#life = signal;
        signal.addEventListener("abort", () => this.#stop(), { once: true });
      },
    };
  }

  /** The pods of a Node; undefined while they are not known. From now on its key comes with every change of them. */
  on(node: string): readonly Frozen<PodView>[] | undefined {
    this.#cancelEnd();
    this.#wanted.add(node);
    const { informer } = this.#follow();
    return informer.hasSynced ? informer.by("node", node) : undefined;
  }

  /** Whether pods are followed already: then looking costs nothing. */
  get isFollowing(): boolean {
    return this.#following !== undefined;
  }

  /** The Node is drained, or gone. */
  release(node: string): void {
    if (!this.#wanted.delete(node) || this.#wanted.size > 0) return;
    this.#cancelEnd();
    this.#cancelEnd = this.#kube.host.world.clock.after(lingerMs, () => this.#stop());
  }

  #follow(): { readonly informer: PodInformer; readonly end: AbortController } {
    if (this.#following !== undefined) return this.#following;
    const end = new AbortController();
    const followed = informer<Pod, PodView, "node">({
      client: this.#kube,
      of: pods,
      name: "pods-of-drained-nodes",
      project: (pod) => podView(pod, this.#withLabels),
      indexes: { node: ({ node }) => (node === "" ? [] : [node]) },
      ...(this.#fieldSelector !== undefined && { fieldSelector: this.#fieldSelector }),
    });
    followed.subscribe((before, after) => {
      const node = (after ?? before)?.node ?? "";
      if (this.#wanted.has(node) && followed.hasSynced) this.#enqueue(node);
    });
    void followed.synced.then(() => {
      for (const node of this.#wanted) this.#enqueue(node);
    });
    this.#following = { informer: followed, end };
    void followed.run(this.#life === undefined ? end.signal : AbortSignal.any([end.signal, this.#life]));
    return this.#following;
  }

  #stop(): void {
    this.#cancelEnd();
    this.#following?.end.abort(new Error("no Node is being drained"));
    this.#following = undefined;
  }
}
