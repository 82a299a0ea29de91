/** Patches: the only way in which objects are changed. */
import { ApiError, isApiError } from "./errors.ts";
import type { Call } from "./exchange.ts";
import { apiVersion, type KubeObject, type Resource } from "./resource.ts";

/** One operation of a JSON patch. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/**
 * The four ways to change an object. A `metadata.resourceVersion` in the body of a merge makes it conditional. `uid` names
 * the incarnation it is for: whatever else has taken the name meanwhile is not changed, and counts as not found.
 */
export type Patch =
  | { readonly apply: KubeObject; readonly fieldManager: string; readonly force?: boolean }
  | { readonly merge: object; readonly uid?: string }
  | { readonly strategic: object; readonly uid?: string }
  | { readonly json: readonly JsonPatchOperation[] };

/** A patch as it is sent. */
export function patchForm(of: Resource<KubeObject>, patch: Patch): Pick<Call, "body" | "contentType" | "query"> {
  if ("apply" in patch) {
    return {
      body: { apiVersion: apiVersion(of), kind: of.kind, ...patch.apply },
      contentType: "application/apply-patch+yaml",
      query: { fieldManager: patch.fieldManager, force: patch.force ? "true" : undefined },
    };
  }
  if ("merge" in patch) return { body: forUid(patch.merge, patch.uid), contentType: "application/merge-patch+json" };
  if ("strategic" in patch) return { body: forUid(patch.strategic, patch.uid), contentType: "application/strategic-merge-patch+json" };
  return { body: patch.json, contentType: "application/json-patch+json" };
}

function forUid(body: { readonly metadata?: object }, uid: string | undefined): object {
  return uid === undefined ? body : { ...body, metadata: { ...body.metadata, uid } };
}

/**
 * Throws the error of a patch; one that was for another incarnation of the name as not found. A UID in a patch is no
 * precondition to the server, which refuses to change that field, and with it everything else.
 */
export function asOtherIncarnation(error: unknown): never {
  if (isApiError(error, "invalid") && error.causes.some(({ field }) => field === "metadata.uid"))
    throw new ApiError({ reason: "not-found", status: error.status, asked: error.asked, said: error.said, cause: error });
  throw error;
}
