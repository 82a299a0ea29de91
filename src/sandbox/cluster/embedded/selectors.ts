/** Label and field selectors, with the grammar and the complaints of the real API. */
import { asObject, type KubeObject } from "./json.ts";
import type { Resource } from "./resources.ts";
import { badRequest } from "./status.ts";

export type Selector = (object: KubeObject) => boolean;

/** Takes everything. */
export const everything: Selector = () => true;

/** `a=b, c!=d, e in (f,g), h notin (i), j, !k, l>1, m<2`. */
export function labelSelector(text: string): Selector {
  const tokens = tokensOf(text);
  if (tokens.length === 0) return everything;
  const tests: Selector[] = [];
  let i = 0;
  const fail = (expected: string): never => {
    throw badRequest(`unable to parse requirement: found '${tokens[i] ?? ""}', expected: ${expected}`);
  };
  const word = (expected = "identifier"): string => {
    const token = tokens[i];
    if (token === undefined || isOperator(token)) return fail(expected);
    i++;
    return token;
  };
  const set = (): string[] => {
    if (tokens[i++] !== "(") {
      i--;
      fail("'('");
    }
    const values: string[] = [];
    for (;;) {
      if (tokens[i] === "," || tokens[i] === ")") values.push("");
      else values.push(word("',', ')' or identifier"));
      if (tokens[i] === ")") break;
      if (tokens[i] !== ",") fail("',' or ')'");
      i++;
    }
    i++;
    return values;
  };
  for (;;) {
    if (tokens[i] === "!") {
      i++;
      const key = word();
      tests.push((object) => labelOf(object, key) === undefined);
    } else {
      const key = word();
      const operator = tokens[i];
      if (operator === undefined || operator === ",") tests.push((object) => labelOf(object, key) !== undefined);
      else {
        i++;
        tests.push(
          requirement(
            key,
            operator,
            set,
            () => (tokens[i] === undefined || tokens[i] === "," ? "" : word()),
            () => {
              i--;
              return fail("in, notin, =, ==, !=, gt, lt");
            },
          ),
        );
      }
    }
    if (i >= tokens.length) break;
    if (tokens[i] !== ",") fail("',' or 'end of string'");
    i++;
    if (i >= tokens.length) fail("identifier after ','");
  }
  return (object) => tests.every((test) => test(object));
}

function requirement(key: string, operator: string, set: () => string[], value: () => string, fail: () => never): Selector {
  switch (operator) {
    case "=":
    case "==": {
      const wanted = value();
      return (object) => labelOf(object, key) === wanted;
    }
    case "!=": {
      const unwanted = value();
      return (object) => labelOf(object, key) !== unwanted;
    }
    case "in": {
      const wanted = set();
      return (object) => wanted.includes(labelOf(object, key) ?? " ");
    }
    case "notin": {
      const unwanted = set();
      return (object) => !unwanted.includes(labelOf(object, key) ?? " ");
    }
    case ">":
    case "<": {
      const bound = value();
      if (!/^-?\d+$/.test(bound))
        throw badRequest(`values[0]: Invalid value: "${bound}": for 'Gt', 'Lt' operators, the value must be an integer`);
      return (object) => {
        const label = labelOf(object, key);
        if (label === undefined || !/^-?\d+$/.test(label)) return false;
        return operator === ">" ? Number(label) > Number(bound) : Number(label) < Number(bound);
      };
    }
    default:
      return fail();
  }
}

function labelOf(object: KubeObject, key: string): string | undefined {
  const value = asObject(object.metadata.labels)[key];
  return typeof value === "string" ? value : undefined;
}

function tokensOf(text: string): string[] {
  return text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
}

function isOperator(token: string): boolean {
  return /^(==|!=|[=!<>(),])$/.test(token);
}

/** `metadata.name=a,spec.nodeName!=b`, over the fields the kind offers. */
export function fieldSelector(text: string, resource: Resource): Selector {
  if (text === "") return everything;
  const tests = text.split(/(?<!\\),/).map((term): Selector => {
    const match = /^([^=!]+?)(==|!=|=)(.*)$/s.exec(term);
    if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    const [, field, operator, raw] = match as unknown as [string, string, string, string];
    const value = raw.replaceAll(/\\([\\,=])/g, "$1");
    const read = readerOf(field, resource);
    return operator === "!=" ? (object) => read(object) !== value : (object) => read(object) === value;
  });
  return (object) => tests.every((test) => test(object));
}

function readerOf(field: string, resource: Resource): (object: KubeObject) => string {
  if (field === "metadata.name") return (object) => object.metadata.name;
  if (field === "metadata.namespace" && resource.namespaced) return (object) => object.metadata.namespace ?? "";
  const read = resource.behaviour.selectable?.[field];
  if (read !== undefined) return read;
  throw badRequest(
    resource.behaviour.selectable === undefined && !resource.custom
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}
