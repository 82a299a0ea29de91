/** The order in which rules of all routes on a port hold: as the API says, and where it does not as the reference has it. Pure. */
import { compareText } from "./listener-sets.ts";
import { keyOf, type RouteMatch, type RouteView } from "./view.ts";

/** A rule before it has a place. */
export interface Placed {
  /** Empty: every name. */
  readonly hostname: string;
  readonly route: Pick<RouteView, "namespace" | "name" | "createdAt">;
  readonly ruleIndex: number;
  /** Infinite where the rule matches everything. */
  readonly matchIndex: number;
  readonly match?: RouteMatch;
}

/** Negative: the first goes before the second. */
export function compareRules(a: Placed, b: Placed): number {
  const [keyA, keyB] = [rankOf(a), rankOf(b)];
  for (let i = 0; i < keyA.length; i++) if (keyA[i] !== keyB[i]) return keyB[i]! - keyA[i]!;
  return (
    compareText(a.route.createdAt, b.route.createdAt) ||
    compareText(keyOf(a.route), keyOf(b.route)) ||
    a.ruleIndex - b.ruleIndex ||
    compareNumbers(a.matchIndex, b.matchIndex) ||
    compareText(a.hostname, b.hostname)
  );
}

const compareNumbers = (a: number, b: number) => (a === b ? 0 : a - b);

/** The higher the earlier, place by place. */
function rankOf({ hostname, match }: Placed): readonly number[] {
  return [...hostnameRank(hostname), ...matchRank(match)];
}

function hostnameRank(hostname: string): readonly number[] {
  const precision = hostname === "" ? 0 : hostname.startsWith("*") ? 1 : 2;
  return [precision, hostname.split(".").length, hostname.length];
}

const pathRanks: Readonly<Record<string, number>> = { Exact: 3, PathPrefix: 2, RegularExpression: 1 };

/** Kind of path, its length, length of the called method, whether a method is named, headers, query parameters. */
function matchRank(match: RouteMatch | undefined): readonly number[] {
  if (match === undefined) return [0, 0, 0, 0, 0, 0];
  if (match.of === "http") {
    const { path, method, headers, queries } = match;
    return [path ? (pathRanks[path.type] ?? 0) : 0, path?.value.length ?? 0, 0, method === "" ? 0 : 1, headers.length, queries.length];
  }
  const { call, headers } = match;
  return [call ? (pathRanks[call.type] ?? 0) : 0, call?.service.length ?? 0, call?.method.length ?? 0, 0, headers.length, 0];
}
