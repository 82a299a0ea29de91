/** Answers in XML, element for element as the SDK's schemas name them. */
import type { Shape, StructShape } from "./shapes.ts";

/**
 * The content of one structure, without an element around it: indented `depth` blanks, and `step` more at each level, as AWS
 * writes it. Readers that were only tried on XML without white space fail on AWS.
 */
export function writeXml(shape: Shape, value: unknown, depth: number, step: number): string {
  return shape.kind === "struct" && isRecord(value) ? writeStruct(shape, value, depth, step) : "";
}

/** Text made safe inside an element. */
export function escapeXml(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(EACH_SPECIAL, (character) => ENTITIES[character] ?? character) : text;
}

const NEEDS_ESCAPE = /[&<>"\r]/;
const EACH_SPECIAL = /[&<>"\r]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#xD;" };

function writeStruct(shape: StructShape, value: Readonly<Record<string, unknown>>, depth: number, step: number): string {
  let text = "";
  for (const member of shape.members) {
    const field = value[member.name];
    if (field !== undefined && field !== null) text += writeElement(member.xmlName, member.shape, field, depth, step);
  }
  return text;
}

function writeElement(name: string, shape: Shape, value: unknown, depth: number, step: number): string {
  switch (shape.kind) {
    case "struct":
      return branch(name, isRecord(value) ? writeStruct(shape, value, depth + step, step) : "", depth);
    case "list": {
      const items = Array.isArray(value) ? value : [];
      let text = "";
      if (shape.flattened) {
        for (const item of items) text += writeElement(name, shape.item, item, depth, step);
        return text;
      }
      for (const item of items) text += writeElement(shape.itemName, shape.item, item, depth + step, step);
      return branch(name, text, depth);
    }
    case "map": {
      const inner = shape.flattened ? depth : depth + step;
      let text = "";
      for (const [key, entry] of Object.entries(isRecord(value) ? value : {})) {
        const pair =
          leaf(shape.keyName, escapeXml(key), inner + step) + writeElement(shape.valueName, shape.value, entry, inner + step, step);
        text += branch(shape.flattened ? name : "entry", pair, inner);
      }
      return shape.flattened ? text : branch(name, text, depth);
    }
    case "timestamp":
      return leaf(name, value instanceof Date ? value.toISOString() : String(value), depth);
    case "blob":
      return leaf(name, value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value), depth);
    case "string":
      return leaf(name, escapeXml(String(value)), depth);
    default:
      return leaf(name, String(value), depth);
  }
}

function leaf(name: string, content: string, depth: number): string {
  return content === "" ? `${PADS[depth]}<${name}/>` : `${PADS[depth]}<${name}>${content}</${name}>`;
}

function branch(name: string, content: string, depth: number): string {
  return content === "" ? `${PADS[depth]}<${name}/>` : `${PADS[depth]}<${name}>${content}${PADS[depth]}</${name}>`;
}

/** A new line and so many blanks; deeper than this no answer goes. */
const PADS: readonly string[] = Array.from({ length: 200 }, (_, depth) => `\n${" ".repeat(depth)}`);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
