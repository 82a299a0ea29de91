/**
 * The client tokens of CreateVolume, by which EC2 makes one volume for one name however often it is asked.
 *
 * A token is made from the name alone, so that whoever comes after a crash asks with the same one. EC2 keeps a token used for
 * hours, also when the volume never came to be (its key could not be used); then the next token of the name is taken.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../runtime/world.ts";

/** A name that nobody asks for any more is forgotten; EC2 forgets its tokens too. */
const rememberedMs = 60 * 60_000;

interface Use {
  readonly count: number;
  /** When EC2 first refused the token although no volume carries the name; undefined when it did not. */
  readonly refusedAt: number | undefined;
  readonly touchedAt: number;
}

export class ClientTokens {
  readonly #clock: Clock;
  readonly #uses = new Map<string, Use>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The token for the next attempt, and whether it is the name's first. */
  tokenFor(name: string): { readonly token: string; readonly isFirst: boolean } {
    const { count } = this.#touch(name, {});
    return { token: clientToken(count === 1 ? name : `${name}-${count}`), isFirst: count === 1 };
  }

  /** The volume of the token is gone for certain. */
  rotate(name: string): void {
    this.#touch(name, { count: this.#use(name).count + 1, refusedAt: undefined });
  }

  /**
   * EC2 refuses the token, and no volume of the name is found. A reading may lag behind, so the token is given up only when
   * that is still so some time later. Says whether it was.
   */
  refused(name: string, graceMs: number): boolean {
    const { refusedAt } = this.#use(name);
    if (refusedAt === undefined) {
      this.#touch(name, { refusedAt: this.#clock.monotonic() });
      return false;
    }
    if (this.#clock.monotonic() - refusedAt < graceMs) return false;
    this.rotate(name);
    return true;
  }

  /** The volume of the token is there after all. */
  accepted(name: string): void {
    this.#touch(name, { refusedAt: undefined });
  }

  #use(name: string): Use {
    return this.#uses.get(name) ?? { count: 1, refusedAt: undefined, touchedAt: 0 };
  }

  #touch(name: string, change: Partial<Use>): Use {
    const now = this.#clock.monotonic();
    const use = { ...this.#use(name), ...change, touchedAt: now };
    for (const [key, { touchedAt }] of this.#uses) {
      if (now - touchedAt < rememberedMs) break;
      this.#uses.delete(key);
    }
    // Behind all others, so that the oldest come first; what the name alone tells needs no memory.
    this.#uses.delete(name);
    if (use.count > 1 || use.refusedAt !== undefined) this.#uses.set(name, use);
    return use;
  }
}

/** Lower-case hexadecimal SHA-256, which fits the 64 characters of a token whatever the name. */
export function clientToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
