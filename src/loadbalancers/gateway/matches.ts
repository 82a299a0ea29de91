/** What a match of a route asks of a request, as conditions of a rule. Pure. */
import type { Condition } from "../routing.ts";
import { RouteFault } from "./fault.ts";
import type { RouteMatch, ValueMatch } from "./view.ts";

const unsupported = (message: string) => new RouteFault("UnsupportedValue", message);

/** AWS takes this many values in all conditions of a rule. */
const maxValues = 5;

/** In the order of the reference. Throws a `RouteFault` for what no condition can say. */
export function conditionsOf(hostname: string, match: RouteMatch | undefined, sourceIps: readonly string[]): readonly Condition[] {
  const own: readonly Condition[] = [
    ...(hostname === "" ? [] : [{ field: "host-header", match: "wildcard", values: [hostname] } as const]),
    ...(match === undefined ? [] : match.of === "http" ? httpConditions(match) : grpcConditions(match)),
  ];
  const asked = own.length > 0 ? own : [anyPath];
  const all: readonly Condition[] = sourceIps.length > 0 ? [...asked, { field: "source-ip", values: sourceIps }] : asked;
  const count = all.reduce((sum, { values }) => sum + values.length, 0);
  if (count > maxValues)
    throw unsupported(`the match takes ${count} values of conditions: a rule of a load balancer has at most ${maxValues}`);
  return all;
}

const anyPath: Condition = { field: "path-pattern", match: "wildcard", values: ["/*"] };

function httpConditions({ path, headers, queries, method }: RouteMatch & { readonly of: "http" }): readonly Condition[] {
  return [
    ...(path ? [pathCondition(path)] : []),
    ...headers.map(headerCondition),
    ...queries.map(queryCondition),
    ...(method === "" ? [] : [{ field: "http-request-method", values: [method] } as const]),
  ];
}

function pathCondition({ type, value }: { readonly type: string; readonly value: string }): Condition {
  const wildcard = (...values: readonly string[]): Condition => ({ field: "path-pattern", match: "wildcard", values });
  if (type === "Exact") return wildcard(value);
  if (type === "RegularExpression") return { field: "path-pattern", match: "regex", values: [value] };
  if (type !== "PathPrefix") throw unsupported(`path match type ${type}: it takes Exact, PathPrefix or RegularExpression`);
  if (/[*?]/.test(value)) throw unsupported(`prefix path shouldn't contain wildcards: ${value}`);
  const base = value.replace(/\/$/, "");
  return base === "" ? wildcard("/*") : wildcard(base, `${base}/*`);
}

function headerCondition({ type, name, value }: ValueMatch): Condition {
  if (type === "RegularExpression") return { field: "http-header", header: name, match: "regex", values: [value] };
  return { field: "http-header", header: name, match: "wildcard", values: splitValues(value) };
}

function queryCondition({ type, name, value }: ValueMatch): Condition {
  if (type === "RegularExpression") throw unsupported(`query parameter ${name}: a load balancer compares no regular expressions with it`);
  return { field: "query-string", values: [{ key: name, value }] };
}

/** A comma separates values; a backslash makes the next character plain text. */
export function splitValues(text: string): readonly string[] {
  const values: string[] = [];
  let current = "";
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\" && i + 1 < text.length) current += text[++i];
    else if (text[i] === ",") {
      values.push(current);
      current = "";
    } else current += text[i];
  }
  return [...values, current];
}

/** A call is a path of two parts. */
function grpcConditions({ call, headers }: RouteMatch & { readonly of: "grpc" }): readonly Condition[] {
  return [callCondition(call), ...headers.map(headerCondition)];
}

function callCondition(call: (RouteMatch & { readonly of: "grpc" })["call"]): Condition {
  const { type = "Exact", service = "", method = "" } = call ?? {};
  if (service === "" && method === "") return anyPath;
  if (type === "RegularExpression")
    return { field: "path-pattern", match: "regex", values: [`^/${service || "[^/]+"}/${method || "[^/]+"}$`] };
  return { field: "path-pattern", match: "wildcard", values: [`/${service || "*"}/${method || "*"}`] };
}
