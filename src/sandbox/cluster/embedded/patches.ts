/** The four kinds of patch, chosen by the content type. */
import { asObject, asText, isObject, type JsonObject, type KubeObject } from "./json.ts";
import { applied, type Writer } from "./ownership.ts";
import { applyJsonPatch } from "./patch-json.ts";
import { applyMergePatch } from "./patch-merge.ts";
import { applyStrategicPatch } from "./patch-strategic.ts";
import { bodyOf, type Call, contentTypeOf, managerOf, parsedBody } from "./requests.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import { ApiFailure, badRequest, fieldErrors, invalidOptions, rejectedPatch, unsupportedBody } from "./status.ts";

export interface Patch {
  readonly writer: Writer;
  /** Server-side apply: creates what is missing, and keeps its own record of ownership. */
  readonly isApply: boolean;
  readonly change: (current: KubeObject) => JsonObject;
  /** What an apply would create. */
  readonly configuration: JsonObject;
}

/** The patch a request carries. */
export function patchOf(call: Call, resource: Resource, now: string): Patch {
  const type = contentTypeOf(call.request);
  const isApply = type === "application/apply-patch+yaml";
  const writer: Writer = {
    manager: managerOf(call),
    operation: isApply ? "Apply" : "Update",
    apiVersion: apiVersionOf(resource),
    subresource: call.target.subresource,
  };
  const plain = (change: Patch["change"]): Patch => ({ writer, isApply: false, change, configuration: {} });
  if (!isApply && call.query.has("force")) {
    throw invalidOptions("PatchOptions", fieldErrors.forbidden("force", "may not be specified for non-apply patch"));
  }
  switch (type) {
    case "application/json-patch+json": {
      const patch = parsedBody(call.request, resource.kind);
      return plain((current) => requireObject(applyJsonPatch(current, patch)));
    }
    case "application/merge-patch+json": {
      const patch = bodyOf(call.request, resource.kind);
      return plain((current) => requireObject(applyMergePatch(current, patch)));
    }
    case "application/strategic-merge-patch+json": {
      if (resource.custom) {
        throw unsupportedBody(["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]);
      }
      const patch = bodyOf(call.request, resource.kind);
      return plain((current) => applyStrategicPatch(current, patch, resource.mergeRules));
    }
    case "application/apply-patch+yaml": {
      const configuration = configurationOf(call, resource);
      const force = call.query.get("force") === "true";
      return {
        writer,
        isApply: true,
        configuration,
        change: (current) => applied(current, configuration, writer, force, now, resource.mergeRules),
      };
    }
    default:
      throw new ApiFailure(415, "415: Unsupported Media Type", { reason: "UnsupportedMediaType", details: {} });
  }
}

function configurationOf(call: Call, resource: Resource): JsonObject {
  if (call.query.get("fieldManager") === null) {
    throw invalidOptions("PatchOptions", fieldErrors.required("fieldManager", "is required for apply patch"));
  }
  const configuration = bodyOf(call.request, resource.kind);
  if (configuration.apiVersion === undefined || configuration.kind === undefined) {
    const version = asText(configuration.apiVersion);
    throw badRequest(`invalid object type: ${version.includes("/") ? version : `/${version}`}, Kind=${asText(configuration.kind)}`);
  }
  if (asObject(configuration.metadata).managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  return configuration;
}

function requireObject(value: unknown): JsonObject {
  const object = value as JsonObject;
  if (!isObject(object)) throw rejectedPatch();
  return object;
}
