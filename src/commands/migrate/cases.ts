/**
 * What a rule of a load balancer is for, taken apart into cases: one host, one path, one method and one parameter of a query
 * each. A rule holds where one of its cases does, and a match of an HTTPRoute is one case. Pure.
 */
import type { Condition, Match } from "../../loadbalancers/routing.ts";
import { covers, meets } from "./patterns.ts";

/** A pattern of AWS; `prefix` is a path and everything below it. */
export interface Pattern {
  readonly match: Match | "prefix";
  readonly value: string;
}

export interface HeaderTest {
  readonly header: string;
  readonly match: Match;
  /** One of them. */
  readonly values: readonly string[];
}

export interface QueryTest {
  readonly key?: string;
  readonly value: string;
}

/** What is absent, or empty, is not asked for. */
export interface Case {
  readonly host?: Pattern;
  readonly path?: Pattern;
  readonly method?: string;
  readonly headers: readonly HeaderTest[];
  readonly queries: readonly QueryTest[];
  /** All of them, each by one of its blocks. */
  readonly sources: readonly (readonly string[])[];
}

export const everything: Case = { headers: [], queries: [], sources: [] };

/** All cases of a rule. */
export function casesOf(conditions: readonly Condition[]): readonly Case[] {
  return conditions.reduce<readonly Case[]>((cases, condition) => cases.flatMap((each) => narrowed(each, condition)), [everything]);
}

function narrowed(of: Case, condition: Condition): readonly Case[] {
  switch (condition.field) {
    case "host-header":
      return condition.values.map((value) => ({ ...of, host: { match: condition.match, value: value.toLowerCase() } }));
    case "path-pattern":
      return pathsOf(condition.match, condition.values).map((path) => ({ ...of, ...(path && { path }) }));
    case "http-request-method":
      return condition.values.map((method) => ({ ...of, method }));
    case "query-string":
      return condition.values.map((query) => ({ ...of, queries: sorted([...of.queries, query]) }));
    case "source-ip":
      return [{ ...of, sources: [...of.sources, sorted(condition.values)] }];
    case "http-header": {
      const { header, match, values } = condition;
      // AWS compares names of headers without their case.
      const tests = (match === "regex" ? values.map((value) => [value]) : [values]).map((some) => ({
        header: header.toLowerCase(),
        match,
        values: sorted(some),
      }));
      return tests.map((test) => ({ ...of, headers: sorted([...of.headers, test]) }));
    }
  }
}

const anyPath = "/*";

/** Undefined: every path. */
function pathsOf(match: Match, values: readonly string[]): readonly (Pattern | undefined)[] {
  if (match === "regex") return values.map((value) => ({ match, value }));
  if (values.includes(anyPath)) return [undefined];
  const isBelow = (value: string) => value.endsWith("/*") && values.includes(value.slice(0, -2));
  return values
    .filter((value) => !isBelow(value))
    .map((value) => ({ match: values.includes(`${value}/*`) && !/[*?]/.test(value) ? "prefix" : match, value }));
}

function sorted<T>(items: readonly T[]): readonly T[] {
  const textOf = (item: T) => JSON.stringify(item);
  return items.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0));
}

/** `shop.example.com /api/… GET`: cases that differ have texts that do. */
export function caseText({ host, path, method, headers, queries, sources }: Case): string {
  const patternText = ({ match, value }: Pattern) => ({ wildcard: value, regex: `~${value}`, prefix: `${value}/…` })[match];
  const rest = [headers, queries, sources].flat().map((each) => JSON.stringify(each));
  return [host ? patternText(host) : "*", path ? patternText(path) : "/…", ...(method === undefined ? [] : [method]), ...rest].join(" ");
}

/** Whether every request that the second is for is also one for the first. False where nobody can tell. */
export function coversCase(wide: Case, narrow: Case): boolean {
  const holds = <T>(all: readonly T[], some: readonly T[]) => {
    const texts = all.map((each) => JSON.stringify(each));
    return some.every((each) => texts.includes(JSON.stringify(each)));
  };
  return (
    coversPattern(wide.host, narrow.host) &&
    coversPattern(wide.path, narrow.path) &&
    (wide.method === undefined || wide.method === narrow.method) &&
    holds(narrow.headers, wide.headers) &&
    holds(narrow.queries, wide.queries) &&
    holds(narrow.sources, wide.sources)
  );
}

/** Whether no request is one for both. False where nobody can tell. */
export function isApart(a: Case, b: Case): boolean {
  const differ = (one: Pattern | undefined, other: Pattern | undefined) =>
    one !== undefined &&
    other !== undefined &&
    !globsOf(one).some((first) => globsOf(other).some((second) => first === undefined || second === undefined || meets(first, second)));
  return differ(a.host, b.host) || differ(a.path, b.path) || (a.method !== undefined && b.method !== undefined && a.method !== b.method);
}

function coversPattern(wide: Pattern | undefined, narrow: Pattern | undefined): boolean {
  if (wide === undefined) return true;
  if (narrow === undefined) return false;
  if (wide.match === "regex" || narrow.match === "regex") return wide.match === narrow.match && wide.value === narrow.value;
  return globsOf(narrow).every((inner) => globsOf(wide).some((outer) => covers(outer!, inner!)));
}

/** Undefined: a regular expression, of which nobody knows what it takes. */
function globsOf({ match, value }: Pattern): readonly (string | undefined)[] {
  if (match === "regex") return [undefined];
  return match === "prefix" ? [value, `${value}/*`] : [value];
}
