/** The controller of Services with a load balancer class: each has its load balancer, and nothing is left of those that are gone. */
import type { Ask } from "../../aws/ask.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { again, type Controller, done, type Outcome, type Source } from "../../runtime/controller.ts";
import { CheckpointRecord } from "../checkpoints.ts";
import { ControllerMetrics, exportCachedObjects } from "../controller-metrics.ts";
import { resync } from "../resync.ts";
import { claimOf } from "../service-claim.ts";
import type { SeenService } from "../service-state.ts";
import type { ClassContext, ClassParts } from "./context.ts";
import { mentionsService } from "./forwards.ts";
import { serviceOfLabels } from "./names.ts";
import { reconcileService } from "./pass.ts";
import { Report } from "./report.ts";
import { isGuarded } from "./seen.ts";
import { keyOf } from "./view.ts";

/** The key of the security group that all load balancers share; no Service can have this name. */
const sharedKey = "*";
const sharedMs = 15_000;
const maxSharedMs = 10 * 60_000;

const backoff = { baseMs: 1_000, maxMs: 300_000 };

export function classController(parts: ClassParts): Controller {
  return new ClassLoop(parts).controller();
}

class ClassLoop {
  readonly #parts: ClassParts;
  readonly #context: ClassContext;
  #sharedPauseMs = sharedMs;

  constructor(parts: ClassParts) {
    this.#parts = parts;
    const { kube, recorder, host, services, backendGroup } = parts;
    const report = new Report({ kube, recorder });
    this.#context = {
      ...parts,
      report,
      metrics: new ControllerMetrics("service", host.metrics, host.world.clock),
      memory: new Map(),
      due: new Set(),
      moving: new Map(),
      handedOver: new Map(),
      checkpoints: new CheckpointRecord((...written) => report.recordCheckpoint(...written)),
    };
    exportCachedObjects(host.metrics, {
      service: () => services.list().length,
      targetgroupbinding: () => parts.bindings.list().length,
    });
    backendGroup.addUser(() => !services.hasSynced || services.list().some((service) => this.#needsBackendGroup(service)));
  }

  controller(): Controller {
    const { services, bindings, concurrency } = this.#parts;
    return {
      name: "service",
      concurrency,
      backoff,
      sources: [
        // Who looks at Services without knowing their bindings takes away what is right.
        { name: bindings.name, start: () => bindings.synced },
        watchSource(services, (before, after) => this.#keysOf(before, after)),
        watchSource(bindings, (before, after) => {
          const key = before && serviceOfLabels(before.metadata.labels);
          return after === undefined && key !== undefined ? [key] : [];
        }),
        this.#shared(),
        this.#resync(),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const background: Ask = { cause: "shared security group", signal, urgency: "background" };
    if (key === sharedKey) return this.#releaseShared(background);
    this.#context.metrics.passed(key);
    const outcome = await reconcileService(key, this.#context, { cause: `service ${key}`, signal, urgency: "user" });
    const service = this.#parts.services.get(key);
    // The look before this one may have made the group for a Service that has changed its mind since.
    return service && this.#concerns(service) ? outcome : this.#releaseShared(background);
  }

  /** Whether a Service has, or wants, something of ours. */
  #concerns(service: SeenService): boolean {
    const { loadBalancerClass, gates } = this.#parts.settings;
    const claim = claimOf(service.view, { loadBalancerClass, loadBalancersOnly: gates.loadBalancersOnly });
    return claim.kind !== "not-ours" || isGuarded(service);
  }

  /** What nobody has looked at yet may need it. */
  #needsBackendGroup(service: SeenService): boolean {
    return this.#concerns(service) && (this.#context.memory.get(keyOf(service.view))?.usesBackendGroup ?? true);
  }

  #keysOf(before: SeenService | undefined, after: SeenService | undefined): readonly string[] {
    const { view } = (after ?? before)!;
    const key = keyOf(view);
    const others = before && after && sameBackend(before, after) ? [] : this.#mentioning(view.namespace, view.name);
    if (after === undefined) return [...others, ...(before && this.#concerns(before) ? [sharedKey] : [])];
    if (before && sameWish(before, after)) {
      if (!isGuarded(before) || isGuarded(after)) return others;
      // Somebody else may have taken the finalizer off: one that is served gets it back.
      return this.#concerns(after) ? [key, ...others, sharedKey] : [...others, sharedKey];
    }
    return this.#concerns(after) ? [key, ...others] : others;
  }

  /** Services that lead a part of their traffic to this one. While all are being listed each is looked at anyway. */
  #mentioning(namespace: string, name: string): readonly string[] {
    const { services } = this.#parts;
    if (!services.hasSynced) return [];
    return services
      .list()
      .filter(({ view }) => view.namespace === namespace && view.name !== name && mentionsService(view, name))
      .filter((service) => this.#concerns(service))
      .map(({ view }) => keyOf(view));
  }

  /** Whoever ran before may have ended between the last Service and the group that all had shared. */
  #shared(): Source {
    return { name: "shared security group", start: async (enqueue) => enqueue(sharedKey, "background") };
  }

  #resync(): Source {
    const { host, services, syncPeriodMs } = this.#parts;
    const keys = () =>
      services
        .list()
        .filter((service) => this.#concerns(service))
        .map(({ view }) => keyOf(view));
    return resync(host.world.clock, syncPeriodMs, keys, (key) => this.#context.due.add(key));
  }

  /** Nobody has, or wants, a load balancer: the group that they shared goes too. Somebody else's may still use it. */
  async #releaseShared(ask: Ask): Promise<Outcome> {
    const { backendGroup } = this.#parts;
    const isOver = backendGroup.isNeeded || (await backendGroup.release(ask));
    this.#sharedPauseMs = isOver ? sharedMs : Math.min(2 * this.#sharedPauseMs, maxSharedMs);
    return isOver ? done : again(this.#sharedPauseMs, "the shared security group is still in use");
  }
}

/** Whether two states of a Service ask for the same. Its finalizers are ours, and its status too. */
function sameWish({ view: { finalizers: _a, ...before } }: SeenService, { view: { finalizers: _b, ...after } }: SeenService): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

/** Whether those that lead traffic to it need not be looked at. */
function sameBackend({ view: before }: SeenService, { view: after }: SeenService): boolean {
  const of = ({ annotations: _, finalizers: _f, ...rest }: SeenService["view"]) => JSON.stringify(rest);
  return of(before) === of(after);
}
