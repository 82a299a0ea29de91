/** The controller of one kind of Gateway: each has its load balancer, and nothing is left of those that are gone. */
import type { Ask } from "../../aws/ask.ts";
import type { Informer } from "../../kube/informer.ts";
import type { Frozen } from "../../kube/resource.ts";
import type { Identified } from "../../kube/store.ts";
import { again, type Controller, done, type Outcome, type Source } from "../../runtime/controller.ts";
import { CheckpointRecord } from "../checkpoints.ts";
import { ControllerMetrics } from "../controller-metrics.ts";
import { FollowedSecrets } from "../followed-secrets.ts";
import { resync } from "../resync.ts";
import type { SeenService } from "../service-state.ts";
import { missingKinds, type Opening, openings, servesSets } from "./activation.ts";
import type { FlavourParts, GatewayContext } from "./context.ts";
import { flavourOf } from "./flavours.ts";
import { bindingLabels } from "./names.ts";
import { reconcileGateway } from "./pass.ts";
import { GatewayRefusals } from "./refused.ts";
import { Report, type SeenGateway } from "./report.ts";
import { allSynced, type Objects, storesOf } from "./seen.ts";
import type { ListenerSetState } from "./states.ts";
import { keyOf } from "./view.ts";
import * as wakes from "./wakes.ts";

/** The key of the security group that all load balancers share; no Gateway can have this name. */
const sharedKey = "*";
const sharedMs = 15_000;
const maxSharedMs = 10 * 60_000;

const backoff = { baseMs: 1_000, maxMs: 300_000 };

export function gatewayController(parts: FlavourParts): Controller {
  return new GatewayLoop(parts).controller();
}

type Enqueue = Parameters<Source["start"]>[0];

class GatewayLoop {
  readonly #parts: FlavourParts;
  readonly #kept: Omit<GatewayContext, "objects">;
  #objects: Objects | undefined;
  #hasLooked = false;
  #wake: Enqueue = () => {};
  #sharedPauseMs = sharedMs;

  constructor(parts: FlavourParts) {
    this.#parts = parts;
    const { kube, recorder, host, flavour, backendGroup } = parts;
    const { clock } = host.world;
    const report = new Report({ kube, recorder });
    this.#kept = {
      ...parts,
      report,
      metrics: new ControllerMetrics(flavour.controllerName, host.metrics, clock),
      secrets: new FollowedSecrets(kube, clock),
      memory: new Map(),
      due: new Set(),
      moving: new Map(),
      leaving: new Map(),
      polls: new Map(),
      handedOver: new Map(),
      refusals: new GatewayRefusals(clock),
      formerRules: new Map(),
      checkpoints: new CheckpointRecord((...written) => report.recordCheckpoint(...written)),
    };
    // Where the API server does not know Gateways there are none.
    backendGroup.addUser(() => !this.#hasLooked || this.#gateways().some((gateway) => this.#needsBackendGroup(gateway)));
    this.#kept.secrets.onChange = (key) => {
      if (this.#objects) for (const each of wakes.gatewaysWithSecrets(key.split("/")[0] ?? "", this.#objects)) this.#wake(each);
    };
  }

  controller(): Controller {
    const { host, discovery, concurrency, flavour, syncPeriodMs } = this.#parts;
    const keys = () => this.#gateways().map(({ view }) => keyOf(view));
    return {
      name: flavour.controllerName,
      concurrency,
      backoff,
      sources: [
        openings([this.#gatewayOpening(), ...(this.#parts.takesSets ? [this.#setOpening()] : [])], discovery, host, () => {
          this.#hasLooked = true;
        }),
        this.#secrets(),
        resync(host.world.clock, syncPeriodMs, keys, (key) => this.#kept.due.add(key)),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const background: Ask = { cause: "shared security group", signal, urgency: "background" };
    if (this.#objects === undefined) return done;
    if (key === sharedKey) return this.#releaseShared(background);
    const context: GatewayContext = { ...this.#kept, objects: this.#objects };
    context.metrics.passed(key);
    const outcome = await reconcileGateway(key, context, { cause: `gateway ${key}`, signal, urgency: "user" });
    const gateway = this.#objects.gateways.get(key);
    if (outcome.kind !== "done" || (gateway && this.#concerns(gateway))) return outcome;
    return this.#releaseShared(background);
  }

  /** Nobody looks at Gateways before everything is known that they follow from: what is not seen yet would be taken away. */
  #gatewayOpening(): Opening {
    const { flavour, keys, shared, services, namespaces, bindings } = this.#parts;
    const follow = () => storesOf(keys, shared, flavour);
    return {
      what: flavour.controllerName,
      missing: (served) => missingKinds(flavour, served),
      synced: () => Promise.all([allSynced(follow()), services.synced, namespaces.synced, bindings.synced]),
      open: (enqueue, signal) => {
        const stores = follow();
        const objects: Objects = { ...stores, services, namespaces };
        this.#objects = objects;
        this.#wake = enqueue;
        const tell = teller(enqueue, signal);
        tell(stores.gateways, (before, after) => this.#keysOf(before, after));
        tell(stores.classes, (before, after) =>
          wakes.sameClass(before, after) ? [] : wakes.gatewaysOfClass((after ?? before)!.view.name, this.#current),
        );
        tell(stores.loadBalancers, (before, after) => wakes.gatewaysOfConfiguration((after ?? before)!.metadata, this.#current));
        tell(stores.targetGroups, (before, after) => each(before, after, (state) => wakes.gatewaysOfTargets(state, this.#current)));
        tell(stores.rules, (before, after) => wakes.gatewaysOfRule((after ?? before)!.metadata, this.#current));
        tell(stores.grants, (before, after) => each(before, after, (state) => wakes.gatewaysOfGrant(state, this.#current)));
        for (const routes of stores.routes) {
          tell(routes, (before, after) => {
            if (before && after && before.view.generation === after.view.generation && before.view.isDeleted === after.view.isDeleted)
              return [];
            return each(before, after, (state) => wakes.gatewaysOfRoute(state, this.#current));
          });
        }
        tell(services, (before, after) =>
          sameBackend(before, after) ? [] : wakes.gatewaysOfService((after ?? before)!.metadata, this.#current),
        );
        tell(namespaces, (before, after) =>
          before && after && JSON.stringify(before.labels) === JSON.stringify(after.labels) ? [] : wakes.choosingGateways(this.#current),
        );
        tell(bindings, (before, after) => (after === undefined && before ? this.#ofBinding(before.metadata.labels) : []));
        // Whoever ran before may have ended between the last Gateway and the group that all had shared.
        enqueue(sharedKey, "background");
      },
    };
  }

  get #current(): Objects {
    return this.#objects!;
  }

  #setOpening(): Opening {
    const { flavour, keys, shared } = this.#parts;
    const follow = (): Informer<ListenerSetState> => shared(keys.sets);
    return {
      what: "ListenerSets",
      missing: (served) => [...missingKinds(flavour, served), ...(servesSets(served) ? [] : ["ListenerSet.gateway.networking.k8s.io/v1"])],
      synced: () => follow().synced,
      open: (enqueue, signal) => {
        const sets = follow();
        this.#objects = { ...this.#current, sets };
        teller(enqueue, signal)(sets, (before, after) => {
          if (before && after && before.view.generation === after.view.generation && before.view.isDeleted === after.view.isDeleted)
            return [];
          return each(before, after, wakes.gatewaysOfSet);
        });
        // One that a route is told of may have gone while nobody looked.
        for (const route of this.#current.routes.flatMap((kind) => kind.list()))
          for (const key of wakes.gatewaysOfRoute(route, this.#current)) enqueue(key);
      },
    };
  }

  #gateways(): readonly SeenGateway[] {
    return this.#objects?.gateways.list() ?? [];
  }

  /** Whether a Gateway has, or wants, something of ours. */
  #concerns({ view }: SeenGateway): boolean {
    const { flavour } = this.#parts;
    const of = this.#objects?.classes.get(view.className)?.view.controllerName ?? "";
    return view.finalizers.includes(flavour.controllerName) || (!view.isDeleted && flavourOf(of)?.name === flavour.name);
  }

  #isUnguarded(gateway: SeenGateway): boolean {
    return this.#concerns(gateway) && !gateway.view.finalizers.includes(this.#parts.flavour.controllerName);
  }

  /** What nobody has looked at yet may need it. */
  #needsBackendGroup(gateway: SeenGateway): boolean {
    return this.#concerns(gateway) && (this.#kept.memory.get(keyOf(gateway.view))?.usesBackendGroup ?? true);
  }

  #keysOf(before: SeenGateway | undefined, after: SeenGateway | undefined): readonly string[] {
    const { view } = (after ?? before)!;
    const others = wakes.sameBalancer(before, after) ? [] : wakes.gatewaysBefore(view, this.#current);
    if (after === undefined) return [...others, sharedKey];
    if (before && wakes.sameWish(before, after)) {
      if (before.view.finalizers.length <= after.view.finalizers.length) return others;
      // Somebody else may have taken the finalizer off: one that is served gets it back.
      return this.#isUnguarded(after) ? [keyOf(view), ...others, sharedKey] : [...others, sharedKey];
    }
    return [keyOf(view), ...others];
  }

  #ofBinding(labels: Readonly<Record<string, string>>): readonly string[] {
    const isOwner = ({ view }: SeenGateway) =>
      Object.entries(bindingLabels(this.#parts.flavour, view)).every(([key, value]) => labels[key] === value);
    return this.#gateways()
      .filter(isOwner)
      .map(({ view }) => keyOf(view));
  }

  /** Follows Secrets of log-ins until it is asked to end. */
  #secrets(): Source {
    return {
      name: "secrets",
      start: async (_enqueue, signal) => {
        signal.addEventListener("abort", () => this.#kept.secrets.close(), { once: true });
      },
    };
  }

  /** Nobody has, or wants, a load balancer: the group that they shared goes too. Somebody else's may still use it. */
  async #releaseShared(ask: Ask): Promise<Outcome> {
    const { backendGroup } = this.#parts;
    const isOver = backendGroup.isNeeded || (await backendGroup.release(ask));
    this.#sharedPauseMs = isOver ? sharedMs : Math.min(2 * this.#sharedPauseMs, maxSharedMs);
    return isOver ? done : again(this.#sharedPauseMs, "the shared security group is still in use");
  }
}

/** Wakes what each change concerns until it is asked to end. */
function teller(enqueue: Enqueue, signal: AbortSignal) {
  return <V extends Identified, I extends string>(
    informer: Informer<V, I>,
    keysOf: (before: Frozen<V> | undefined, after: Frozen<V> | undefined) => readonly string[],
  ): void => {
    const end = informer.subscribe((before, after) => {
      for (const key of keysOf(before, after)) enqueue(key);
    });
    signal.addEventListener("abort", end, { once: true });
  };
}

/** Of both states of an object: it may have been about something else before. */
function each<T>(before: T | undefined, after: T | undefined, keysOf: (state: T) => readonly string[]): readonly string[] {
  return [...new Set([...(before ? keysOf(before) : []), ...(after ? keysOf(after) : [])])];
}

/** Annotations of Services say nothing to Gateways. */
function sameBackend(before: SeenService | undefined, after: SeenService | undefined): boolean {
  const of = ({ annotations: _, finalizers: _f, ...rest }: SeenService["view"]) => JSON.stringify(rest);
  return before !== undefined && after !== undefined && of(before.view) === of(after.view);
}
