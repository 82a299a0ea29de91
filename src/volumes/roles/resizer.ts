/** The resizer: lets the volume of a claim grow, and brings another class of attributes to it. A key is a claim. */
import { objectRef } from "../../kube/event-recorder.ts";
import { keyOf } from "../../kube/store.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { CsiError } from "../csi/errors.ts";
import type { StringMap } from "../csi/messages.ts";
import { translatedVolume } from "../migration.ts";
import { driverName } from "../names.ts";
import { quantityOfBytes } from "../quantity.ts";
import { claims, persistentVolumes } from "../storage-resources.ts";
import { attributesOf } from "./attributes-class.ts";
import { callDriver, mayStillHappen, type RoleParts, timestamp } from "./parts.ts";
import { capabilityOf, type SeenClaim, type SeenVolume } from "./provision-plan.ts";
import {
  type GrowthFailure,
  growthBegun,
  growthDone,
  growthFailed,
  modificationBegun,
  modificationDone,
  modificationFailed,
  modificationPending,
  nodesTurn,
  resizeWord,
  type StatusChange,
  together,
  wantedAttributes,
  wantedGrowth,
} from "./resize-plan.ts";

/** Longer than csi-resizer waits: EC2 takes minutes, and what it is asked for twice in one window is one change. */
const callMs = 4 * 60_000;

/** How often it is looked whether a class is there by now. */
const classMs = 60_000;

/** Who lets the volume of a claim grow; put there by kube-controller-manager when one is to. */
const resizerAnnotation = "volume.kubernetes.io/storage-resizer";

/** Codes by which the driver says that asking again will not help. */
const infeasibleGrowth: ReadonlySet<string> = new Set(["InvalidArgument", "OutOfRange", "NotFound"]);

export function resizer(parts: RoleParts): Controller {
  const { claims: seen, volumes, settings } = parts;
  /** Keys of claims whose last growth ended without effect. Of others it is not known; then it is asked for again. */
  const refused = new Set<string>();
  return {
    name: "volume-resizer",
    concurrency: settings.concurrency,
    backoff: { baseMs: 1_000, maxMs: 5 * 60_000 },
    sources: [
      watchSource(seen, (before, after) => {
        if (after === undefined) refused.delete(keyOf(before!));
        return after === undefined || isStatusOnly(before, after) ? [] : [keyOf(after)];
      }),
      watchSource(volumes, (before, after) =>
        before === undefined && after !== undefined ? seen.by("volume", after.metadata.name).map(keyOf) : [],
      ),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      const claim = seen.get(key);
      const stored = claim && volumes.get(claim.spec?.volumeName ?? "");
      if (claim === undefined || stored === undefined || !isOurs(claim, stored)) return done;
      const volume = translatedVolume(stored);
      if (claim.metadata.deletionTimestamp !== undefined) return done;
      const size = wantedGrowth(claim, volume, refused.has(key));
      const target = wantedAttributes(claim);
      if (size === undefined && target === undefined) return done;
      const now = timestamp(parts.host);
      const found = target === undefined ? undefined : await classNamed(target, parts, signal);
      const begun = [
        ...(size === undefined ? [] : [growthBegun(quantityOfBytes(size), now)]),
        ...(found?.kind === "found" ? [modificationBegun(found.name, now)] : []),
        ...(found?.kind === "missing" && !isSaidToBeMissing(claim, found.name) ? [modificationPending(found.name)] : []),
      ];
      // Only if the claim is still as it was read: kubelet may have finished what we would begin again.
      if (begun.length > 0) await change(claim, together(begun), parts, signal, claim.metadata.resourceVersion);
      if (found?.kind === "missing") {
        parts.recorder.record(objectRef(claims, claim), "Warning", "VolumeModifyFailed", missingText(found.name), "modification");
      }
      // Asked for at the same time they are one change in EC2, which allows few of them. Neither stops the other.
      const outcomes = await Promise.allSettled([
        ...(size === undefined ? [] : [grow(claim, volume, size, refused, parts, signal)]),
        ...(found?.kind === "found" ? [modify(claim, volume, found, parts, signal)] : []),
        ...(found?.kind === "unusable" ? [modificationRefused(claim, found.name, found.error, parts, signal)] : []),
      ]);
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
      return found?.kind === "missing" ? again(classMs, missingText(found.name)) : done;
    },
  };
}

/** A volume of the driver that is bound to this very claim, or one from before CSI that kube-controller-manager has given to it. */
function isOurs({ metadata }: SeenClaim, { spec }: SeenVolume): boolean {
  // A claim that was made again under the same name is another one: the volume is still the former one's.
  if (spec?.claimRef?.uid !== metadata.uid || spec.claimRef.namespace !== metadata.namespace) return false;
  if (spec?.awsElasticBlockStore !== undefined) return metadata.annotations?.[resizerAnnotation] === driverName;
  return spec?.csi?.driver === driverName;
}

/** A change of nothing that is read here: our own words. What kubelet has finished or given up is read. */
function isStatusOnly(before: SeenClaim | undefined, after: SeenClaim): boolean {
  if (before === undefined || before.metadata.uid !== after.metadata.uid) return false;
  const read = ({ metadata, spec, status }: SeenClaim) => {
    const word = status && resizeWord(status);
    const ofNode = word?.startsWith("NodeResize") ? word : "";
    return JSON.stringify([spec, status?.phase, status?.capacity, ofNode, metadata.annotations?.[resizerAnnotation]]);
  };
  return read(before) === read(after);
}

async function grow(
  claim: SeenClaim,
  volume: SeenVolume,
  bytes: bigint,
  refused: Set<string>,
  parts: RoleParts,
  signal: AbortSignal,
): Promise<void> {
  const { kube, recorder, host } = parts;
  const ref = objectRef(claims, claim);
  const size = quantityOfBytes(bytes);
  const { csi, accessModes, volumeMode, mountOptions } = volume.spec!;
  recorder.record(ref, "Normal", "Resizing", `External resizer is resizing volume ${volume.metadata.name}`);
  try {
    const answer = await callDriver<{ capacityBytes: string; nodeExpansionRequired: boolean }>(
      parts,
      "ControllerExpandVolume",
      {
        volumeId: csi!.volumeHandle,
        capacityRange: { requiredBytes: String(bytes), limitBytes: "0" },
        volumeCapability: capabilityOf(accessModes?.[0] ?? "", volumeMode, csi!.fsType ?? "", mountOptions),
      },
      callMs,
      signal,
    );
    refused.delete(keyOf(claim));
    const actual = quantityOfBytes(BigInt(answer.capacityBytes));
    const { name, uid } = volume.metadata;
    await kube.patch(persistentVolumes, { name }, { merge: { spec: { capacity: { storage: actual } } }, uid }, { signal });
    if (answer.nodeExpansionRequired) {
      await change(claim, nodesTurn(size, timestamp(host)), parts, signal);
      recorder.record(ref, "Normal", "FileSystemResizeRequired", "Require file system resize of volume on node");
    } else {
      await change(claim, growthDone(actual), parts, signal);
      recorder.record(ref, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded");
    }
  } catch (error) {
    signal.throwIfAborted();
    if (refusalIn(error)) throw error;
    const how = failureOf(error);
    if (how === "uncertain") refused.delete(keyOf(claim));
    else refused.add(keyOf(claim));
    const message = messageOf(error);
    recorder.record(
      ref,
      "Warning",
      "VolumeResizeFailed",
      `resize volume ${JSON.stringify(volume.metadata.name)} by resizer ${JSON.stringify(driverName)} failed: ${message}`,
      "growth",
    );
    await change(claim, growthFailed(how, message, timestamp(host)), parts, signal);
    throw error;
  }
}

function failureOf(error: unknown): GrowthFailure {
  if (mayStillHappen(error)) return "uncertain";
  return infeasibleGrowth.has((error as CsiError).code) ? "infeasible" : "refused";
}

interface AttributesClass {
  readonly kind: "found";
  readonly name: string;
  readonly parameters: StringMap;
}

type NamedClass =
  | AttributesClass
  | { readonly kind: "missing"; readonly name: string }
  | { readonly kind: "unusable"; readonly name: string; readonly error: unknown };

async function classNamed(name: string, { kube }: RoleParts, signal: AbortSignal): Promise<NamedClass> {
  try {
    const parameters = await attributesOf(kube, name, signal);
    return parameters === undefined ? { kind: "missing", name } : { kind: "found", name, parameters };
  } catch (error) {
    return { kind: "unusable", name, error };
  }
}

const missingText = (name: string) => `VAC ${name} does not exist.`;

function isSaidToBeMissing({ status }: SeenClaim, name: string): boolean {
  const { status: word, targetVolumeAttributesClassName: target } = status?.modifyVolumeStatus ?? {};
  return word === "Pending" && target === name;
}

async function modify(
  claim: SeenClaim,
  volume: SeenVolume,
  { name: target, parameters }: AttributesClass,
  parts: RoleParts,
  signal: AbortSignal,
): Promise<void> {
  const { kube, recorder } = parts;
  const ref = objectRef(claims, claim);
  recorder.record(ref, "Normal", "VolumeModify", `external resizer is modifying volume ${claim.metadata.name} with vac ${target}`);
  try {
    const { namespace = "", name } = claim.metadata;
    const mutableParameters = {
      ...parameters,
      "csi.storage.k8s.io/pvc/name": name,
      "csi.storage.k8s.io/pvc/namespace": namespace,
      "csi.storage.k8s.io/pv/name": volume.metadata.name,
    };
    const volumeId = volume.spec!.csi!.volumeHandle;
    await callDriver(parts, "ControllerModifyVolume", { volumeId, mutableParameters }, callMs, signal);
    const merge = { spec: { volumeAttributesClassName: target } };
    await kube.patch(persistentVolumes, { name: volume.metadata.name }, { merge, uid: volume.metadata.uid }, { signal });
    await change(claim, modificationDone(target), parts, signal);
    recorder.record(ref, "Normal", "VolumeModifySuccessful", `external resizer modified volume ${name} with vac ${target} successfully`);
  } catch (error) {
    await modificationRefused(claim, target, error, parts, signal);
  }
}

/** Says on the claim why the class was not brought to its volume, and throws the reason. */
async function modificationRefused(
  claim: SeenClaim,
  target: string,
  error: unknown,
  parts: RoleParts,
  signal: AbortSignal,
): Promise<never> {
  signal.throwIfAborted();
  if (refusalIn(error)) throw error;
  const message = messageOf(error);
  parts.recorder.record(objectRef(claims, claim), "Warning", "VolumeModifyFailed", message, "modification");
  const infeasible = error instanceof CsiError && error.code === "InvalidArgument";
  await change(claim, modificationFailed(target, infeasible, message, timestamp(parts.host)), parts, signal);
  throw error;
}

async function change(
  { metadata }: SeenClaim,
  status: StatusChange,
  { kube }: RoleParts,
  signal: AbortSignal,
  resourceVersion?: string,
): Promise<void> {
  const { name, namespace = "", uid } = metadata;
  const strategic = { ...(resourceVersion && { metadata: { resourceVersion } }), status };
  await kube.patch(claims, { namespace, name, subresource: "status" }, { strategic, uid }, { signal });
}
