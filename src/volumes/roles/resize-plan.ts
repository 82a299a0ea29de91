/** What of a claim is to become of its volume: more bytes, or another class of attributes. */
import type { PersistentVolumeClaimCondition, PersistentVolumeClaimStatus } from "../../kube/types.ts";
import { bytesOfQuantity } from "../quantity.ts";
import { attributesClassOf, type SeenClaim, type SeenVolume } from "./provision-plan.ts";

/** Bytes that the claim asks for and does not have; undefined when it has them. */
export function wantedGrowth({ spec, status }: SeenClaim, volume: SeenVolume): bigint | undefined {
  if (status?.phase !== "Bound") return undefined;
  const wanted = bytesOfQuantity(spec?.resources?.requests?.storage ?? "");
  const has = bytesOfQuantity(status.capacity?.storage ?? "") ?? 0n;
  if (wanted === undefined || wanted <= has) return undefined;
  // The disk is as large as wanted, and the node's part is under way.
  if (isNodesTurn(status) && (bytesOfQuantity(volume.spec?.capacity?.storage ?? "") ?? 0n) >= wanted) return undefined;
  return wanted;
}

function isNodesTurn({ allocatedResourceStatuses, conditions }: SeenClaim["status"] & object): boolean {
  const word = allocatedResourceStatuses?.storage ?? "";
  if (word !== "") return word.startsWith("NodeResize");
  return conditions?.some(({ type, status }) => type === "FileSystemResizePending" && status === "True") ?? false;
}

/** The class of attributes that the volume is to have and has not. */
export function wantedAttributes(claim: SeenClaim): string | undefined {
  const wanted = attributesClassOf(claim);
  if (claim.status?.phase !== "Bound" || wanted === undefined) return undefined;
  return wanted === claim.status.currentVolumeAttributesClassName ? undefined : wanted;
}

/** A condition, or the word that it goes. */
type ConditionChange = PersistentVolumeClaimCondition | { readonly type: string; readonly $patch: "delete" };

/** A status as a strategic merge patch: what is null goes, and conditions are joined by their types. */
export type StatusChange = {
  readonly [Field in Exclude<keyof PersistentVolumeClaimStatus, "conditions">]?: PersistentVolumeClaimStatus[Field] | null;
} & { readonly conditions: readonly ConditionChange[] };

const resizing = ["Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"];
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

/** The disk is larger, the file system not yet. */
export function nodesTurn(size: string, now: string): StatusChange {
  return {
    allocatedResources: { storage: size },
    allocatedResourceStatuses: { storage: "NodeResizePending" },
    conditions: instead(resizing, {
      type: "FileSystemResizePending",
      status: "True",
      lastTransitionTime: now,
      message: pendingMessage,
    }),
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

/** It was refused; `infeasible` says that it always will be. */
export function growthFailed(infeasible: boolean, message: string, now: string): StatusChange {
  return {
    allocatedResourceStatuses: { storage: infeasible ? "ControllerResizeInfeasible" : "ControllerResizeInProgress" },
    conditions: instead(resizing, {
      type: infeasible ? "ControllerResizeError" : "Resizing",
      status: "True",
      lastTransitionTime: now,
      message,
    }),
  };
}

/** Another class is being brought to the volume. */
export function modificationBegun(target: string, now: string): StatusChange {
  return {
    modifyVolumeStatus: { targetVolumeAttributesClassName: target, status: "InProgress" },
    conditions: instead(modifying, { type: "ModifyingVolume", status: "True", lastTransitionTime: now }),
  };
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
