/** Lists, page by page. */

import { yieldingBetween } from "../runtime/event-loop-turns.ts";
import type { HttpResponse } from "../runtime/http.ts";
import type { Clock } from "../runtime/world.ts";
import { ApiError, isApiError } from "./errors.ts";
import { JsonItems } from "./json-items.ts";

export interface ListOptions {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects a page. */
  readonly limit?: number;
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** A part of a list. */
export interface Page<T> extends ObjectList<T> {
  /** Empty on the last page. */
  readonly continue: string;
}

type FetchPage<T, O> = (options: O & { readonly continue?: string }) => Promise<Page<T>>;

/** What walks along a list sees. */
export interface Walk<T> {
  /** The list begins, or begins anew: what came before does not count. */
  begin(): void;
  page(items: readonly T[]): void;
}

/** Objects a page unless the caller says otherwise. */
const pageSize = 500;
/** How often a list is begun anew because its continue token expired, before it is asked for in one piece. */
const expiriesBeforeOnePiece = 2;

/** Walks all pages of a list and returns its resourceVersion. A list whose continue token expires on the way begins anew. */
export async function walkPages<T, O extends ListOptions>(fetch: FetchPage<T, O>, options: O, walk: Walk<T>): Promise<string> {
  for (let expiries = 0; ; expiries++) {
    const limit = expiries < expiriesBeforeOnePiece ? (options.limit ?? pageSize) : undefined;
    walk.begin();
    try {
      for (let next: string | undefined; ; ) {
        const page = await fetch({ ...options, limit, continue: next });
        walk.page(page.items);
        if (page.continue === "") return page.resourceVersion;
        next = page.continue;
      }
    } catch (error) {
      if (!isApiError(error, "gone") || limit === undefined) throw error;
    }
  }
}

/** A whole list in memory. */
export async function listAll<T, O extends ListOptions>(fetch: FetchPage<T, O>, options: O): Promise<ObjectList<T>> {
  let items: T[] = [];
  const resourceVersion = await walkPages(fetch, options, {
    begin() {
      items = [];
    },
    page(more) {
      for (const item of more) items.push(item);
    },
  });
  return { items, resourceVersion };
}

/** Reads one page while it arrives. */
export async function readPage<T>(asked: string, answer: HttpResponse, clock: Clock, each: (object: object) => T): Promise<Page<T>> {
  const yielding = yieldingBetween(clock);
  const items: T[] = [];
  try {
    const parts = new JsonItems((json) => items.push(each(JSON.parse(json) as object)));
    for await (const chunk of answer.body) {
      await yielding(() => parts.push(chunk));
    }
    const { metadata } = parts.end() as { metadata?: { resourceVersion?: string; continue?: string } };
    return { items, resourceVersion: metadata?.resourceVersion ?? "", continue: metadata?.continue ?? "" };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ApiError({ reason: "unavailable", status: 0, asked, said: "the answer was cut short or is not JSON", cause });
  }
}
