/** A case of a rule as a match of an HTTPRoute. Pure. */
import type { ApiMatch } from "../../loadbalancers/gateway/api.ts";
import { splitValues } from "../../loadbalancers/gateway/matches.ts";
import type { Case, HeaderTest, Pattern, QueryTest } from "./cases.ts";

/** Thrown for what no HTTPRoute can say. */
export class Inexpressible extends Error {
  override readonly name = "Inexpressible";
  /** The family of annotations that says it; absent: the rules of the Ingress themselves. */
  readonly family: "conditions." | "actions." | "transforms." | undefined;
  constructor(family: Inexpressible["family"], message: string) {
    super(message);
    this.family = family;
  }
}

const wrongCondition = (message: string) => new Inexpressible("conditions.", message);

/** The host name of a route; empty: every name. Throws `Inexpressible`. */
export function hostnameOf({ host }: Case): string {
  if (host === undefined) return "";
  if (host.match !== "regex" && /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(host.value))
    return host.value;
  throw wrongCondition(`an HTTPRoute takes whole host names and *.name, not ${shown(host)}: write a route per name`);
}

/** Throws `Inexpressible`. */
export function matchOf({ path, method, headers, queries }: Case): ApiMatch {
  return {
    path: path === undefined ? { type: "PathPrefix", value: "/" } : pathOf(path),
    ...(headers.length > 0 && { headers: uniquely(headers.map(headerOf), "header") }),
    ...(queries.length > 0 && { queryParams: uniquely(queries.map(queryOf), "query parameter") }),
    ...(method !== undefined && { method: methodOf(method) }),
  };
}

const pathTypes = { prefix: "PathPrefix", wildcard: "Exact", regex: "RegularExpression" } as const;

/** A wildcard in an exact path is one for AWS. */
function pathOf(path: Pattern): NonNullable<ApiMatch["path"]> {
  const { match, value } = path;
  if (match === "regex" ? value.length <= 1024 : isPath(value)) return { type: pathTypes[match], value };
  const advice = /[?]/.test(value) ? "an HTTPRoute takes no path with `?`: write a RegularExpression" : "the API takes no such path";
  throw new Inexpressible(undefined, `path ${shown(path)}: ${advice}`);
}

/** What the API's own definition of an HTTPRoute takes. */
function isPath(value: string): boolean {
  const isPlain = /^\/(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*$/.test(value);
  return isPlain && value.length <= 1024 && !/\/\/|\/\.\/|\/\.\.\/|%2[fF]|\/\.{1,2}$/.test(value);
}

function headerOf({ header, match, values }: HeaderTest): NonNullable<ApiMatch["headers"]>[number] {
  if (!isToken(header)) throw wrongCondition(`the API takes no header ${JSON.stringify(header)}`);
  if (match === "regex") return { type: "RegularExpression", name: header, value: values[0] ?? "" };
  const value = values.map((each) => each.replace(/[\\,]/g, "\\$&")).join(",");
  if (value === "" || splitValues(value).length !== values.length)
    throw wrongCondition(`header ${header}: an HTTPRoute takes no empty value`);
  return { name: header, value };
}

function queryOf({ key, value }: QueryTest): NonNullable<ApiMatch["queryParams"]>[number] {
  if (key === undefined)
    throw wrongCondition(`an HTTPRoute compares the value of a named query parameter, not ${JSON.stringify(value)} under any name`);
  if (!isToken(key)) throw wrongCondition(`the API takes no query parameter ${JSON.stringify(key)}`);
  return { name: key, value };
}

const isToken = (text: string) => /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(text);

const methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

function methodOf(method: string): string {
  if (methods.includes(method)) return method;
  throw wrongCondition(`an HTTPRoute takes the methods ${methods.join(", ")}, not ${method}`);
}

function uniquely<T extends { readonly name: string }>(tests: readonly T[], what: string): readonly T[] {
  const names = tests.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return tests;
  throw wrongCondition(`an HTTPRoute compares a ${what} once, and ${twice} is compared twice`);
}

const shown = ({ match, value }: Pattern) => `${JSON.stringify(value)}${match === "regex" ? " (a regular expression)" : ""}`;
