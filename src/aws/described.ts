/** Look-ups of EC2 resources by id and by tag, joined into the fewest Describe calls. */
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { CallOptions } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { idsInError } from "./error-ids.ts";
import { isAwsError } from "./errors.ts";
import { groupByEach } from "./grouped.ts";
import type { Tags } from "./instance.ts";

/** AWS accepts more; a smaller request is quicker to take apart when one of its ids is unknown. */
const idsPerCall = 500;
/** AWS's limit of values in one filter. */
const valuesPerFilter = 200;
/** Many wait for their volumes at the same time, and what they wait for takes seconds. */
const windowMs = 250;

interface Wanted {
  readonly value: string;
  readonly cause: string;
}

/** Makes the call and reads all its pages. */
type Describe<Argument, T> = (argument: Argument, options: CallOptions) => Promise<readonly T[]>;

/** A Describe call by ids. */
export class ById<T> {
  readonly #coalescer: Coalescer<Wanted, T>;

  constructor(clock: Clock, describe: Describe<string[], T>, idOf: (item: T) => string) {
    this.#coalescer = new Coalescer<Wanted, T>({
      clock,
      most: idsPerCall,
      windowMs,
      keyOf: ({ value }) => value,
      keysInError: idsInError,
      fetch: async (items, options) => {
        const ids = items.map(({ value }) => value);
        const found = await describe(ids, { ...options, cause: joinedCause(items) });
        return new Map(found.map((item) => [idOf(item), item]));
      },
    });
  }

  /** The one of this id; undefined when the answer lacks it. */
  get(id: string, ask: Ask): Promise<T | undefined> {
    return this.#coalescer.get({ value: id, cause: ask.cause }, ask.urgency ?? "user", ask.signal);
  }
}

/** The same by the value of a tag. */
export class ByTag<T extends { readonly tags: Tags }> {
  readonly #coalescer: Coalescer<Wanted & { readonly key: string }, readonly T[]>;

  constructor(clock: Clock, describe: Describe<{ Name: string; Values: string[] }[], T>) {
    this.#coalescer = new Coalescer<Wanted & { readonly key: string }, readonly T[]>({
      clock,
      most: valuesPerFilter,
      windowMs,
      keyOf: ({ value }) => value,
      groupOf: ({ key }) => key,
      fetch: async (items, options) => {
        const { key } = items[0]!;
        const filters = [{ Name: `tag:${key}`, Values: items.map(({ value }) => withoutWildcards(value)) }];
        const found = await describe(filters, { ...options, cause: joinedCause(items) });
        return groupByEach(found, ({ tags }) => [tags[key]]);
      },
    });
  }

  /** Those that carry the tag with this value. */
  async get(key: string, value: string, ask: Ask): Promise<readonly T[]> {
    return (await this.#coalescer.get({ key, value, cause: ask.cause }, ask.urgency ?? "user", ask.signal)) ?? [];
  }
}

/** Whether AWS says that there is no such thing, and means this very id. A refusal that is about another proves nothing. */
export function isNotFound(error: unknown, id: string): boolean {
  return isAwsError(error, "not-found") && (idsInError(error, [id])?.includes(id) ?? false);
}

function withoutWildcards(value: string): string {
  return value.replace(/[\\*?]/g, "\\$&");
}
