/** Answers that come in pages. */
import type { Action } from "./actions.ts";
import type { Caller, CallOptions } from "./caller.ts";
import type { Shape } from "./scan.ts";

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string | undefined;
}

/** All items of all pages. */
export async function scanPages<Input extends { NextToken?: string | undefined }, T>(
  caller: Caller,
  action: Action<Input, unknown>,
  input: Input,
  shape: Shape<Page<T>>,
  options: CallOptions,
): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const items of eachPage(caller, action, input, shape, options)) for (const item of items) all.push(item);
  return all;
}

/** The items of one page after the other; a page may be empty and not the last. */
export async function* eachPage<Input extends { NextToken?: string | undefined }, T>(
  caller: Caller,
  action: Action<Input, unknown>,
  input: Input,
  shape: Shape<Page<T>>,
  options: CallOptions,
): AsyncGenerator<readonly T[], void, undefined> {
  let token: string | undefined;
  do {
    const page: Page<T> = await caller.scan(action, token === undefined ? input : { ...input, NextToken: token }, shape, options);
    yield page.items;
    token = page.nextToken;
  } while (token !== undefined);
}
