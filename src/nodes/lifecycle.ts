/** Follows what becomes of the machines of Nodes that are not ready: stopped ones are marked, Nodes of proven lost ones deleted. */
import { isAwsError } from "../aws/errors.ts";
import { isReady, type SeenNode } from "../identity/node-view.ts";
import { patchNode } from "../identity/node-writes.ts";
import { nodes as nodeResource } from "../kube/builtin.ts";
import { objectRef } from "../kube/event-recorder.ts";
import { watchSource } from "../kube/watch-source.ts";
import { again, type Controller, done, type Outcome } from "../runtime/controller.ts";
import { forEachConcurrently } from "../runtime/for-each-concurrently.ts";
import { refusalIn } from "../runtime/gate.ts";
import { deleteNode } from "./delete-node.ts";
import { type Case, type ConfirmedGone, goneProver, type Sighting } from "./gone.ts";
import { lifecycleMetrics } from "./metrics.ts";
import { OnceRecorder } from "./once-recorder.ts";
import { manyAtOnce, type NodeParts } from "./parts.ts";
import { lookAt, type Seen } from "./sightings.ts";
import { isShutDown, shutdownPatch } from "./taints.ts";

export interface LifecycleOptions extends NodeParts {
  readonly periodMs: number;
  /** As a flag gives it. */
  readonly concurrency?: number | undefined;
}

/** One key stands for all Nodes, because one look at AWS serves them all. While every Node is ready it sleeps. */
export function nodeLifecycle(options: LifecycleOptions): Controller {
  const passes = new LifecyclePasses(options);
  return {
    name: "cloud-node-lifecycle-controller",
    concurrency: 1,
    sources: [watchSource(options.nodes, (_, after) => (after !== undefined && wantsLook(after) ? ["all"] : []))],
    reconcile: (_, signal) => passes.run(signal),
  };
}

function wantsLook(node: SeenNode): boolean {
  return !isReady(node) || isShutDown(node);
}

class LifecyclePasses {
  readonly #options: LifecycleOptions;
  readonly #metrics: ReturnType<typeof lifecycleMetrics>;
  readonly #prover = goneProver();
  readonly #onceRecorder: OnceRecorder;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#metrics = lifecycleMetrics(options.host.metrics);
    this.#onceRecorder = new OnceRecorder(options.recorder);
  }

  /** One pass. A Node that turns not ready is looked at at once, but many that do within a period share one look. */
  async run(signal: AbortSignal): Promise<Outcome> {
    const { host, nodes, periodMs } = this.#options;
    const { clock } = host.world;
    const waitMs = this.#endedAt + periodMs - clock.monotonic();
    if (waitMs > 0) return again(waitMs, "the last check was a moment ago");
    const startedAt = clock.monotonic();
    const due = nodes.list().filter((node) => wantsLook(node) && node.metadata.deletionTimestamp === undefined);
    const [ready, notReady] = [due.filter(isReady), due.filter((node) => !isReady(node))];
    this.#prover.keepOnly(new Set(notReady.map(({ metadata }) => metadata.uid)));
    await this.#each(ready, (node) => this.#welcomeBack(node, signal), signal);
    await this.#watch(notReady, signal);
    this.#endedAt = clock.monotonic();
    this.#metrics.pass.observe((this.#endedAt - startedAt) / 1000);
    return notReady.length > 0 ? again(periodMs, `${notReady.length} nodes are not ready`) : done;
  }

  async #watch(nodes: readonly SeenNode[], signal: AbortSignal): Promise<void> {
    const { cloud, self, host, concurrency = manyAtOnce, periodMs } = this.#options;
    const ask = { cause: "node lifecycle", signal };
    // A miss counts only when EC2 was asked for it; otherwise what another just learned will do.
    const ageOf = (node: SeenNode) => (this.#prover.hasMissed(node.metadata.uid) ? 0 : periodMs / 2);
    const looking = { cloud, self, clock: host.world.clock, concurrency };
    const seen = await lookAt(looking, nodes, ask, ageOf);
    this.#tellFailures(seen);
    await this.#each([...seen], ([node, found]) => this.#judge(node, found, signal), signal);
  }

  async #judge(node: SeenNode, seen: Seen, signal: AbortSignal): Promise<void> {
    const { questions } = this.#metrics;
    if (seen.kind === "left-alone") return this.#onceRecorder.record(node, seen.reason, seen.message, seen.reason);
    if (seen.kind === "failed") {
      questions.inc({ operation: "instance_exists", result: "error" });
      return;
    }
    const verdict = this.#verdict(node, seen.instanceId, seen.sighting);
    if (verdict.kind === "gone") {
      questions.inc({ operation: "instance_exists", result: "instance_not_found" });
      return this.#delete(node, verdict.proof, signal);
    }
    if (verdict.kind === "unproven") {
      questions.inc({ operation: "instance_exists", result: verdict.lack === "answer" ? "error" : "instance_not_found" });
      if (verdict.lack === "answer") return;
      const message = `EC2 does not know ${seen.instanceId}, but Node ${node.metadata.name} is kept: ${verdict.why}`;
      return this.#onceRecorder.record(node, "InstanceNotFound", message, verdict.lack);
    }
    questions.inc({ operation: "instance_exists", result: "success" });
    questions.inc({ operation: "instance_shutdown", result: "success" });
    if (verdict.state === "stopped") await this.#mark(node, true, signal);
  }

  #verdict(node: SeenNode, instanceId: string, sighting: Sighting) {
    const { clock } = this.#options.host.world;
    const { name, uid, resourceVersion, creationTimestamp } = node.metadata;
    const found: Case = {
      nodeName: name,
      nodeUid: uid,
      resourceVersion,
      instanceId,
      nodeCreatedAt: Date.parse(creationTimestamp),
    };
    return this.#prover.judge(found, sighting, { now: clock.now(), monotonic: clock.monotonic() });
  }

  async #delete(node: SeenNode, proof: ConfirmedGone, signal: AbortSignal): Promise<void> {
    const { kube, recorder, host } = this.#options;
    const { name } = node.metadata;
    const about = objectRef(nodeResource, node);
    host.log.info("deleting a node", { node: name, instance: proof.case.instanceId, why: proof.reason });
    recorder.record(about, "Normal", "DeletingNode", `Deleting node ${name} because it does not exist in the cloud provider`);
    try {
      // False: the Node has changed, and is looked at again in the next pass.
      if (await deleteNode(kube, proof, signal)) this.#onceRecorder.forget(name);
    } catch (error) {
      recorder.record(about, "Warning", "DeletingNodeFailed", `Failed deleting node ${name}: ${(error as Error).message}`);
      throw error;
    }
  }

  async #welcomeBack(node: SeenNode, signal: AbortSignal): Promise<void> {
    this.#onceRecorder.forget(node.metadata.name);
    await this.#mark(node, false, signal);
  }

  async #mark(node: SeenNode, shutDown: boolean, signal: AbortSignal): Promise<void> {
    // Read again after a conflict, the Node may be ready or not ready by then: that is left to the next pass.
    await patchNode(this.#options.kube, node, (now) => (isReady(now) === !shutDown ? shutdownPatch(now, shutDown) : undefined), signal);
  }

  /** What fails for one Node is tried again in the next pass, and no other Node waits for it. */
  async #each<T>(items: readonly T[], work: (item: T) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { host, concurrency = manyAtOnce } = this.#options;
    await forEachConcurrently(host.world.clock, items, concurrency, async (item) => {
      try {
        await work(item);
      } catch (error) {
        if (refusalIn(error)?.reason === "not-leading") throw error;
        signal.throwIfAborted();
        if (refusalIn(error) === undefined) host.log.error("a node's state cannot be written", { error });
      }
    });
  }

  #tellFailures(seen: ReadonlyMap<SeenNode, Seen>): void {
    const failed = [...seen].flatMap(([node, found]) => (found.kind === "failed" ? [{ node, error: found.error }] : []));
    const causes = Map.groupBy(failed, ({ error }) => (error as Error).message);
    for (const [cause, nodes] of [...causes].slice(0, maxCauses)) {
      const some = nodes.slice(0, 5);
      const names = some.map(({ node }) => node.metadata.name);
      this.#options.host.log.error("error checking if nodes exist", { cause, nodes: nodes.length, some: names });
      for (const { node, error } of some) {
        if (isAwsError(error, "denied")) this.#onceRecorder.record(node, "FailedToCheckInstance", cause, error.iamAction);
      }
    }
  }
}

const maxCauses = 10;
