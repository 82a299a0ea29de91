export { unlessAborted } from "../runtime/world.ts";

/** For work that is done for more than one asker, none of whom may end it. */
export const neverAborted: AbortSignal = new AbortController().signal;
