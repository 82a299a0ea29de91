/** Failures in the exact form of the real API: a `Status` with reason, details and causes. */
import type { Json, JsonObject } from "./json.ts";
import type { Resource } from "./resources.ts";

/** A request that is answered with a `Status`. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly status: JsonObject & { readonly code: number };
  constructor(code: number, message: string, fields: { reason?: string; details?: JsonObject; metadata?: JsonObject } = {}) {
    super(message);
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: fields.metadata ?? {},
      status: "Failure",
      message,
      ...(fields.reason === undefined ? {} : { reason: fields.reason }),
      ...(fields.details === undefined ? {} : { details: fields.details }),
      code,
    };
  }
}

/** What is wrong with one field. */
export interface FieldError {
  readonly field: string;
  readonly reason:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueForbidden"
    | "FieldValueNotSupported"
    | "FieldValueDuplicate"
    | "FieldValueTypeInvalid"
    | "FieldValueTooLong";
  readonly message: string;
}

export const fieldErrors = {
  invalid: (field: string, value: Json, why: string): FieldError => ({
    field,
    reason: "FieldValueInvalid",
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  }),
  required: (field: string, why = ""): FieldError => ({
    field,
    reason: "FieldValueRequired",
    message: why === "" ? "Required value" : `Required value: ${why}`,
  }),
  forbidden: (field: string, why: string): FieldError => ({ field, reason: "FieldValueForbidden", message: `Forbidden: ${why}` }),
  unsupported: (field: string, value: Json, supported: readonly string[]): FieldError => ({
    field,
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((one) => JSON.stringify(one)).join(", ")}`,
  }),
  duplicate: (field: string, value: Json, why = ""): FieldError => ({
    field,
    reason: "FieldValueDuplicate",
    message: `Duplicate value: ${JSON.stringify(value)}${why === "" ? "" : `: ${why}`}`,
  }),
  wrongType: (field: string, found: string, wanted: string): FieldError => ({
    field,
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: ${JSON.stringify(found)}: ${field} in body must be of type ${wanted}: ${JSON.stringify(found)}`,
  }),
};

/** Group and name as messages spell them: `leases.coordination.k8s.io`, or `nodes` for the core group. */
export function qualified(resource: Resource): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function detailsOf(resource: Resource, name: string): JsonObject {
  return { ...(name === "" ? {} : { name }), ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.plural };
}

export function notFound(resource: Resource, name: string): ApiFailure {
  return new ApiFailure(404, `${qualified(resource)} "${name}" not found`, { reason: "NotFound", details: detailsOf(resource, name) });
}

export function alreadyExists(resource: Resource, name: string): ApiFailure {
  return new ApiFailure(409, `${qualified(resource)} "${name}" already exists`, {
    reason: "AlreadyExists",
    details: detailsOf(resource, name),
  });
}

export function conflict(
  resource: Resource,
  name: string,
  why = "the object has been modified; please apply your changes to the latest version and try again",
): ApiFailure {
  return new ApiFailure(409, `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`, {
    reason: "Conflict",
    details: detailsOf(resource, name),
  });
}

/** A precondition of a delete that does not hold; the real API names the kind here, not the resource. */
export function failedPrecondition(resource: Resource, name: string, why: string): ApiFailure {
  const kind = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  return new ApiFailure(409, `Operation cannot be fulfilled on ${kind} "${name}": ${why}`, {
    reason: "Conflict",
    details: { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.kind },
  });
}

export function invalid(group: string, kind: string, name: string, errors: readonly FieldError[]): ApiFailure {
  const texts = errors.map((error) => `${error.field}: ${error.message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new ApiFailure(422, `${group === "" ? kind : `${kind}.${group}`} "${name}" is invalid: ${text}`, {
    reason: "Invalid",
    details: {
      ...(name === "" ? {} : { name }),
      ...(group === "" ? {} : { group }),
      kind,
      causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

/** Options of a request (`?dryRun=`, `?fieldManager=`, …) that cannot be taken. */
export function invalidOptions(kind: string, error: FieldError): ApiFailure {
  return invalid("meta.k8s.io", kind, "", [error]);
}

export function badRequest(message: string): ApiFailure {
  return new ApiFailure(400, message, { reason: "BadRequest" });
}

export function forbidden(resource: Resource, name: string, why: string, causes: JsonObject[]): ApiFailure {
  return new ApiFailure(403, `${qualified(resource)} "${name}" is forbidden: ${why}`, {
    reason: "Forbidden",
    details: { ...detailsOf(resource, name), ...(causes.length === 0 ? {} : { causes }) },
  });
}

export function noSuchPath(): ApiFailure {
  return new ApiFailure(404, "the server could not find the requested resource", { reason: "NotFound", details: {} });
}

export function methodNotAllowed(): ApiFailure {
  return new ApiFailure(405, "the server does not allow this method on the requested resource", {
    reason: "MethodNotAllowed",
    details: {},
  });
}

export function rejectedPatch(): ApiFailure {
  return new ApiFailure(422, "the server rejected our request due to an error in our request", { reason: "Invalid", details: {} });
}

export function unauthorized(): ApiFailure {
  return new ApiFailure(401, "Unauthorized", { reason: "Unauthorized" });
}

export function expired(message: string, metadata: JsonObject = {}): ApiFailure {
  return new ApiFailure(410, message, { reason: "Expired", metadata });
}

export function tooLargeVersion(asked: string, current: number): ApiFailure {
  return new ApiFailure(504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    reason: "Timeout",
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
  });
}

export function unsupportedBody(accepted: readonly string[]): ApiFailure {
  return new ApiFailure(415, `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`, {
    reason: "UnsupportedMediaType",
  });
}

/** What the embedded API does not do. Never confused with what the real API refuses. */
export function notImplemented(what: string): ApiFailure {
  return new ApiFailure(501, `the embedded API does not do this: ${what}`, { reason: "NotImplemented", details: {} });
}
