/** Checks of metadata that hold for every kind, in the words of the real API. */
import { asList, asObject, asText, type Json, type KubeObject, same } from "./json.ts";
import type { Resource } from "./resources.ts";
import { badRequest, type FieldError, fieldErrors } from "./status.ts";

/** What the API says of a text that is no host name. */
export const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const dnsLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const namePart =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const pathSegmentKinds = new Set(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"]);

/** What is wrong with a name, if anything. */
export function nameErrors(resource: Resource, name: string): FieldError[] {
  if (name === "") return [fieldErrors.required("metadata.name", "name or generateName is required")];
  if (resource.group === "rbac.authorization.k8s.io" && pathSegmentKinds.has(resource.kind)) {
    return /[/%]/.test(name) ? [fieldErrors.invalid("metadata.name", name, "may not contain '/' or '%'")] : [];
  }
  if (resource.kind === "Namespace" || resource.kind === "Service") {
    if (name.includes(".")) return [fieldErrors.invalid("metadata.name", name, "must not contain dots")];
    return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? [] : [fieldErrors.invalid("metadata.name", name, dnsLabel)];
  }
  if (name.length > 253) return [fieldErrors.invalid("metadata.name", name, "must be no more than 253 bytes")];
  return isSubdomain(name) ? [] : [fieldErrors.invalid("metadata.name", name, subdomain)];
}

/** What is wrong with labels, annotations, finalizers and owners, and with changes that metadata does not allow. */
export function metadataErrors(object: KubeObject, before: KubeObject | undefined): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(asObject(metadata.labels))) {
    errors.push(...qualifiedNameErrors("metadata.labels", key, "a valid label key"));
    if (!/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(asText(value))) {
      errors.push(fieldErrors.invalid("metadata.labels", asText(value), labelValue));
    } else if (asText(value).length > 63) {
      errors.push(fieldErrors.invalid("metadata.labels", asText(value), "must be no more than 63 bytes"));
    }
  }
  for (const key of Object.keys(asObject(metadata.annotations))) {
    errors.push(...qualifiedNameErrors("metadata.annotations", key.toLowerCase(), "a valid annotation key"));
  }
  for (const owner of asList(metadata.ownerReferences)) {
    for (const field of ["apiVersion", "kind", "name", "uid"]) {
      const why = field === "apiVersion" ? "version must not be empty" : "must not be empty";
      if (asText(asObject(owner)[field]) === "") errors.push(fieldErrors.invalid(`metadata.ownerReferences.${field}`, "", why));
    }
  }
  for (const [i, finalizer] of asList(metadata.finalizers).entries()) {
    const text = asText(finalizer);
    if (!text.includes("/") && !["foregroundDeletion", "orphan", "kubernetes"].includes(text)) {
      errors.push(
        fieldErrors.invalid(`metadata.finalizers[${i}]`, text, "name is neither a standard finalizer name nor is it fully qualified"),
      );
    }
  }
  if (before !== undefined) errors.push(...changeErrors(object, before));
  return errors;
}

function changeErrors({ metadata }: KubeObject, before: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!same(metadata.uid, before.metadata.uid)) errors.push(fieldErrors.invalid("metadata.uid", metadata.uid, "field is immutable"));
  if (before.metadata.deletionTimestamp !== undefined) {
    const known = asList(before.metadata.finalizers);
    const added = asList(metadata.finalizers).filter((finalizer) => !known.includes(finalizer));
    if (added.length > 0) {
      const shown = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
      errors.push(
        fieldErrors.forbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
        ),
      );
    }
  }
  return errors;
}

function qualifiedNameErrors(field: string, key: string, what: string): FieldError[] {
  const parts = key.split("/");
  const name = parts.at(-1)!;
  if (parts.length > 2) {
    return [
      fieldErrors.invalid(
        field,
        key,
        `${what.replace("annotation", "label")} ${namePart} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ),
    ];
  }
  const errors: FieldError[] = [];
  if (parts.length === 2 && !isSubdomain(parts[0]!)) errors.push(fieldErrors.invalid(field, key, `prefix part ${subdomain}`));
  if (name === "") errors.push(fieldErrors.invalid(field, key, "name part must be non-empty"));
  else if (name.length > 63) errors.push(fieldErrors.invalid(field, key, "name part must be no more than 63 bytes"));
  else if (!/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name)) errors.push(fieldErrors.invalid(field, key, `name part ${namePart}`));
  return errors;
}

export function isSubdomain(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);
}

/** Rejects text fields that hold something else, as decoding into Go types would. */
export function requireTexts(kind: string, object: KubeObject): void {
  const check = (value: Json | undefined, field: string) => {
    for (const one of Object.values(asObject(value))) {
      if (one === null || typeof one === "string" || one === undefined) continue;
      const found = Array.isArray(one) ? "array" : typeof one === "boolean" ? "bool" : typeof one;
      throw badRequest(
        `${kind} in version "${object.apiVersion.split("/").at(-1)}" cannot be handled as a ${kind}: json: cannot unmarshal ${found} into Go struct field ${field} of type string`,
      );
    }
  };
  check(object.metadata.labels, "ObjectMeta.metadata.labels");
  check(object.metadata.annotations, "ObjectMeta.metadata.annotations");
  if (kind === "ConfigMap") check(object.data, "ConfigMap.data");
}
