/**
 * Keeps the artifacts in the cluster: they are made from what the cluster holds of its configuration, compared with what is there, and
 * written where they differ. One key is all of them, because they are made from the same input.
 */
import type { EventRecorder } from "../../../identity/event-reasons.ts";
import { configMaps, secrets } from "../../../kube/builtin.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import type { ObjectRef } from "../../../kube/event-correlator.ts";
import { objectRef } from "../../../kube/event-recorder.ts";
import type { Frozen, KubeObject, Resource, Stored } from "../../../kube/resource.ts";
import { nameOf } from "../../../kube/resource.ts";
import type { ConfigMap } from "../../../kube/types.ts";
import { watchSource } from "../../../kube/watch-source.ts";
import { again, type Controller, type Outcome } from "../../../runtime/controller.ts";
import { rethrowIfStopped } from "../../../runtime/gate.ts";
import type { Host } from "../../../runtime/host.ts";
import { messageOf } from "../../../runtime/message-of.ts";
import { getIfThere } from "../../context.ts";
import { artifacts } from "../artifacts.ts";
import { type ArtifactsInput, ArtifactsInputInvalid } from "../input.ts";
import { StorageClassInvalid } from "../storage-classes.ts";
import { clusterInput, SettingsInvalid } from "./cluster-input.ts";
import { type DefaultSaidBy, withOwnChoice } from "./default-class.ts";
import { type ConfigMapInformer, only, type SecretInformer, type StorageClasses } from "./informers.ts";
import type { ArtifactsMetrics } from "./metrics.ts";
import { type ClassSettings, cniSecretName, planObject, type Step, unwantedClasses } from "./plan.ts";
import { keptResource, storageClasses as storageClassResource } from "./resources.ts";

export interface KeeperOptions {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  /** What Events are about when there is no object to tell them of. */
  readonly home: ObjectRef;
  readonly configuration: SecretInformer;
  readonly uuid: ConfigMapInformer;
  readonly settings: ConfigMapInformer;
  readonly storageClasses: StorageClasses;
  readonly metrics: ArtifactsMetrics;
}

/** How often everything is compared: what somebody has changed of an object that is not watched is found then. */
const resyncMs = 5 * 60_000;
/** How long a cluster may be without a default class before it gets one: whoever moves the mark takes it off one class before the other has it. */
const undecidedMs = 30_000;
const key = "artifacts";

/** An object that is to be made anew, or that somebody has deleted, is still there. */
class ObjectLeaving extends Error {
  override readonly name = "ObjectLeaving";
  constructor(what: string, { metadata: { finalizers = [] } }: Stored<KubeObject>) {
    super(`${what} is being deleted and waits for ${finalizers.join(", ") || "the API server"}`);
  }
}

/** A class that was set right a moment ago is different again. Its change woke us: whoever makes it would make it as often as we set it right. */
class ObjectContested extends Error {
  override readonly name = "ObjectContested";
  constructor(what: string) {
    super(
      `${what} was set right less than ${resyncMs / 60_000} minutes ago and is different again: somebody else keeps it too, or a webhook changes it`,
    );
  }
}

/** Several objects could not be brought to the cluster; the others were. */
class ArtifactsIncomplete extends AggregateError {
  override readonly name = "ArtifactsIncomplete";
}

export function artifactsKeeper(options: KeeperOptions): Controller & { problem(): string | undefined } {
  const { configuration, uuid, settings, storageClasses } = options;
  const keeper = new Keeper(options);
  const wake = () => [key];
  return {
    name: "artifacts",
    concurrency: 1,
    sources: [
      watchSource(configuration, wake),
      watchSource(uuid, wake),
      watchSource(settings, wake),
      watchSource(storageClasses, wake),
      { name: "start", start: async (enqueue) => enqueue(key) },
    ],
    reconcile: (_, signal) => keeper.keep(signal),
    problem: () => keeper.problem,
  };
}

interface Wanted {
  readonly input: ArtifactsInput;
  readonly defaultSaidBy: DefaultSaidBy;
  readonly objects: readonly KubeObject[];
}

class Keeper {
  readonly #options: KeeperOptions;
  /** The last change of each class, and when it was made. */
  readonly #changed = new Map<string, { readonly how: string; readonly at: number }>();
  /** The settings as they were last seen, and since when they are gone. */
  #lastSettings: { readonly map: Frozen<ConfigMap>; readonly goneSince?: number } | undefined;
  /** Since when nobody says which class is the default. */
  #undecidedSince: number | undefined;
  problem: string | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  async keep(signal: AbortSignal): Promise<Outcome> {
    const { metrics, storageClasses } = this.#options;
    const wanted = await this.#wanted(signal);
    if (wanted === undefined) return again(resyncMs, this.problem ?? "the configuration cannot be used");
    const { input, defaultSaidBy } = wanted;
    const patienceMs = this.#patience(defaultSaidBy);
    const waiting = new Set(patienceMs > 0 ? storageClasses.list().map(({ metadata }) => metadata.name) : []);
    const objects = defaultSaidBy === "nobody" ? withOwnChoice(wanted.objects, waiting) : wanted.objects;
    const failures: unknown[] = [];
    let foreign = 0;
    const attempt = async (work: () => Promise<Step | undefined>) => {
      try {
        const step = await work();
        if (step?.do === "leave") foreign++;
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    };
    const settings = { provisioned: new Set(input.storageClass.provision.map(({ name }) => name)), defaultSaidBy };
    for (const object of objects) await attempt(() => this.#bring(object, settings, signal));
    for (const each of unwantedClasses(objects, storageClasses.list())) {
      await attempt(() => this.#apply(storageClassResource, { do: "delete", stored: each as Stored<KubeObject> }, signal));
    }
    metrics.kept(objects.length, failures.length, foreign);
    if (failures.length > 0) throw new ArtifactsIncomplete(failures, failures.map(messageOf).join("; "));
    return again(patienceMs > 0 ? patienceMs : resyncMs, "look at everything again");
  }

  /** How long classes that are there still wait for somebody to choose the default; 0: no longer. */
  #patience(saidBy: DefaultSaidBy): number {
    const now = this.#options.host.world.clock.monotonic();
    this.#undecidedSince = saidBy === "nobody" ? (this.#undecidedSince ?? now) : undefined;
    return this.#undecidedSince === undefined ? 0 : Math.max(0, this.#undecidedSince + undecidedMs - now);
  }

  /** What is to be there. Without an input everything stays as it is, and why is told where the input is. */
  async #wanted(signal: AbortSignal): Promise<Wanted | undefined> {
    const { kube, configuration, uuid, storageClasses, metrics } = this.#options;
    try {
      const { input, defaultSaidBy } = clusterInput({
        configuration: only(configuration),
        uuid: only(uuid),
        settings: this.#settings(),
        cni: await getIfThere(kube, secrets, { namespace: "kube-system", name: cniSecretName }, signal),
        storageClasses: storageClasses.list(),
      });
      const objects = artifacts(input).filter((object) => keptResource(object) !== undefined) as readonly KubeObject[];
      this.problem = undefined;
      metrics.usable(true);
      return { input, defaultSaidBy, objects };
    } catch (error) {
      if (!(error instanceof ArtifactsInputInvalid || error instanceof StorageClassInvalid)) throw error;
      this.problem = error.message;
      metrics.usable(false);
      this.#tell(error.message, error instanceof SettingsInvalid || error instanceof StorageClassInvalid);
      return undefined;
    }
  }

  /** Settings that are deleted may be on their way back: without them, classes that they ask for would be deleted. They count a while longer. */
  #settings(): Frozen<ConfigMap> | undefined {
    const { host, settings } = this.#options;
    const now = host.world.clock.monotonic();
    const [seen, last] = [only(settings), this.#lastSettings];
    if (seen !== undefined) this.#lastSettings = { map: seen };
    else if (last !== undefined && last.goneSince === undefined) {
      host.log.warn("the settings are gone: in five minutes the defaults count", { configMap: last.map.metadata?.name });
      this.#lastSettings = { map: last.map, goneSince: now };
    } else if (last?.goneSince !== undefined && now >= last.goneSince + resyncMs) this.#lastSettings = undefined;
    return this.#lastSettings?.map;
  }

  #tell(message: string, isOfSettings: boolean): void {
    const { host, recorder, home, configuration, settings } = this.#options;
    host.log.error("artifacts cannot be made; what is there stays", { why: message });
    const [map, secret] = [isOfSettings ? only(settings) : undefined, only(configuration)];
    const about = map ? objectRef(configMaps, map) : secret ? objectRef(secrets, secret) : home;
    recorder.record(about, "Warning", "ArtifactsInvalid", `Artifacts cannot be made, and stay as they are: ${message}`);
  }

  async #bring(object: KubeObject, settings: ClassSettings, signal: AbortSignal): Promise<Step | undefined> {
    const of = keptResource(object)!;
    const { name = "", namespace } = object.metadata ?? {};
    const stored = await getIfThere(this.#options.kube, of, { name, namespace }, signal);
    if (stored?.metadata.deletionTimestamp !== undefined) throw new ObjectLeaving(nameOf(of, { name, namespace }), stored);
    const step = planObject(object, stored, settings);
    if (step?.do === "replace" || (step?.do === "patch" && object.kind === "StorageClass")) await this.#setRight(of, step, signal);
    else if (step !== undefined) await this.#apply(of, step, signal);
    return step;
  }

  async #setRight(of: Resource<KubeObject>, step: Extract<Step, { do: "replace" | "patch" }>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.host.world;
    const what = nameOf(of, { name: step.stored.metadata.name });
    const how = JSON.stringify(step.do === "patch" ? step.merge : step.object);
    const last = this.#changed.get(what);
    if (last?.how === how && clock.monotonic() < last.at + resyncMs) throw new ObjectContested(what);
    await this.#apply(of, step, signal);
    this.#changed.set(what, { how, at: clock.monotonic() });
  }

  async #apply(of: Resource<KubeObject>, step: Step, signal: AbortSignal): Promise<undefined> {
    const { kube, host, recorder } = this.#options;
    const { name = "", namespace } = (step.do === "delete" ? step.stored : step.object).metadata ?? {};
    const what = nameOf(of, { name, namespace });
    if (step.do === "leave") {
      const foreign = "it is not as it should be, and it is not the provider's (labels heritage=deckhouse, module=cloud-provider-aws)";
      const why = step.loss ?? foreign;
      host.log.warn("an object of somebody else is left alone", { object: what, why });
      recorder.record(objectRef(of, step.stored), "Warning", "ArtifactForeign", `Left alone: ${why}`);
      return;
    }
    try {
      if (step.do === "create") await kube.create(of, step.object, { signal });
      else if (step.do === "patch") {
        const { uid, resourceVersion } = step.stored.metadata;
        const { metadata, ...body } = step.merge as { metadata?: object };
        await kube.patch(of, { name, namespace }, { merge: { ...body, metadata: { ...metadata, resourceVersion } }, uid }, { signal });
      } else {
        const { uid, resourceVersion } = step.stored.metadata;
        await kube.delete(of, { name }, { uid, resourceVersion, signal });
        if (step.do === "replace") await kube.create(of, step.object, { signal });
      }
      host.log.info("brought an object to what is wanted", { object: what, did: step.do });
    } catch (error) {
      rethrowIfStopped(error, signal);
      if (step.do === "delete" && isApiError(error, "not-found")) return;
      if (step.do === "replace" && isApiError(error, "already-exists")) throw new ObjectLeaving(what, step.stored);
      // In the log only: the object may not be there to be told of.
      host.log.error("cannot bring an object to what is wanted", { object: what, tried: step.do, error });
      throw error;
    }
  }
}
