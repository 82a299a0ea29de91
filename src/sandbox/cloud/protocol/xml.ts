/** Answers in XML, element for element as the SDK's schemas name them. */
import type { Shape, StructShape } from "./shapes.ts";

/** The content of one structure, without an element around it. */
export function writeXml(shape: Shape, value: unknown): string {
  return shape.kind === "struct" && isRecord(value) ? writeStruct(shape, value) : "";
}

/** Text made safe inside an element. */
export function escapeXml(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(EACH_SPECIAL, (character) => ENTITIES[character] ?? character) : text;
}

const NEEDS_ESCAPE = /[&<>"\r]/;
const EACH_SPECIAL = /[&<>"\r]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#xD;" };

function writeStruct(shape: StructShape, value: Readonly<Record<string, unknown>>): string {
  let text = "";
  for (const member of shape.members) {
    const field = value[member.name];
    if (field !== undefined && field !== null) text += writeElement(member.xmlName, member.shape, field);
  }
  return text;
}

function writeElement(name: string, shape: Shape, value: unknown): string {
  switch (shape.kind) {
    case "struct":
      return wrap(name, isRecord(value) ? writeStruct(shape, value) : "");
    case "list": {
      const items = Array.isArray(value) ? value : [];
      const itemName = shape.flattened ? name : shape.itemName;
      let text = "";
      for (const item of items) text += writeElement(itemName, shape.item, item);
      return shape.flattened ? text : wrap(name, text);
    }
    case "map": {
      let text = "";
      for (const [key, entry] of Object.entries(isRecord(value) ? value : {})) {
        const pair = wrap(shape.keyName, escapeXml(key)) + writeElement(shape.valueName, shape.value, entry);
        text += wrap(shape.flattened ? name : "entry", pair);
      }
      return shape.flattened ? text : wrap(name, text);
    }
    case "timestamp":
      return wrap(name, value instanceof Date ? value.toISOString() : String(value));
    case "blob":
      return wrap(name, value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value));
    case "string":
      return wrap(name, escapeXml(String(value)));
    default:
      return wrap(name, String(value));
  }
}

function wrap(name: string, content: string): string {
  return content === "" ? `<${name}/>` : `<${name}>${content}</${name}>`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
