/** The controller of GatewayClasses, and of the configurations that they, Gateways and routes refer to. */
import type { Informer } from "../../kube/informer.ts";
import type { Frozen } from "../../kube/resource.ts";
import type { Identified } from "../../kube/store.ts";
import type { Controller, Outcome, Source } from "../../runtime/controller.ts";
import { done } from "../../runtime/controller.ts";
import { FollowedSecrets } from "../followed-secrets.ts";
import { missingKinds, type Opening, openings, servesSets } from "./activation.ts";
import { reconcileClass } from "./class-pass.ts";
import type { ConfigurationContext } from "./configuration-context.ts";
import { type GuardedKind, guardedKinds, reconcileConfiguration } from "./configuration-pass.ts";
import { ClassReport, ConfigurationReport } from "./configuration-report.ts";
import type { GatewayParts } from "./context.ts";
import type { Flavour } from "./flavours.ts";
import { allSynced, type Objects, type Stores, storesOf } from "./seen.ts";
import type { ObjectName } from "./view.ts";

const classKey = (name: string) => `GatewayClass ${name}`;
const keyOfKind = (kind: GuardedKind, { namespace, name }: ObjectName) => `${kind} ${namespace}/${name}`;

export interface ConfigurationParts extends GatewayParts {
  /** Those whose gates are open. */
  readonly flavours: readonly Flavour[];
}

export function configurationController(parts: ConfigurationParts): Controller {
  return new ConfigurationLoop(parts).controller();
}

class ConfigurationLoop {
  readonly #parts: ConfigurationParts;
  readonly #report: ConfigurationContext["report"];
  readonly #secrets: FollowedSecrets;
  readonly #open: Flavour[] = [];
  #objects: Objects | undefined;

  constructor(parts: ConfigurationParts) {
    this.#parts = parts;
    this.#report = { classes: new ClassReport(parts), configurations: new ConfigurationReport(parts) };
    this.#secrets = new FollowedSecrets(parts.kube, parts.host.world.clock);
  }

  controller(): Controller {
    const { host, discovery, concurrency, flavours, takesSets } = this.#parts;
    return {
      name: "gatewayclass",
      concurrency,
      sources: [
        openings([...flavours.map((each) => this.#opening(each)), ...(takesSets ? [this.#sets()] : [])], discovery, host),
        {
          name: "secrets",
          start: async (_enqueue, signal) => {
            signal.addEventListener("abort", () => this.#secrets.close(), { once: true });
          },
        },
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    if (this.#objects === undefined) return done;
    const { host } = this.#parts;
    const context: ConfigurationContext = {
      host,
      flavours: this.#open,
      objects: this.#objects,
      report: this.#report,
      secrets: this.#secrets,
    };
    const [kind = "", name = ""] = key.split(" ");
    return kind === "GatewayClass"
      ? reconcileClass(name, context, signal)
      : reconcileConfiguration(kind as GuardedKind, name, context, signal);
  }

  #opening(flavour: Flavour): Opening {
    const { keys, shared, services, namespaces } = this.#parts;
    const stored = () => storesOf(keys, shared, flavour);
    return {
      what: `GatewayClasses of ${flavour.controllerName}`,
      missing: (served) => missingKinds(flavour, served),
      synced: () => Promise.all([allSynced(stored()), services.synced]),
      open: (enqueue, signal) => {
        const stores = stored();
        const isFirst = this.#objects === undefined;
        this.#open.push(flavour);
        this.#objects = { ...this.#objects, ...stores, services, namespaces, routes: [...(this.#objects?.routes ?? []), ...stores.routes] };
        for (const routes of stores.routes) follow(routes, () => this.#deleting(), enqueue, signal);
        if (isFirst) this.#followShared(stores, enqueue, signal);
        for (const key of this.#all()) enqueue(key);
        this.#secrets.onChange = () => {
          for (const key of this.#keysOf("ListenerRuleConfiguration")) enqueue(key);
        };
      },
    };
  }

  #followShared(stores: Stores, enqueue: Parameters<Source["start"]>[0], signal: AbortSignal): void {
    const classes = () => this.#current.classes.list().map(({ view }) => classKey(view.name));
    const wake = <V extends Identified>(informer: Informer<V>, keysOf: (state: Frozen<V>) => readonly string[]) =>
      follow(informer, keysOf, enqueue, signal);
    wake(stores.classes, ({ view }) => [classKey(view.name), ...this.#deleting()]);
    wake(stores.gateways, () => [...this.#deletedClasses(), ...this.#deleting()]);
    // A configuration has another version now, which its class has to note; and it may be one that a default names.
    wake(stores.loadBalancers, ({ metadata }) => [...classes(), keyOfKind("LoadBalancerConfiguration", metadata), ...this.#deleting()]);
    wake(stores.targetGroups, ({ metadata }) => [...classes(), keyOfKind("TargetGroupConfiguration", metadata)]);
    wake(stores.rules, ({ metadata }) => [keyOfKind("ListenerRuleConfiguration", metadata)]);
    wake(this.#parts.services, () => this.#deleting());
  }

  get #current(): Objects {
    return this.#objects!;
  }

  /** ListenerSets are a feature of classes once they are served. */
  #sets(): Opening {
    const { keys, shared, flavours } = this.#parts;
    return {
      what: "ListenerSets in GatewayClasses",
      missing: (served) => (servesSets(served) && flavours.some((each) => missingKinds(each, served).length === 0) ? [] : ["ListenerSet"]),
      synced: () => shared(keys.sets).synced,
      open: (enqueue) => {
        this.#objects = { ...this.#current, sets: shared(keys.sets) };
        for (const key of this.#all()) enqueue(key);
      },
    };
  }

  #keysOf(kind: GuardedKind): readonly string[] {
    return guardedKinds[kind]
      .store(this.#current)
      .list()
      .map(({ metadata }) => keyOfKind(kind, metadata));
  }

  #all(): readonly string[] {
    const kinds = Object.keys(guardedKinds) as GuardedKind[];
    return [...this.#current.classes.list().map(({ view }) => classKey(view.name)), ...kinds.flatMap((kind) => this.#keysOf(kind))];
  }

  /** Classes that go when the last Gateway has gone. */
  #deletedClasses(): readonly string[] {
    return this.#current.classes.list().flatMap(({ view }) => (view.isDeleted ? [classKey(view.name)] : []));
  }

  /** Configurations that go when nothing uses them any more. */
  #deleting(): readonly string[] {
    const kinds = Object.keys(guardedKinds) as GuardedKind[];
    return kinds.flatMap((kind) =>
      guardedKinds[kind]
        .store(this.#current)
        .list()
        .filter(({ view }) => view.isDeleted)
        .map(({ metadata }) => keyOfKind(kind, metadata)),
    );
  }
}

function follow<V extends Identified>(
  informer: Informer<V>,
  keysOf: (state: Frozen<V>) => readonly string[],
  enqueue: Parameters<Source["start"]>[0],
  signal: AbortSignal,
): void {
  const end = informer.subscribe((before, after) => {
    for (const key of keysOf((after ?? before)!)) enqueue(key);
  });
  signal.addEventListener("abort", end, { once: true });
}
