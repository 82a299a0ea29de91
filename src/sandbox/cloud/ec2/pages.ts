import { ServiceError } from "../errors.ts";
import type { Ec2 } from "./state.ts";

/** The page a caller asks for. */
export interface PageRequest {
  readonly MaxResults?: number | undefined;
  readonly NextToken?: string | undefined;
}

/** What a call allows as a page. */
export interface PageRule {
  readonly action: string;
  readonly min: number;
  readonly max: number;
  /** The page when the caller does not say; everything, unless given. */
  readonly usual?: number;
}

/**
 * One page of a list, in the order of ids, so that a token (the last id given out) stays good while records come and go:
 * nothing that was there all along is skipped or seen twice.
 */
export function page<T>(
  ec2: Ec2,
  records: readonly T[],
  idOf: (record: T) => string,
  request: PageRequest,
  rule: PageRule,
): { readonly items: readonly T[]; readonly NextToken: string | undefined } {
  const { MaxResults: asked } = request;
  if (asked !== undefined && (asked < rule.min || asked > rule.max || !Number.isInteger(asked))) {
    const expected = asked < rule.min ? `greater than or equal to ${rule.min}` : `less than or equal to ${rule.max}`;
    throw new ServiceError(
      "InvalidParameterValue",
      `Value ( ${asked} ) for parameter maxResults is invalid. Expecting a value ${expected}.`,
    );
  }
  const after = request.NextToken === undefined || request.NextToken === "" ? undefined : readToken(rule.action, request.NextToken);
  const limit = Math.min(asked ?? rule.usual ?? Number.POSITIVE_INFINITY, ec2.account.settings().pageSize ?? Number.POSITIVE_INFINITY);
  const sorted = [...records].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter((record) => idOf(record) > after);
  const items = limit < rest.length ? rest.slice(0, limit) : rest;
  return { items, NextToken: items.length < rest.length ? writeToken(rule.action, idOf(items.at(-1)!)) : undefined };
}

function writeToken(action: string, last: string): string {
  return Buffer.from(JSON.stringify([action, last])).toString("base64url");
}

function readToken(action: string, token: string): string {
  try {
    const [of, last] = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as unknown[];
    if (of === action && typeof last === "string") return last;
  } catch {
    // Falls through: whatever is wrong with a token, EC2 says the same.
  }
  throw new ServiceError("InvalidNextToken", `The token '${token}' is invalid`);
}
