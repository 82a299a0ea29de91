import { ServiceError } from "../errors.ts";

/** Client tokens: a call repeated with its token answers what it made the first time, and makes nothing. */
export class ClientTokens {
  readonly #made = new Map<string, { readonly parameters: string; readonly made: unknown }>();

  /** `make` runs once for each token of an action; later calls get the value it returned. */
  once<T>(action: string, token: string | undefined, input: Readonly<Record<string, unknown>> | object, make: () => T): T {
    if (token === undefined || token === "") return make();
    if (token.length > 64) throw new ServiceError("InvalidParameterValue", "The client token is longer than 64 characters.");
    const key = `${action} ${token}`;
    const parameters = JSON.stringify(input, withTagsInOrder);
    const earlier = this.#made.get(key);
    if (earlier === undefined) {
      const made = make();
      this.#made.set(key, { parameters, made });
      return made;
    }
    if (earlier.parameters !== parameters) {
      throw new ServiceError("IdempotentParameterMismatch", "The client token has already been used with different parameters.");
    }
    return earlier.made as T;
  }
}

/** Tags are a set: clients that keep them in a map, as those in Go do, send them in another order each time. */
function withTagsInOrder(name: string, value: unknown): unknown {
  if (name !== "Tags" || !Array.isArray(value)) return value;
  return (value as { readonly Key?: string }[]).toSorted((a, b) => ((a.Key ?? "") < (b.Key ?? "") ? -1 : 1));
}
