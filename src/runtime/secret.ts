import { masked } from "./secret-shapes.ts";

/** A text that is used and never shown: printed, logged or turned into JSON it says that it is one. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** For the one place that sends it. */
  reveal(): string {
    return this.#value;
  }

  equals(other: Secret): boolean {
    return this.#value === other.#value;
  }

  toJSON(): string {
    return masked;
  }

  toString(): string {
    return masked;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return masked;
  }
}
