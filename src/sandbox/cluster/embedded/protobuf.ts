/**
 * Bodies in the binary form of Kubernetes, which `kubectl create` and other Go clients send for built-in kinds. Only read:
 * answers are always JSON, which those clients accept too.
 */
import type { Json, JsonObject } from "./json.ts";
import { messages, type ProtoField } from "./protobuf-messages.ts";
import { unsupportedBody } from "./status.ts";

const magic = Buffer.from("k8s\0", "latin1");

/** The object a body holds. Rejects kinds whose binary form is not known here, naming what is. */
export function objectFromProtobuf(body: Uint8Array): JsonObject {
  const bytes = Buffer.from(body);
  if (!bytes.subarray(0, 4).equals(magic)) throw unsupportedBody(["application/json", "application/yaml"]);
  const envelope = new Map(fieldsOf(bytes.subarray(4)));
  const type = new Map(fieldsOf(envelope.get(1) as Buffer));
  const [apiVersion, kind] = [String(type.get(1) ?? ""), String(type.get(2) ?? "")];
  if (!messages.has(kind)) throw unsupportedBody(["application/json", "application/yaml"]);
  return { apiVersion, kind, ...read(envelope.get(2) as Buffer, kind) };
}

function read(bytes: Buffer, message: string): JsonObject {
  const known = messages.get(message)!;
  const result: JsonObject = {};
  for (const [number, raw] of fieldsOf(bytes)) {
    const field = known.get(number);
    if (field === undefined) continue;
    const value = decoded(raw, field);
    if (field.form === "inline") Object.assign(result, value);
    else if (field.form === "map") result[field.name] = { ...(result[field.name] as JsonObject), ...(value as JsonObject) };
    else if (field.form === "list") result[field.name] = [...((result[field.name] as Json[]) ?? []), value];
    else if (field.form === "kept" || !isZero(value)) result[field.name] = value;
  }
  return result;
}

function decoded(raw: Buffer | bigint, field: ProtoField): Json {
  if (field.form === "map") return mapEntry(raw as Buffer, field);
  switch (field.type) {
    case "string":
      return String(raw);
    case "int":
      return Number(BigInt.asIntN(64, raw as bigint));
    case "bool":
      return raw === 1n;
    case "bytes":
      return (raw as Buffer).toString("base64");
    case "time":
      return time(raw as Buffer, 0);
    case "microtime":
      return time(raw as Buffer, 6);
    case "quantity":
      return String(new Map(fieldsOf(raw as Buffer)).get(1) ?? "");
    case "intOrString": {
      const parts = new Map(fieldsOf(raw as Buffer));
      return parts.get(1) === 1n ? String(parts.get(3) ?? "") : Number(parts.get(2) ?? 0n);
    }
    default:
      return read(raw as Buffer, field.type);
  }
}

function mapEntry(raw: Buffer, field: ProtoField): JsonObject {
  const parts = new Map(fieldsOf(raw));
  return { [String(parts.get(1) ?? "")]: decoded(parts.get(2) ?? Buffer.alloc(0), { ...field, form: "one" }) };
}

/** Go writes fields that are not set, with their zero values; JSON leaves them out. */
function isZero(value: Json): boolean {
  return value === "" || value === 0 || value === false || value === null;
}

function time(raw: Buffer, digits: number): Json {
  const parts = new Map(fieldsOf(raw));
  const seconds = parts.get(1);
  if (typeof seconds !== "bigint") return null;
  const fraction = String(parts.get(2) ?? 0n)
    .padStart(9, "0")
    .slice(0, digits);
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${digits === 0 ? "" : `.${fraction}`}Z`;
}

/** Number and raw value of every field: a number for varints, bytes for what has a length. */
function* fieldsOf(bytes: Buffer): Generator<[number, Buffer | bigint]> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw unsupportedBody(["application/json", "application/yaml"]);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) yield [tag >> 3, varint()];
    else if (wire === 2) {
      const length = Number(varint());
      yield [tag >> 3, bytes.subarray(at, at + length)];
      at += length;
    } else throw unsupportedBody(["application/json", "application/yaml"]);
  }
}
