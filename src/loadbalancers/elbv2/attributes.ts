/** Attributes of load balancers, listeners and target groups: only keys that are asked for are compared and written. Pure. */
import type { Attributes } from "../model.ts";

/** Those that have another value, as AWS takes them; in the order of their keys. */
export function changedAttributes(wanted: Attributes, present: Attributes): { readonly Key: string; readonly Value: string }[] {
  return Object.entries(wanted)
    .filter(([key, value]) => (present[key] ?? "") !== value)
    .map(([Key, Value]) => ({ Key, Value }));
}

/** `idle_timeout.timeout_seconds=60, …` */
export const attributesText = (changed: readonly { readonly Key: string; readonly Value: string }[]) =>
  changed.map(({ Key, Value }) => `${Key}=${Value}`).join(", ");
