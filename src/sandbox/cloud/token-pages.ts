/** Pages of the JSON services: a token that names the last thing given out. */
import type { Account } from "./account.ts";

/** What differs between services: how a page is asked for, and what is said to one that cannot be had. */
export interface TokenRequest {
  readonly token: string | undefined;
  readonly size: number | undefined;
  readonly maxSize: number;
  readonly refuse: (message: string) => Error;
}

/** A page of a list in the order of its keys, and the token of the next one. */
export function tokenPage<T>(account: Account, records: readonly T[], keyOf: (record: T) => string, request: TokenRequest) {
  const { token, size = request.maxSize, maxSize, refuse } = request;
  if (!Number.isInteger(size) || size < 1 || size > maxSize) throw refuse(`The page size must be between 1 and ${maxSize}, not ${size}`);
  const after = token ? Buffer.from(token, "base64url").toString("utf8") : undefined;
  if (after !== undefined && !after.startsWith(MARK)) throw refuse(`The token '${token}' is not valid`);
  const sorted = records.map((record) => ({ record, key: MARK + keyOf(record) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter(({ key }) => key > after);
  const items = rest.slice(0, Math.min(size, account.settings().pageSize ?? size));
  return {
    items: items.map(({ record }) => record),
    next: items.length < rest.length ? Buffer.from(items.at(-1)!.key).toString("base64url") : undefined,
  };
}

const MARK = "after ";
