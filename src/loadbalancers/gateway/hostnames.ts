/** Host names of listeners and routes: which of them meet. Pure. */

/** The more specific of two names where they meet; undefined where they do not. Either may be `*.suffix`, for any depth. */
export function intersection(a: string, b: string): string | undefined {
  if (a === b) return a;
  if (covers(a, b)) return b;
  return covers(b, a) ? a : undefined;
}

const covers = (pattern: string, name: string) => pattern.startsWith("*.") && name.endsWith(pattern.slice(1));

/**
 * What a route answers for behind a listener: its own names within the listener's. `[""]`: every name; undefined: none of them
 * meet. An empty host name of a listener is every name, as is a route without any.
 */
export function hostnamesBehind(listener: string, route: readonly string[]): readonly string[] | undefined {
  if (route.length === 0) return [listener];
  if (listener === "") return route;
  const met = route.filter(isHostname).flatMap((each) => intersection(listener, each) ?? []);
  return met.length > 0 ? [...new Set(met)] : undefined;
}

/** An address is no host name, nor is one with a label that DNS does not take. */
export function isHostname(text: string): boolean {
  const labels = text.split(".");
  const isAddress = /^\d+(\.\d+){3}$/.test(text) || text.includes(":");
  return !isAddress && labels.every((label) => label.length > 0 && label.length <= 63);
}
