/** Requests in XML: elements read into the input that the SDK's types describe. As much of XML as AWS's clients send. */
import { ServiceError } from "../errors.ts";
import type { Shape } from "./shapes.ts";

interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string;
}

/** The content of the document's root as a structure. */
export function readXml(shape: Shape, body: string): Record<string, unknown> {
  return body === "" ? {} : (readValue(shape, parse(body)) as Record<string, unknown>);
}

const TOKEN = /<\?[^>]*\?>|<(\/)?([\w:.-]+)[^>]*?(\/)?>|([^<]+)/g;

function parse(body: string): Element {
  const document: Element = { name: "", children: [], text: "" };
  const open = [document];
  for (const [, isEnd, name, isEmpty, text] of body.matchAll(TOKEN)) {
    const current = open.at(-1)!;
    if (text !== undefined) current.text += unescaped(text);
    else if (isEnd) open.pop();
    else if (name !== undefined) {
      const element: Element = { name, children: [], text: "" };
      current.children.push(element);
      if (!isEmpty) open.push(element);
    }
  }
  const [root] = document.children;
  if (root === undefined || open.length !== 1) throw new ServiceError("InvalidInput", "Invalid XML: the document cannot be read");
  return root;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const unescaped = (text: string) => text.replace(/&(\w+);/g, (all, name: string) => ENTITIES[name] ?? all);

function readValue(shape: Shape, element: Element): unknown {
  switch (shape.kind) {
    case "struct": {
      const known = shape.members.flatMap(({ name, xmlName, shape: inner }) => {
        const found = element.children.find((child) => child.name === xmlName);
        return found === undefined ? [] : [[name, readValue(inner, found)]];
      });
      return Object.fromEntries(known);
    }
    case "list":
      return element.children.map((child) => readValue(shape.item, child));
    case "number":
      return Number(element.text);
    case "boolean":
      return element.text === "true";
    default:
      return element.text;
  }
}
