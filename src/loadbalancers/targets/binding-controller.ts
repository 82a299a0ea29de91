/** The controller of TargetGroupBindings: a key is a binding, whoever made it. */
import { sameFailure } from "../../aws/errors.ts";
import { keyOf } from "../../kube/store.ts";
import { watchSource } from "../../kube/watch-source.ts";
import type { Controller, Outcome, Source } from "../../runtime/controller.ts";
import { done } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { sleep } from "../../runtime/world.ts";
import { EndpointRules } from "../groups/endpoint-rules-writer.ts";
import type { SeenService } from "../service-state.ts";
import type { SeenBinding } from "./binding.ts";
import type { BindingContext, BindingJob, BindingParts, RememberedBinding } from "./binding-context.ts";
import { BindingMetrics } from "./binding-metrics.ts";
import { unheardRules } from "./binding-networking.ts";
import { converge } from "./binding-pass.ts";
import { BindingReport } from "./binding-report.ts";
import { cleanUp } from "./clean-up.ts";
import { concernsNodes } from "./endpoints.ts";
import { GroupTargets } from "./group-targets.ts";
import { TargetRecords } from "./multi-cluster.ts";
import { bindingsOf, type SeenPod, samePod } from "./pods.ts";
import { sameEndpoints } from "./slices.ts";

const driftTickMs = 60_000;

export function bindingController(parts: BindingParts): Controller {
  return new BindingLoop(parts).controller();
}

class BindingLoop {
  readonly #context: BindingContext;
  readonly #memory = new Map<string, RememberedBinding>();

  constructor(parts: BindingParts) {
    const { host, kube, recorder } = parts;
    const { clock } = host.world;
    const rules = new EndpointRules({
      cloud: parts.cloud,
      clock,
      vpc: parts.vpc,
      clusterTag: parts.clusterTag,
      exact: parts.settings.exactRules,
      unheard: () => unheardRules(this.#context),
      onStep: ({ what, why }) => host.log.info(what, { why }),
    });
    this.#context = {
      ...parts,
      rules,
      metrics: new BindingMetrics(host.metrics, () => parts.bindings.list()),
      report: new BindingReport(kube, recorder, clock),
      groups: new GroupTargets(clock),
      records: new TargetRecords(kube),
      memoryOf: (binding) => this.#memoryOf(binding),
    };
  }

  controller(): Controller {
    const { settings, bindings, services, slices, pods, nodes } = this.#context;
    const ofService = (namespace: string, name: string, type?: string) =>
      bindings
        .by("service", `${namespace}/${name}`)
        .filter(({ spec }) => type === undefined || spec.targetType === type)
        .map(keyOf);
    return {
      name: "targetGroupBinding",
      concurrency: settings.concurrency,
      backoff: { baseMs: 5, maxMs: settings.maxBackoffMs },
      sources: [
        watchSource(bindings, (before, after) => this.#bindingsConcerned(before, after)),
        watchSource(services, (before, after) => {
          const { metadata } = (after ?? before)!;
          const read = ({ view: { type, ports } }: SeenService) => JSON.stringify([type, ports]);
          const same = before && after && read(before) === read(after);
          return same ? [] : ofService(metadata.namespace, metadata.name);
        }),
        watchSource(slices, (before, after) => {
          if (before && after && sameEndpoints(before, after)) return [];
          return [before, after].flatMap((slice) => (slice ? ofService(slice.metadata.namespace, slice.service, "ip") : []));
        }),
        watchSource(pods, (before, after) => this.#podConcerns(before, after)),
        watchSource(nodes, (before, after) =>
          bindings
            .list()
            .filter(({ spec }) => spec.targetType === "instance" && concernsNodes(before, after, spec))
            .map(keyOf),
        ),
        this.#drift(),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { bindings, report } = this.#context;
    const binding = bindings.get(key);
    if (binding === undefined) return done;
    const job: BindingJob = {
      key,
      binding,
      remembered: this.#memoryOf(binding),
      ask: { cause: `target group binding ${key}`, signal, urgency: "user" },
    };
    if (binding.metadata.deletionTimestamp !== undefined) return cleanUp(job, this.#context);
    try {
      return await converge(job, this.#context);
    } catch (error) {
      signal.throwIfAborted();
      if (refusalIn(error)) throw error;
      job.remembered.force = true;
      this.#context.metrics.failed(error);
      const message = messageOf(error);
      report.event(binding, "Warning", "FailedReconcile", `Failed reconcile due to ${message}`, sameFailure(error));
      await report.status(binding, { conditions: { Ready: { status: "False", reason: "FailedReconcile", message } } }, signal);
      throw error;
    }
  }

  #memoryOf({ metadata }: SeenBinding): RememberedBinding {
    const remembered = this.#memory.get(metadata.uid) ?? { force: false };
    this.#memory.set(metadata.uid, remembered);
    return remembered;
  }

  /** Itself, unless the change is our own word in it; and whoever shares its group, or wants to. */
  *#bindingsConcerned(before: SeenBinding | undefined, after: SeenBinding | undefined): Iterable<string> {
    const { bindings, records } = this.#context;
    const either = (after ?? before)!;
    if (after === undefined) {
      this.#memory.delete(either.metadata.uid);
      records.forget(either.metadata.uid);
    }
    if (after !== undefined && concernsItself(before, after, this.#memory.get(after.metadata.uid))) yield keyOf(after);
    if (before === undefined || (after && before.metadata.generation === after.metadata.generation)) return;
    for (const arn of new Set([before.spec.targetGroupARN, after?.spec.targetGroupARN])) {
      for (const other of arn ? bindings.by("group", arn) : []) if (other.metadata.uid !== either.metadata.uid) yield keyOf(other);
    }
  }

  /** Bindings whose gates a pod has; and those whose endpoint it is, when it is seen later than its slice. */
  *#podConcerns(before: SeenPod | undefined, after: SeenPod | undefined): Iterable<string> {
    if (after === undefined || (before && samePod(before, after))) return;
    yield* bindingsOf(after);
    if (before !== undefined && before.containersReady === after.containersReady) return;
    const { slices, bindings } = this.#context;
    for (const slice of after.ip === "" ? [] : slices.by("pod", keyOf(after))) {
      for (const binding of bindings.by("service", `${slice.metadata.namespace}/${slice.service}`)) yield keyOf(binding);
    }
  }

  /** Bindings whose turn it is to be read fully. */
  #drift(): Source {
    const { bindings, host, settings } = this.#context;
    const { clock } = host.world;
    return {
      name: "drift",
      start: async (enqueue, signal) => {
        const tick = async () => {
          for (;;) {
            await sleep(clock, driftTickMs, signal);
            const now = clock.monotonic();
            for (const binding of bindings.list()) {
              const remembered = this.#memory.get(binding.metadata.uid);
              if (remembered?.driftAt === undefined || remembered.driftAt > now) continue;
              remembered.force = true;
              remembered.driftAt = now + settings.syncPeriodMs;
              enqueue(keyOf(binding), "background");
            }
          }
        };
        tick().catch(() => {});
      },
    };
  }
}

/** Our own patches of status, finalizer and checkpoint are no news; a checkpoint that somebody else has cleared is. */
function concernsItself(before: SeenBinding | undefined, after: SeenBinding, remembered: RememberedBinding | undefined): boolean {
  if (before === undefined) return true;
  const [was, is] = [before.metadata, after.metadata];
  if (was.generation !== is.generation || was.deletionTimestamp !== is.deletionTimestamp) return true;
  if (was.finalizers.length > is.finalizers.length) return true;
  const isOwnWord = remembered?.checkpoint === undefined || after.checkpoint === remembered.checkpoint;
  return before.checkpoint !== after.checkpoint && !isOwnWord && after.checkpoint === "";
}
