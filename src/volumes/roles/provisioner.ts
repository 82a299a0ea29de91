/**
 * The provisioner: makes the volume of a claim, and the PersistentVolume that tells of it. What was asked of EC2 is followed to
 * its end also when the claim is gone meanwhile: its PersistentVolume is then released, and the volume deleted with it.
 */

import { isApiError } from "../../kube/errors.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { keyOf } from "../../kube/store.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { CsiError } from "../csi/errors.ts";
import type { StringMap, VolumeAnswer } from "../csi/messages.ts";
import { inTreeName, translatedClass } from "../migration.ts";
import { driverName } from "../names.ts";
import { claims, persistentVolumes } from "../storage-resources.ts";
import { type Accessibility, accessibilityOf, type DriverNode } from "./accessibility.ts";
import { attributesOf } from "./attributes-class.ts";
import { isPopulated, sourceOf } from "./content-source.ts";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";
import { callDriver, mayStillHappen, type RoleParts } from "./parts.ts";
import {
  annotations,
  attributesClassOf,
  claimOf,
  creationRequest,
  isOwnClass,
  type Provisioning,
  type SeenClaim,
  type SeenClass,
  volumeFor,
  volumeNameOf,
  wantsVolume,
} from "./provision-plan.ts";

/** csi-provisioner's own limit of a call. */
const callMs = 60_000;

/** Keeps a claim until it is known whether EC2 has made a volume for it, and the cluster knows that volume. */
const claimFinalizer = "volume.fairlead.io/provisioning";

export function provisioner(parts: RoleParts): Controller {
  return new Provisioner(parts).controller();
}

class Provisioner {
  readonly #parts: RoleParts;
  /** In volumes, as csi-provisioner writes it: which process made them. */
  readonly #identity: string;
  /** By key of the claim: what may be under way in EC2, whatever becomes of the claim. */
  readonly #open = new Map<string, Provisioning>();

  constructor(parts: RoleParts) {
    this.#parts = parts;
    const { clock, random } = parts.host.world;
    this.#identity = `${Math.floor(clock.now())}-${Math.floor(random.number() * 10_000)}-${driverName}`;
  }

  controller(): Controller {
    const { claims: seen, classes, volumes, nodes, csiNodes, settings } = this.#parts;
    return {
      name: "volume-provisioner",
      concurrency: settings.concurrency,
      backoff: { baseMs: 1_000, maxMs: 5 * 60_000 },
      sources: [
        watchSource(seen, (before, after) => {
          if (after === undefined) return this.#open.has(keyOf(before!)) ? [keyOf(before!)] : [];
          return isAside(before, after) ? [] : [keyOf(after)];
        }),
        // A claim may be older than its class.
        watchSource(classes, (before, after) =>
          before === undefined && after !== undefined ? seen.by("class", after.metadata.name).map(keyOf) : [],
        ),
        // Without all of them a volume would be made twice, or where no node is. One that goes before it is bound makes room for another.
        watchSource(volumes, (before, after) => (after === undefined ? claimOf(before!) : [])),
        watchSource(nodes, () => []),
        watchSource(csiNodes, () => []),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { claims: seen, classes, volumes } = this.#parts;
    const claim = seen.get(key);
    const open = this.#open.get(key);
    const storageClass = claim && classes.get(claim.spec?.storageClassName ?? "");
    const isWanted = claim !== undefined && storageClass !== undefined && wantsVolume(claim, storageClass);
    const isForOther = open !== undefined && open.claim.metadata.uid !== claim?.metadata.uid;
    if (open !== undefined && (isForOther || !isWanted || this.#isNodeGone(claim))) {
      await this.#finish(key, open, signal);
      // Another claim may have the name by now.
      return this.#reconcile(key, signal);
    }
    if (!isWanted) return claim === undefined ? done : this.#letGo(claim, storageClass, signal);
    if (isPopulated(claim)) {
      const text = "Assuming an external populator will provision the volume";
      this.#parts.recorder.record(objectRef(claims, claim), "Normal", "Provisioning", text);
      return done;
    }
    // Made already, and not bound yet. Of one that is leaving the disk may be leaving too: another one is made when it is gone.
    if (volumes.get(volumeNameOf(claim)) !== undefined) return done;
    try {
      const translated = storageClass.provisioner === inTreeName ? (translatedClass(storageClass) as SeenClass) : storageClass;
      await this.#provision(key, claim, translated, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (refusalIn(error)) throw error;
      const heading = `failed to provision volume with StorageClass ${JSON.stringify(storageClass.metadata.name)}`;
      this.#warn(claim, `${heading}: ${messageOf(error)}`, error);
      if (!mayBeThere(error)) await this.#release(key, claim, signal);
      if (await this.#reschedule(claim, error, signal)) return done;
      throw error;
    }
    return done;
  }

  async #provision(key: string, claim: SeenClaim, storageClass: SeenClass, signal: AbortSignal): Promise<void> {
    const { kube, recorder, settings, checkCreation } = this.#parts;
    recorder.record(
      objectRef(claims, claim),
      "Normal",
      "Provisioning",
      `External provisioner is provisioning volume for claim ${JSON.stringify(key)}`,
    );
    const provisioning: Provisioning = {
      claim,
      storageClass,
      accessibility: this.#accessibility(claim, storageClass),
      source: await sourceOf(claim, this.#parts, signal),
      attributes: await this.#attributes(claim, signal),
      defaultFsType: settings.defaultFsType,
    };
    // What cannot be asked for holds nobody.
    checkCreation(creationRequest(provisioning));
    // Before EC2 is asked: a process that ends between the two leaves the claim to tell the next one that there may be a volume.
    await addFinalizer(kube, claims, claim.metadata, claimFinalizer, signal);
    await this.#make(key, provisioning, signal);
    recorder.record(objectRef(claims, claim), "Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${volumeNameOf(claim)}`);
  }

  /** Has the volume made and tells the cluster of it. Both can be done twice. */
  async #make(key: string, provisioning: Provisioning, signal: AbortSignal): Promise<void> {
    const request = creationRequest(provisioning);
    const before = this.#open.get(key);
    this.#open.set(key, provisioning);
    try {
      const { volume } = await callDriver<{ volume: VolumeAnswer }>(this.#parts, "CreateVolume", request, callMs, signal);
      await this.#publish(provisioning, volume, signal);
      this.#open.delete(key);
    } catch (error) {
      // Nothing was made, for certain.
      if (!mayBeThere(error)) this.#open.delete(key);
      // What is there is what was asked for before, and is had by asking for that.
      else if (before !== undefined && isOfOtherRequest(error)) this.#open.set(key, before);
      throw error;
    }
  }

  async #publish(provisioning: Provisioning, volume: VolumeAnswer, signal: AbortSignal): Promise<void> {
    const { kube, host, volumes } = this.#parts;
    const object = volumeFor(provisioning, volume, this.#identity);
    const other = volumes.by("disk", volume.volumeId).find(({ metadata }) => metadata.name !== object.metadata?.name);
    if (other !== undefined) {
      // Made by hand: a second one would be released, because the claim has the first, and the disk deleted with it.
      host.log.warn("a volume has a PersistentVolume already", { volume: volume.volumeId, persistentVolume: other.metadata.name });
      return;
    }
    try {
      await kube.create(persistentVolumes, object, { signal });
      host.log.info("made a volume for a claim", { claim: keyOf(provisioning.claim), volume: volume.volumeId });
    } catch (error) {
      // An earlier attempt whose answer was lost, or the one before us.
      if (!isApiError(error, "already-exists")) throw error;
    }
  }

  /**
   * Takes our finalizer off a claim that wants no volume any more: it has one, or it is leaving and none can come. What a process
   * before this one may have had made is looked for by its name.
   */
  async #letGo(claim: SeenClaim, storageClass: SeenClass | undefined, signal: AbortSignal): Promise<Outcome> {
    const { kube, volumes, settings } = this.#parts;
    const { metadata, spec } = claim;
    if (!isGuarded(claim)) return done;
    const name = volumeNameOf(claim);
    if (volumes.get(name) === undefined && spec?.volumeName !== name) {
      // It may want one again: its class comes back, or another node is chosen.
      if (metadata.deletionTimestamp === undefined && !spec?.volumeName) return done;
      const leaving = { metadata: { name: spec?.storageClassName ?? "" }, provisioner: driverName } as SeenClass;
      // One that is another driver's by now would leave the volume to that driver.
      const own = storageClass !== undefined && isOwnClass(storageClass) ? storageClass : leaving;
      const rest = { accessibility: undefined, source: undefined, attributes: {}, defaultFsType: settings.defaultFsType };
      await this.#adopt({ claim, storageClass: own, ...rest }, signal);
    }
    await removeFinalizer(kube, claims, metadata, claimFinalizer, signal);
    return done;
  }

  /** A claim that was refused needs nobody to be deleted, once it is known that it has no volume. */
  async #release(key: string, claim: SeenClaim, signal: AbortSignal): Promise<void> {
    const { kube, claims: seen, madeVolume } = this.#parts;
    if (this.#open.has(key) || !isGuarded(seen.get(key) ?? claim)) return;
    if ((await madeVolume(volumeNameOf(claim), { name: "CreateVolume", signal })) !== undefined) return;
    await removeFinalizer(kube, claims, claim.metadata, claimFinalizer, signal);
  }

  /** Tells the cluster of the volume that has the claim's name, if there is one, so that it has an owner. */
  async #adopt(provisioning: Provisioning, signal: AbortSignal): Promise<void> {
    const { claim } = provisioning;
    const name = volumeNameOf(claim);
    const found = await this.#parts.madeVolume(name, { name: "CreateVolume", signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      this.#warn(claim, `it is not known whether volume ${name} was made: ${messageOf(error)}`, error);
      throw error;
    });
    if (found !== undefined) await this.#publish(provisioning, found, signal);
  }

  /** The claim is gone, or wants no volume any more: what may have been made still needs an owner, who then lets it be deleted. */
  async #finish(key: string, open: Provisioning, signal: AbortSignal): Promise<void> {
    const { volumes, claims: seen } = this.#parts;
    try {
      if (volumes.get(volumeNameOf(open.claim)) === undefined) await this.#make(key, open, signal);
    } catch (error) {
      if (mayStillHappen(error)) throw error;
      // A process before this one asked for it, of a class that was made anew since. A claim that is held finds it when it goes.
      if (isOfOtherRequest(error) && seen.get(key)?.metadata.uid !== open.claim.metadata.uid) await this.#adopt(open, signal);
    }
    this.#open.delete(key);
  }

  /** The node that the scheduler chose is no more: the scheduler is to choose again. */
  #isNodeGone({ metadata }: SeenClaim): boolean {
    const selected = metadata.annotations?.[annotations.selectedNode];
    return selected !== undefined && this.#parts.nodes.get(selected) === undefined;
  }

  #accessibility(claim: SeenClaim, storageClass: SeenClass): Accessibility | undefined {
    const { nodes, csiNodes } = this.#parts;
    const driverNode = (name: string): DriverNode => ({
      name,
      labels: nodes.get(name)?.metadata.labels ?? {},
      topologyKeys: csiNodes.get(name)?.spec.drivers.find((driver) => driver.name === driverName)?.topologyKeys ?? [],
    });
    const selected = claim.metadata.annotations?.[annotations.selectedNode];
    const allowed = (storageClass.allowedTopologies ?? []) as Parameters<typeof accessibilityOf>[1];
    const all = csiNodes.list().map(({ metadata }) => driverNode(metadata.name));
    return accessibilityOf(claim.metadata.name, allowed, selected === undefined ? undefined : driverNode(selected), all);
  }

  async #attributes(claim: SeenClaim, signal: AbortSignal): Promise<StringMap> {
    const name = attributesClassOf(claim);
    if (name === undefined) return {};
    const found = await attributesOf(this.#parts.kube, name, signal);
    if (found === undefined) throw new Error(`there is no VolumeAttributesClass ${name}`);
    return found;
  }

  #warn(claim: SeenClaim, message: string, error: unknown): void {
    this.#parts.recorder.record(objectRef(claims, claim), "Warning", "ProvisioningFailed", message, String((error as CsiError).code ?? ""));
  }

  /** A node that is gone, or whose zone has no place: the scheduler is to choose another one. */
  async #reschedule(claim: SeenClaim, error: unknown, signal: AbortSignal): Promise<boolean> {
    const isFull = error instanceof CsiError && error.code === "ResourceExhausted";
    if (!isFull && !this.#isNodeGone(claim)) return false;
    if (claim.metadata.annotations?.[annotations.selectedNode] === undefined) return false;
    const { name, namespace = "", uid } = claim.metadata;
    const merge = { metadata: { annotations: { [annotations.selectedNode]: null } } };
    await this.#parts.kube.patch(claims, { namespace, name }, { merge, uid }, { signal });
    return true;
  }
}

/** Whether there is, or may be, a volume of the claim's name. */
function mayBeThere(error: unknown): boolean {
  return mayStillHappen(error) || isOfOtherRequest(error);
}

/** There is a volume of the name that is not as asked for: the class was made anew since. */
function isOfOtherRequest(error: unknown): boolean {
  return error instanceof CsiError && error.code === "AlreadyExists";
}

function isGuarded({ metadata }: SeenClaim): boolean {
  return metadata.finalizers?.includes(claimFinalizer) ?? false;
}

/** A change of nothing that is read here, as our own finalizer is: what is tried again later is not tried again at once for it. */
function isAside(before: SeenClaim | undefined, after: SeenClaim): boolean {
  const read = ({ metadata: { uid, annotations: notes, deletionTimestamp }, spec }: SeenClaim) =>
    JSON.stringify([uid, notes, deletionTimestamp, spec]);
  return before !== undefined && read(before) === read(after);
}
