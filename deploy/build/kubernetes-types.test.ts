import assert from "node:assert/strict";
import { test } from "node:test";
import { type Document, printTypes, type Schema } from "./kubernetes-types.ts";

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kind = (group: string, name: string) => [{ group, version: "v1", kind: name }];
const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  required,
});

const meta: Readonly<Record<string, Schema>> = {
  "meta.v1.Time": { type: "string", format: "date-time" },
  "meta.v1.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
  "meta.v1.IntOrString": { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
};

const apps: Document = {
  kinds: ["Widget"],
  schemas: {
    ...meta,
    "apps.v1.Widget": {
      ...object({
        kind: { type: "string" },
        apiVersion: { type: "string" },
        made: { allOf: [reference("meta.v1.Time")] },
        parts: { type: "array", items: { allOf: [reference("apps.v1.Part")] } },
      }),
      "x-kubernetes-group-version-kind": kind("apps", "Widget"),
    },
    "apps.v1.Part": object(
      {
        name: { type: "string" },
        port: reference("meta.v1.IntOrString"),
        room: { type: "object", additionalProperties: reference("meta.v1.Quantity") },
        "x-odd": { type: "boolean" },
      },
      ["name"],
    ),
    "apps.v1.Gadget": { ...object({}), "x-kubernetes-group-version-kind": kind("apps", "Gadget") },
  },
};

test("a kind is printed with all that it refers to and nothing else, as on the wire", () => {
  assert.equal(
    printTypes([apps], "v1.2.3").replace(/^\/\*\*[\s\S]*?\*\/\n\n/, ""),
    [
      "export type IntOrString = number | string;",
      "",
      "export interface Part {",
      "  name: string;",
      "  port?: IntOrString;",
      "  room?: Record<string, Quantity>;",
      '  "x-odd"?: boolean;',
      "}",
      "",
      "export type Quantity = string;",
      "",
      "export type Time = string;",
      "",
      "export interface Widget {",
      '  apiVersion?: "apps/v1";',
      '  kind?: "Widget";',
      "  made?: Time;",
      "  parts?: Part[];",
      "}",
      "",
    ].join("\n"),
  );
});

test("two types with one name, a kind that is missing and a schema of an unknown form are refused by name", () => {
  const other: Document = {
    kinds: ["Part"],
    schemas: { "core.v1.Part": { ...object({}), "x-kubernetes-group-version-kind": kind("", "Part") } },
  };
  assert.throws(() => printTypes([apps, other], "v1.2.3"), /apps\.v1\.Part and core\.v1\.Part would both be called Part/);
  assert.throws(() => printTypes([{ ...apps, kinds: ["Gizmo"] }], "v1.2.3"), /publishes no Gizmo/);
  const odd: Document = {
    kinds: ["Odd"],
    schemas: { "core.v1.Odd": { ...object({ what: { type: "null" } }), "x-kubernetes-group-version-kind": kind("", "Odd") } },
  };
  assert.throws(() => printTypes([odd], "v1.2.3"), /no type is known for \{"type":"null"\}/);
});
