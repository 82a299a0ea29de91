/**
 * Keeps tags on the instances of Nodes. The key is the instance: whether some Node claims it decides between tagging and
 * untagging, so that a Node which comes back at once cannot lose its tags to the end of its former self.
 */
import { createHash } from "node:crypto";
import type { Ask } from "../aws/ask.ts";
import { causeOf, isAwsError } from "../aws/errors.ts";
import type { Tags } from "../aws/instance.ts";
import { isInstanceId } from "../aws/instances.ts";
import { claimOf, type SeenNode } from "../identity/node-view.ts";
import { patchNode } from "../identity/node-writes.ts";
import { nodes as nodeResource } from "../kube/builtin.ts";
import { objectRef } from "../kube/event-recorder.ts";
import { TokenBucket } from "../kube/token-bucket.ts";
import { watchSource } from "../kube/watch-source.ts";
import { Attempts } from "../runtime/attempts.ts";
import { again, type Controller, done, type Outcome } from "../runtime/controller.ts";
import { rethrowIfStopped } from "../runtime/gate.ts";
import { taggingMetrics } from "./metrics.ts";
import { manyAtOnce, type NodeParts } from "./parts.ts";

/** On a Node: the checksum of the tags its instance was given. */
export const taggedLabel = "k8s.io/cloud-provider-aws";

export interface TaggingOptions extends Omit<NodeParts, "self"> {
  readonly tags: Tags;
  /** As a flag gives it. */
  readonly concurrency?: number | undefined;
  /** Instances a second, and in a burst; undefined for as many as AWS allows. */
  readonly limit?: { readonly perSecond: number; readonly burst: number } | undefined;
}

/** The controller whose keys are instance ids. */
export function nodeTagging(options: TaggingOptions): Controller {
  const checksum = tagsChecksum(options.tags);
  const work = new Tagging(options, checksum);
  return {
    name: "tagging",
    concurrency: options.concurrency ?? manyAtOnce,
    sources: [
      watchSource(options.nodes, (before, after) => {
        if (after?.metadata.labels[taggedLabel] === checksum) return [];
        const instances = instanceOf((after ?? before)!);
        if (after === undefined) for (const id of instances) work.left(id, before!);
        return instances;
      }),
    ],
    reconcile: (instanceId, signal) => work.reconcile(instanceId, signal),
  };
}

/** `e30e3a…` for `a=b,c=d`: the same text for the same tags, in whatever order they were given. */
export function tagsChecksum(tags: Tags): string {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return createHash("md5").update(pairs.sort().join(",")).digest("hex");
}

/** Fargate nodes have no instance to tag, and machines of other clouds are not ours to. */
function instanceOf(node: SeenNode): readonly string[] {
  const claim = claimOf(node);
  return claim.kind === "instance" && claim.by === "provider ID" ? [claim.instanceId] : [];
}

/** How long EC2 may take to know a new instance. */
const graceMs = 5 * 60_000;
/** Nine more tries, ever further apart: together they outlast the grace. */
const maxRetries = 9;
const backoff = { baseMs: 1_000, maxMs: 5 * 60_000 };
/** What the store has seen this recently need not be written again. */
const seenMs = 60_000;

class Tagging {
  readonly #options: TaggingOptions;
  readonly #checksum: string;
  readonly #metrics: ReturnType<typeof taggingMetrics>;
  readonly #failures: Attempts;
  /** Nodes that went, while their instances still carry tags: by instance id. */
  readonly #gone = new Map<string, SeenNode>();
  readonly #limiter: TokenBucket | undefined;

  constructor(options: TaggingOptions, checksum: string) {
    this.#options = options;
    this.#checksum = checksum;
    const { clock, random } = options.host.world;
    this.#metrics = taggingMetrics(options.host.metrics);
    this.#failures = new Attempts(clock, random, backoff);
    this.#limiter = options.limit && new TokenBucket(clock, options.limit.perSecond, options.limit.burst);
  }

  /** What fails after the end of a Node is told about the Node that was. */
  left(instanceId: string, node: SeenNode): void {
    this.#gone.set(instanceId, node);
  }

  async reconcile(instanceId: string, signal: AbortSignal): Promise<Outcome> {
    const nodes = this.#options.nodes.by("instance", instanceId).filter((node) => node.providerId !== "");
    const circumstances = nodes.map(({ metadata }) => metadata.uid).join(" ");
    const waitMs = this.#failures.waitMs(instanceId, circumstances);
    if (waitMs > 0) return again(waitMs, "the last try failed");
    try {
      await this.#limiter?.take(signal);
      if (nodes.length === 0) await this.#untag(instanceId, signal);
      else for (const node of nodes) await this.#tag(node, instanceId, signal);
      this.#settled(instanceId);
      return done;
    } catch (error) {
      rethrowIfStopped(error, signal);
      return this.#failed(instanceId, circumstances, nodes, error as Error);
    }
  }

  async #tag(node: SeenNode, instanceId: string, signal: AbortSignal): Promise<void> {
    const { cloud, kube, host, tags } = this.#options;
    const { labels, creationTimestamp } = node.metadata;
    const former = labels[taggedLabel];
    if (former === this.#checksum) return;
    const ageMs = host.world.clock.now() - Date.parse(creationTimestamp);
    const ask = { cause: "tagging", signal };
    if (!(await this.#hasTags(instanceId, ask))) {
      try {
        await cloud.tags.create(instanceId, tags, ask);
      } catch (error) {
        if (!isUnknown(error) || (isNotFound(error) && ageMs < graceMs)) throw error;
        host.log.info("no such instance: not tagged", { node: node.metadata.name, instance: instanceId, error });
        return;
      }
    }
    await patchNode(kube, node, () => ({ metadata: { labels: { [taggedLabel]: this.#checksum } } }), signal);
    if (former === undefined) this.#metrics.firstTagged.observe(ageMs / 1000);
  }

  /** Whether the store shows all the tags. When it cannot tell they are written: that harms nobody. */
  async #hasTags(instanceId: string, ask: Ask): Promise<boolean> {
    try {
      const lookup = await this.#options.cloud.instances.lookup(instanceId, { ...ask, maxAgeMs: seenMs });
      if (lookup.kind !== "found") return false;
      return Object.entries(this.#options.tags).every(([key, value]) => lookup.instance.tags[key] === value);
    } catch {
      ask.signal.throwIfAborted();
      return false;
    }
  }

  async #untag(instanceId: string, signal: AbortSignal): Promise<void> {
    if (!isInstanceId(instanceId)) return;
    const { cloud, tags } = this.#options;
    try {
      await cloud.tags.delete(instanceId, tags, { cause: "tagging", signal });
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  }

  /** Tried again a few times; then the next change of the Node starts over. */
  #failed(instanceId: string, circumstances: string, nodes: readonly SeenNode[], error: Error): Outcome {
    const { log } = this.#options.host;
    const before = this.#failures.count(instanceId);
    const last = before >= maxRetries;
    // What may pass by itself is told only when it did not; what is refused, at once and when it is given up.
    if (last || (before === 0 && isAwsError(error, "denied"))) this.#tell(instanceId, nodes, error);
    if (last) {
      this.#settled(instanceId);
      this.#metrics.errors.inc({ error_type: "errors_after_retries_exhausted" });
      log.error("requeuing count exceeded: gave up tagging an instance", { instance: instanceId, error });
      return done;
    }
    this.#metrics.errors.inc({ error_type: "total_errors" });
    const pauseMs = this.#failures.failed(instanceId, circumstances);
    log.warn("cannot tag an instance", { instance: instanceId, error, retryInMs: pauseMs });
    return again(pauseMs, error.message);
  }

  #settled(instanceId: string): void {
    this.#failures.forget(instanceId);
    this.#gone.delete(instanceId);
  }

  #tell(instanceId: string, nodes: readonly SeenNode[], error: Error): void {
    const { recorder } = this.#options;
    const same = causeOf(error);
    for (const node of nodes) {
      const message = `The tags of ${instanceId} cannot be written: ${error.message}`;
      recorder.record(objectRef(nodeResource, node), "Warning", "FailedToTagInstance", message, same);
    }
    const gone = nodes.length === 0 ? this.#gone.get(instanceId) : undefined;
    if (gone === undefined) return;
    const message = `Its Node is gone, but the tags of ${instanceId} cannot be removed: ${error.message}`;
    recorder.record(objectRef(nodeResource, gone), "Warning", "FailedToUntagInstance", message, same);
  }
}

/** AWS does not know what was to be tagged, or does not take its name for an id. */
function isUnknown(error: unknown): boolean {
  return isNotFound(error) || (isAwsError(error, "invalid") && /^Invalid(Instance)?ID/.test(error.code));
}

function isNotFound(error: unknown): boolean {
  return isAwsError(error, "not-found");
}
