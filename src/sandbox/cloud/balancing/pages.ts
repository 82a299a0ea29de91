import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";

/** What a request says of the page it wants. */
export interface MarkerRequest {
  readonly Marker?: string | undefined;
  readonly PageSize?: number | undefined;
}

/** A page, and how to ask for the next one. */
export interface MarkerPage<T> {
  readonly items: readonly T[];
  readonly NextMarker: string | undefined;
}

const LARGEST_PAGE = 400;

/** One page of a list in the order of its keys; the marker is the last key given out, so it stays good while things come and go. */
export function markerPage<T>(
  account: Account,
  records: readonly T[],
  keyOf: (record: T) => string,
  request: MarkerRequest,
): MarkerPage<T> {
  const { PageSize: asked = LARGEST_PAGE, Marker: marker } = request;
  if (!Number.isInteger(asked) || asked < 1 || asked > LARGEST_PAGE) {
    const bound = asked < 1 ? "greater than or equal to 1" : `less than or equal to ${LARGEST_PAGE}`;
    throw new ServiceError(
      "ValidationError",
      `1 validation error detected: Value '${asked}' at 'pageSize' failed to satisfy constraint: Member must have value ${bound}`,
    );
  }
  const after = marker === undefined || marker === "" ? undefined : readMarker(marker);
  const sorted = records.map((record) => ({ record, key: keyOf(record) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter(({ key }) => key > after);
  const items = rest.slice(0, Math.min(asked, account.settings().pageSize ?? asked));
  return {
    items: items.map(({ record }) => record),
    NextMarker: items.length < rest.length ? writeMarker(items.at(-1)!.key) : undefined,
  };
}

const PREFIX = "after ";

function writeMarker(key: string): string {
  return Buffer.from(PREFIX + key).toString("base64url");
}

function readMarker(marker: string): string {
  const text = Buffer.from(marker, "base64url").toString("utf8");
  if (!text.startsWith(PREFIX)) throw new ServiceError("ValidationError", `Invalid marker '${marker}'`);
  return text.slice(PREFIX.length);
}
