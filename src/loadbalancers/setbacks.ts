/** What the API server refuses about one of several who share a load balancer: its author is told, and nobody else waits for it. */
import { isApiError } from "../kube/errors.ts";

/** A refusal of this very request, by a policy, a quota or a webhook; not that the server cannot be reached. */
export const isRefusal = (error: unknown): boolean =>
  isApiError(error) && !isApiError(error, "unauthorized", "too-many-requests", "unavailable", "timeout", "unreachable");

/** Refusals of one pass. They are thrown when everything else is done, so that the same is tried again. */
export class Setbacks {
  #first: unknown;

  /** Undefined where it was refused. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.note(error);
      return undefined;
    }
  }

  /** Throws what is no refusal. */
  note(error: unknown): void {
    if (!isRefusal(error)) throw error;
    this.#first ??= error;
  }

  get areThere(): boolean {
    return this.#first !== undefined;
  }

  throwFirst(): void {
    if (this.areThere) throw this.#first;
  }
}
