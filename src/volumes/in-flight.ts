/** Requests under way. Sidecars repeat a request before they have given the first one up; the second is told to come back. */
import { CsiError } from "./csi/errors.ts";

export class InFlight {
  readonly #keys = new Set<string>();

  /** Does the work unless the same is under way, which is refused with the text. */
  async run<T>(key: string, refusal: string, work: () => Promise<T>): Promise<T> {
    if (this.#keys.has(key)) throw new CsiError("Aborted", refusal);
    this.#keys.add(key);
    try {
      return await work();
    } finally {
      this.#keys.delete(key);
    }
  }
}
