/**
 * The SDK's schemas, walked once and kept as plain data: for every member its name in TypeScript and its three names on
 * the wire. Readers and writers then go over arrays, which is what makes answers with thousands of instances cheap.
 */
import { NormalizedSchema } from "@smithy/core/schema";
import type { $SchemaRef, StaticOperationSchema } from "@smithy/types";

/** A schema, compiled. */
export type Shape =
  | { readonly kind: "string" | "boolean" | "number" | "timestamp" | "blob" | "unit" | "document" }
  | ListShape
  | { readonly kind: "map"; readonly keyName: string; readonly valueName: string; readonly flattened: boolean; readonly value: Shape }
  | StructShape;

/** A list. */
export interface ListShape {
  readonly kind: "list";
  readonly flattened: boolean;
  /** The element that wraps one item in XML, and the word before the index in query form. */
  readonly itemName: string;
  readonly item: Shape;
}

/** A structure. */
export interface StructShape {
  readonly kind: "struct";
  readonly name: string;
  /** Filled after the shape itself exists, because shapes may contain themselves. */
  members: readonly Member[];
  required: readonly Member[];
}

/** A member of a structure, with its names. */
export interface Member {
  readonly name: string;
  readonly xmlName: string;
  readonly queryName: string;
  readonly ec2Name: string;
  readonly jsonName: string;
  /** Where it stands in a request whose path says what is asked for, if not in the body. */
  readonly place?: { readonly label: string } | { readonly query: string };
  readonly shape: Shape;
}

/** An operation's input and output. */
export interface OperationShape {
  readonly name: string;
  readonly input: Shape;
  readonly output: Shape;
}

/** Compiles schemas to shapes, each structure once. Share one between clouds to pay for the walk once. */
export class Shapes {
  readonly #structs = new Map<unknown, StructShape>();
  readonly #operations = new Map<StaticOperationSchema, OperationShape>();

  operation(schema: StaticOperationSchema): OperationShape {
    let shape = this.#operations.get(schema);
    if (shape === undefined) {
      shape = { name: schema[2], input: this.of(schema[4]), output: this.of(schema[5]) };
      this.#operations.set(schema, shape);
    }
    return shape;
  }

  of(schema: $SchemaRef): Shape {
    return this.#compile(NormalizedSchema.of(schema));
  }

  #compile(schema: NormalizedSchema): Shape {
    if (schema.isUnitSchema()) return { kind: "unit" };
    if (schema.isStructSchema()) return this.#struct(schema);
    if (schema.isListSchema()) {
      const item = schema.getValueSchema();
      return {
        kind: "list",
        flattened: Boolean(schema.getMergedTraits().xmlFlattened),
        itemName: item.getMergedTraits().xmlName ?? "member",
        item: this.#compile(item),
      };
    }
    if (schema.isMapSchema()) {
      return {
        kind: "map",
        flattened: Boolean(schema.getMergedTraits().xmlFlattened),
        keyName: schema.getKeySchema().getMergedTraits().xmlName ?? "key",
        valueName: schema.getValueSchema().getMergedTraits().xmlName ?? "value",
        value: this.#compile(schema.getValueSchema()),
      };
    }
    return { kind: scalarKind(schema) };
  }

  #struct(schema: NormalizedSchema): StructShape {
    const key = schema.getSchema();
    const known = this.#structs.get(key);
    if (known !== undefined) return known;
    const shape: StructShape = { kind: "struct", name: schema.getName() ?? "", members: [], required: [] };
    this.#structs.set(key, shape);
    shape.members = [...schema.structIterator()].map(([name, member]) => this.#member(name, member));
    // The schema lists required members first and ends with their number.
    const required = Array.isArray(key) && typeof key[6] === "number" ? key[6] : 0;
    shape.required = shape.members.slice(0, required);
    return shape;
  }

  #member(name: string, schema: NormalizedSchema): Member {
    const merged = schema.getMergedTraits();
    const xmlName = schema.getMemberTraits().xmlName ?? name;
    return {
      name,
      xmlName,
      queryName: merged.xmlName ?? name,
      ec2Name: typeof merged.ec2QueryName === "string" ? merged.ec2QueryName : capitalised(merged.xmlName ?? name),
      jsonName: typeof merged.jsonName === "string" ? merged.jsonName : name,
      ...(merged.httpLabel ? { place: { label: name } } : merged.httpQuery ? { place: { query: merged.httpQuery } } : {}),
      shape: this.#compile(schema),
    };
  }
}

function scalarKind(schema: NormalizedSchema): "string" | "boolean" | "number" | "timestamp" | "blob" | "document" {
  if (schema.isStringSchema()) return "string";
  if (schema.isBooleanSchema()) return "boolean";
  if (schema.isNumericSchema() || schema.isBigDecimalSchema() || schema.isBigIntegerSchema()) return "number";
  if (schema.isTimestampSchema()) return "timestamp";
  if (schema.isBlobSchema()) return "blob";
  return "document";
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
