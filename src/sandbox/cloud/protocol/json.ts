/** The JSON protocols: bodies read into and written from the SDK's types, with times as seconds since the epoch. */
import { ServiceError } from "../errors.ts";
import type { Shape, StructShape } from "./shapes.ts";

/** The input of one call. Members the schema does not know are overlooked, as AWS does. */
export function readJson(shape: Shape, text: string): Record<string, unknown> {
  let document: unknown;
  try {
    document = text === "" ? {} : JSON.parse(text);
  } catch {
    throw new ServiceError("SerializationException", "Unable to parse the request body as JSON");
  }
  if (shape.kind !== "struct") return {};
  if (!isRecord(document)) throw new ServiceError("SerializationException", "Start of structure or map found where not expected.");
  return readStruct(shape, document);
}

/** The body of an answer. */
export function writeJson(shape: Shape, value: unknown): string {
  return JSON.stringify(shape.kind === "unit" ? {} : writeValue(shape, value));
}

function readStruct(shape: StructShape, document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const member of shape.members) {
    const field = document[member.jsonName];
    if (field !== undefined && field !== null) value[member.name] = readValue(member.shape, field);
  }
  for (const member of shape.required) {
    if (value[member.name] === undefined) {
      throw new ServiceError(
        "InvalidParameterException",
        `1 validation error detected: Value null at '${member.jsonName}' failed to satisfy constraint: Member must not be null`,
      );
    }
  }
  return value;
}

function readValue(shape: Shape, field: unknown): unknown {
  switch (shape.kind) {
    case "struct":
      if (!isRecord(field)) throw unexpected("structure");
      return readStruct(shape, field);
    case "list":
      if (!Array.isArray(field)) throw unexpected("list");
      return field.map((item) => readValue(shape.item, item));
    case "map":
      if (!isRecord(field)) throw unexpected("map");
      return Object.fromEntries(Object.entries(field).map(([key, entry]) => [key, readValue(shape.value, entry)]));
    case "timestamp":
      return new Date(typeof field === "number" ? field * 1000 : String(field));
    case "blob":
      return Buffer.from(String(field), "base64");
    case "document":
      return field;
    case "unit":
      return undefined;
    default:
      if (typeof field !== shape.kind) throw unexpected(shape.kind);
      return field;
  }
}

function unexpected(kind: string): ServiceError {
  return new ServiceError("SerializationException", `Expected a ${kind} where another kind of value was found`);
}

function writeValue(shape: Shape, value: unknown): unknown {
  switch (shape.kind) {
    case "struct": {
      const record = isRecord(value) ? value : {};
      const document: Record<string, unknown> = {};
      for (const member of shape.members) {
        const field = record[member.name];
        if (field !== undefined && field !== null) document[member.jsonName] = writeValue(member.shape, field);
      }
      return document;
    }
    case "list":
      return Array.isArray(value) ? value.map((item) => writeValue(shape.item, item)) : [];
    case "map":
      return Object.fromEntries(Object.entries(isRecord(value) ? value : {}).map(([key, entry]) => [key, writeValue(shape.value, entry)]));
    case "timestamp":
      return value instanceof Date ? value.getTime() / 1000 : value;
    case "blob":
      return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
    default:
      return value;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
