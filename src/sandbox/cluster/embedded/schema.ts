/**
 * The structural schema of a custom resource: defaults, pruning of unknown fields, and the everyday checks (types,
 * required, enum, bounds, lengths, patterns). Rules in CEL are not evaluated.
 */
import { asList, asObject, asText, copy, isObject, type Json, type JsonObject, type KubeObject } from "./json.ts";
import { type FieldError, fieldErrors } from "./status.ts";

/** Drops what the schema does not know, fills in what it defaults. */
export function completeBySchema(object: KubeObject, schema: JsonObject): void {
  const properties = asObject(schema.properties);
  for (const name of Object.keys(object)) {
    if (name === "apiVersion" || name === "kind" || name === "metadata") continue;
    const property = properties[name];
    if (property === undefined && !keepsUnknown(schema)) delete object[name];
  }
  for (const [name, property] of Object.entries(properties)) {
    if (name === "apiVersion" || name === "kind" || name === "metadata") continue;
    completeField(object, name, asObject(property));
  }
}

function completeField(parent: JsonObject, name: string, schema: JsonObject): void {
  if (parent[name] === undefined && schema.default !== undefined) parent[name] = copy(schema.default);
  const value = parent[name];
  if (value !== undefined) complete(value, schema);
}

function complete(value: Json, schema: JsonObject): void {
  if (Array.isArray(value)) {
    for (const item of value) complete(item, asObject(schema.items));
    return;
  }
  if (!isObject(value)) return;
  const properties = asObject(schema.properties);
  const others = schema.additionalProperties;
  for (const name of Object.keys(value)) {
    if (properties[name] !== undefined) continue;
    if (isObject(others)) complete(value[name]!, others);
    else if (others !== true && !keepsUnknown(schema)) delete value[name];
  }
  for (const [name, property] of Object.entries(properties)) completeField(value, name, asObject(property));
}

function keepsUnknown(schema: JsonObject): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true || schema["x-kubernetes-embedded-resource"] === true;
}

/** What the schema finds wrong. */
export function schemaErrors(object: KubeObject, schema: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  checkObject(object, schema, "", errors);
  return errors;
}

function checkObject(object: JsonObject, schema: JsonObject, path: string, errors: FieldError[]): void {
  const inner = (name: string) => (path === "" ? name : `${path}.${name}`);
  for (const name of asList(schema.required).map(asText)) {
    if (object[name] === undefined) errors.push(fieldErrors.required(inner(name)));
  }
  for (const [name, property] of Object.entries(asObject(schema.properties))) {
    const value = object[name];
    if (value !== undefined && !(path === "" && name === "metadata")) check(value, asObject(property), inner(name), errors);
  }
  if (isObject(schema.additionalProperties)) {
    for (const [name, value] of Object.entries(object)) {
      if (value !== undefined && asObject(schema.properties)[name] === undefined) {
        check(value, schema.additionalProperties, inner(name), errors);
      }
    }
  }
}

function check(value: Json, schema: JsonObject, path: string, errors: FieldError[]): void {
  if (value === null && schema.nullable === true) return;
  const wanted = asText(schema.type);
  const found = typeOf(value);
  const intOrString = schema["x-kubernetes-int-or-string"] === true && (found === "integer" || found === "string");
  if (wanted !== "" && !intOrString && found !== wanted && !(wanted === "number" && found === "integer")) {
    errors.push(fieldErrors.wrongType(path, found, wanted));
    return;
  }
  const allowed = asList(schema.enum);
  if (allowed.length > 0 && !allowed.includes(value)) errors.push(fieldErrors.unsupported(path, value, allowed.map(String)));
  if (typeof value === "number") {
    if (typeof schema.minimum === "number" && value < schema.minimum) {
      errors.push(fieldErrors.invalid(path, value, `${path} in body should be greater than or equal to ${schema.minimum}`));
    }
    if (typeof schema.maximum === "number" && value > schema.maximum) {
      errors.push(fieldErrors.invalid(path, value, `${path} in body should be less than or equal to ${schema.maximum}`));
    }
  }
  if (typeof value === "string") {
    if (typeof schema.minLength === "number" && value.length < schema.minLength) {
      errors.push(fieldErrors.invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
    }
    if (typeof schema.pattern === "string" && !new RegExp(schema.pattern).test(value)) {
      errors.push(fieldErrors.invalid(path, value, `${path} in body should match '${schema.pattern}'`));
    }
  }
  if (isObject(value)) checkObject(value, schema, path, errors);
  if (Array.isArray(value) && isObject(schema.items)) {
    for (const [i, item] of value.entries()) check(item, schema.items, `${path}[${i}]`, errors);
  }
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
