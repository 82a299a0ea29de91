/** How both load-balancer APIs are read: pages by marker, tags of twenty things a call, and what is gone is nothing. */
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { CallOptions } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { idsNamedIn } from "./error-ids.ts";
import { isAwsError } from "./errors.ts";
import type { Tags } from "./instance.ts";

export const pageSize = 400;

/** AWS's limit of names or ARNs in one description of tags. */
const idsPerCall = 20;

/** Tags are read before something is deleted or taken for ours: nobody misses this while load balancers take minutes. */
const windowMs = 100;

interface Wanted {
  readonly id: string;
  readonly cause: string;
}

/** A tag as both APIs send it. */
type SentTag = { readonly Key?: string; readonly Value?: string };

/** Asks for the tags of one thing by its name or ARN; those asked for in the same moment share a call. */
export function tagReader(
  clock: Clock,
  describe: (ids: string[], options: CallOptions) => Promise<readonly { readonly id: string; readonly tags: readonly SentTag[] }[]>,
): (id: string, ask: Ask) => Promise<Tags | undefined> {
  const coalescer = new Coalescer<Wanted, Tags>({
    clock,
    most: idsPerCall,
    windowMs,
    keyOf: ({ id }) => id,
    // One that is gone fails the whole call; it is named in the refusal where there are several.
    keysInError: (error, ids) => (isAwsError(error, "not-found") ? idsNamedIn(error.detail, ids) : undefined),
    fetch: async (items, options) => {
      const ids = items.map(({ id }) => id);
      const described = await describe(ids, { ...options, cause: joinedCause(items) });
      return new Map(described.map(({ id, tags }) => [id, keyed(tags)]));
    },
  });
  return (id, ask) => unlessGone(() => coalescer.get({ id, cause: ask.cause }, ask.urgency ?? "background", ask.signal));
}

/** All items of all pages. */
export async function markedPages<T>(
  page: (marker: string | undefined) => Promise<{ readonly items: readonly T[]; readonly next: string | undefined }>,
): Promise<T[]> {
  const all: T[] = [];
  let marker: string | undefined;
  do {
    const { items, next } = await page(marker);
    all.push(...items);
    marker = next || undefined;
  } while (marker !== undefined);
  return all;
}

/** Undefined where AWS says that it knows no such thing. */
export async function unlessGone<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isAwsError(error, "not-found")) return undefined;
    throw error;
  }
}

/** A list of keys and values as an object. */
export function keyed(pairs: readonly SentTag[] | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries((pairs ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
}
