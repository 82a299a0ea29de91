/** What of a claim is to become of its volume: more bytes, or another class of attributes. */
import type { PersistentVolumeClaimCondition, PersistentVolumeClaimStatus } from "../../kube/types.ts";
import { bytesOfQuantity } from "../quantity.ts";
import { attributesClassOf, type SeenClaim, type SeenVolume } from "./provision-plan.ts";

/**
 * The size that the driver is to be asked for; undefined when there is nothing to ask. What was begun comes to its end before
 * anything else does: a size that EC2 may still bring about, and a file system that the node still grows. `isRefused` says that the
 * last attempt ended without effect, so that a claim which was made smaller since then gets what it asks for now.
 */
export function wantedGrowth({ spec, status }: SeenClaim, volume: SeenVolume, isRefused = false): bigint | undefined {
  if (status?.phase !== "Bound") return undefined;
  const wanted = bytesOfQuantity(spec?.resources?.requests?.storage ?? "");
  const has = bytesOfQuantity(status.capacity?.storage ?? "") ?? 0n;
  if (wanted === undefined || wanted <= has) return undefined;
  const disk = bytesOfQuantity(volume.spec?.capacity?.storage ?? "") ?? 0n;
  const begun = bytesOfQuantity(status.allocatedResources?.storage ?? "") ?? wanted;
  const word = resizeWord(status);
  if (isNodesTurn(word)) return disk >= wanted || disk >= begun ? undefined : begun;
  const goesOn = word === "NodeResizeInfeasible" || (word === "ControllerResizeInProgress" && !isRefused);
  const size = goesOn ? begun : wanted;
  return size > disk ? size : disk;
}

/** How far the growth is, as the claim says it; servers that keep no such word have a condition. */
export function resizeWord({ allocatedResourceStatuses, conditions }: SeenClaim["status"] & object): string {
  const word = allocatedResourceStatuses?.storage ?? "";
  const isPending = conditions?.some(({ type, status }) => type === "FileSystemResizePending" && status === "True") ?? false;
  return word === "" && isPending ? "NodeResizePending" : word;
}

function isNodesTurn(word: string): boolean {
  return word === "NodeResizePending" || word === "NodeResizeInProgress";
}

/**
 * The class of attributes that the volume is to have and has not. A claim that goes back to its class before another one was brought to
 * the volume is brought back too: EC2 may have carried the change out, in part or whole.
 */
export function wantedAttributes(claim: SeenClaim): string | undefined {
  const wanted = attributesClassOf(claim);
  if (claim.status?.phase !== "Bound" || wanted === undefined) return undefined;
  const { currentVolumeAttributesClassName: has, modifyVolumeStatus: begun } = claim.status;
  const isLeft = begun !== undefined && begun.targetVolumeAttributesClassName !== wanted;
  return wanted === has && !isLeft ? undefined : wanted;
}

/** A condition, or the word that it goes. */
type ConditionChange = PersistentVolumeClaimCondition | { readonly type: string; readonly $patch: "delete" };

/** A status as a strategic merge patch: what is null goes, and conditions are joined by their types. */
export type StatusChange = {
  readonly [Field in Exclude<keyof PersistentVolumeClaimStatus, "conditions">]?: PersistentVolumeClaimStatus[Field] | null;
} & { readonly conditions: readonly ConditionChange[] };

const resizeErrors = ["ControllerResizeError", "NodeResizeError"];
const resizing = ["Resizing", "FileSystemResizePending", ...resizeErrors];
const modifying = ["ModifyingVolume", "ModifyVolumeError"];

/** This condition in place of all of its group; none of them when it is undefined. */
function instead(group: readonly string[], condition: PersistentVolumeClaimCondition | undefined): readonly ConditionChange[] {
  const others = group.filter((type) => type !== condition?.type);
  return [...others.map((type) => ({ type, $patch: "delete" as const })), ...(condition ? [condition] : [])];
}

/** Two changes of different groups as one. */
export function together(changes: readonly StatusChange[]): StatusChange {
  return Object.assign({}, ...changes, { conditions: changes.flatMap(({ conditions }) => conditions) }) as StatusChange;
}

const pendingMessage = "Waiting for user to (re-)start a pod to finish file system resize of volume on node.";

/** The disk is being made larger. */
export function growthBegun(size: string, now: string): StatusChange {
  return {
    allocatedResources: { storage: size },
    allocatedResourceStatuses: { storage: "ControllerResizeInProgress" },
    conditions: instead(resizing, { type: "Resizing", status: "True", lastTransitionTime: now }),
  };
}

/** The disk is larger, the file system not yet: as before it is still being resized. */
export function nodesTurn(size: string, now: string): StatusChange {
  return {
    allocatedResources: { storage: size },
    allocatedResourceStatuses: { storage: "NodeResizePending" },
    conditions: [
      ...instead(resizeErrors, undefined),
      { type: "FileSystemResizePending", status: "True", lastTransitionTime: now, message: pendingMessage },
    ],
  };
}

/** A block device has no file system to grow. */
export function growthDone(size: string): StatusChange {
  return {
    capacity: { storage: size },
    allocatedResources: { storage: size },
    allocatedResourceStatuses: null,
    conditions: instead(resizing, undefined),
  };
}

/** How an attempt failed: it always will, it had no effect, or EC2 may still carry it out. */
export type GrowthFailure = "infeasible" | "refused" | "uncertain";

/** What failed, and why. The word stays that of a growth under way unless it is in vain. */
export function growthFailed(how: GrowthFailure, message: string, now: string): StatusChange {
  const type = how === "uncertain" ? "Resizing" : "ControllerResizeError";
  return {
    allocatedResourceStatuses: { storage: how === "infeasible" ? "ControllerResizeInfeasible" : "ControllerResizeInProgress" },
    conditions: [{ type, status: "True", lastTransitionTime: now, message }],
  };
}

/** Another class is being brought to the volume. */
export function modificationBegun(target: string, now: string): StatusChange {
  return {
    modifyVolumeStatus: { targetVolumeAttributesClassName: target, status: "InProgress" },
    conditions: instead(modifying, { type: "ModifyingVolume", status: "True", lastTransitionTime: now }),
  };
}

/** There is no such class yet: nothing was asked of EC2. */
export function modificationPending(target: string): StatusChange {
  return { modifyVolumeStatus: { targetVolumeAttributesClassName: target, status: "Pending" }, conditions: [] };
}

export function modificationDone(target: string): StatusChange {
  return {
    currentVolumeAttributesClassName: target,
    modifyVolumeStatus: null,
    conditions: instead(modifying, undefined),
  };
}

export function modificationFailed(target: string, infeasible: boolean, message: string, now: string): StatusChange {
  return {
    modifyVolumeStatus: { targetVolumeAttributesClassName: target, status: infeasible ? "Infeasible" : "InProgress" },
    conditions: instead(modifying, { type: "ModifyVolumeError", status: "True", lastTransitionTime: now, message }),
  };
}
