/** Query requests: `Filter.1.Value.2=x` read into the input the SDK's types describe. */
import { ServiceError } from "../errors.ts";
import type { ListShape, Member, Shape, StructShape } from "./shapes.ts";

/** The names of query parameters as a tree: each dot one level down. */
export class FormNode {
  value: string | undefined;
  readonly children = new Map<string, FormNode>();

  child(name: string): FormNode {
    let node = this.children.get(name);
    if (node === undefined) {
      node = new FormNode();
      this.children.set(name, node);
    }
    return node;
  }
}

/** Parses a form body (or a query string) into its tree. */
export function parseForm(text: string): FormNode {
  const root = new FormNode();
  for (const [name, value] of new URLSearchParams(text)) {
    let node = root;
    for (const part of name.split(".")) node = node.child(part);
    node.value = value;
  }
  return root;
}

/** How the two query protocols differ on the way in. */
export interface FormDialect {
  readonly memberName: (member: Member) => string;
  /** EC2 lists are always `Name.1`; elsewhere `Name.member.1` unless the schema says flattened. */
  readonly flatLists: boolean;
  /** EC2 refuses parameters it does not know; the other query services overlook them. */
  readonly refuseUnknown: boolean;
  readonly missing: (name: string) => ServiceError;
  readonly invalid: (value: string, name: string) => ServiceError;
}

/** What a request carries beside its parameters: the action, and a signature when it is in the query string. */
function isEnvelope(name: string): boolean {
  return name === "Action" || name === "Version" || name.startsWith("X-Amz-");
}

/** The input of one call. */
export function readForm(shape: Shape, form: FormNode, dialect: FormDialect): Record<string, unknown> {
  if (shape.kind !== "struct") return {};
  return readStruct(shape, form, dialect, "");
}

function readStruct(shape: StructShape, node: FormNode, dialect: FormDialect, path: string): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  const known = new Set<string>();
  for (const member of shape.members) {
    const name = dialect.memberName(member);
    known.add(name);
    const child = node.children.get(name);
    if (child !== undefined) value[member.name] = readValue(member.shape, child, dialect, path === "" ? name : `${path}.${name}`);
  }
  if (dialect.refuseUnknown) refuseUnknown(node, known, path);
  for (const member of shape.required) {
    if (value[member.name] === undefined) {
      const name = dialect.memberName(member);
      throw dialect.missing(path === "" ? name : `${path}.${name}`);
    }
  }
  return value;
}

function refuseUnknown(node: FormNode, known: ReadonlySet<string>, path: string): void {
  for (const name of node.children.keys()) {
    if (known.has(name) || (path === "" && isEnvelope(name))) continue;
    throw new ServiceError("UnknownParameter", `The parameter ${path === "" ? name : `${path}.${name}`} is not recognized`);
  }
}

function readValue(shape: Shape, node: FormNode, dialect: FormDialect, path: string): unknown {
  switch (shape.kind) {
    case "struct":
      return readStruct(shape, node, dialect, path);
    case "list":
      return readList(shape, node, dialect, path);
    case "map": {
      const entries = numbered(shape.flattened ? node : (node.children.get("entry") ?? new FormNode()), dialect, path);
      return Object.fromEntries(
        entries.map((entry) => [
          entry.children.get(shape.keyName)?.value ?? "",
          readValue(shape.value, entry.children.get(shape.valueName) ?? new FormNode(), dialect, path),
        ]),
      );
    }
    default:
      return readScalar(shape.kind, node.value ?? "", dialect, path);
  }
}

function readList(shape: ListShape, node: FormNode, dialect: FormDialect, path: string): unknown[] {
  const flat = dialect.flatLists || shape.flattened;
  const items = flat ? node : node.children.get(shape.itemName);
  if (items === undefined) return [];
  return numbered(items, dialect, path).map((item, index) => readValue(shape.item, item, dialect, `${path}.${index + 1}`));
}

function numbered(node: FormNode, dialect: FormDialect, path: string): FormNode[] {
  const entries = [...node.children].map(([key, child]) => {
    const index = Number(key);
    if (!Number.isInteger(index) || index < 0) throw dialect.invalid(key, path);
    return { index, child };
  });
  return entries.sort((a, b) => a.index - b.index).map((entry) => entry.child);
}

function readScalar(kind: Exclude<Shape["kind"], "struct" | "list" | "map">, text: string, dialect: FormDialect, path: string): unknown {
  switch (kind) {
    case "boolean": {
      const word = text.toLowerCase();
      if (word !== "true" && word !== "false") throw dialect.invalid(text, path);
      return word === "true";
    }
    case "number": {
      const number = Number(text);
      if (text.trim() === "" || Number.isNaN(number)) throw dialect.invalid(text, path);
      return number;
    }
    case "timestamp": {
      const date = new Date(text);
      if (Number.isNaN(date.getTime())) throw dialect.invalid(text, path);
      return date;
    }
    case "blob":
      return Buffer.from(text, "base64");
    default:
      return text;
  }
}
