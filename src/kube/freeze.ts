import type { Frozen } from "./resource.ts";

/** Freezes a parsed JSON value all the way down. */
export function freeze<T>(value: T): Frozen<T> {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value)) freeze(part);
    Object.freeze(value);
  }
  return value as Frozen<T>;
}
