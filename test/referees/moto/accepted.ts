/** Differences between the two clouds that have a reason, and whether that reason still holds for all of them. */
import { absent, type Difference } from "./compare.ts";
import type { Value } from "./normal.ts";
import type { Exchange } from "./script.ts";

export { absent };

/** One reason for a difference, and every place where it shows. */
export interface Accepted {
  /** Names of exchanges, or `service:Operation` for every call of it. */
  readonly in: readonly string[];
  /** Fields, by the end of their path. */
  readonly at: readonly string[];
  /** What our cloud says there; anything when left out. */
  readonly ours?: Value;
  /** What moto says there; anything when left out. */
  readonly moto?: Value;
  /** Who of the two is not like AWS. `neither`: AWS leaves it open, or it follows from things that the two never agreed on. */
  readonly departs: "moto" | "ours" | "neither";
  readonly why: string;
  /** Where AWS says so. */
  readonly document: string;
}

/** Sorts differences into those with a reason and those without, and remembers which reasons were needed. */
export class Reasons {
  readonly #list: readonly Accepted[];
  readonly #used = new Set<string>();

  constructor(list: readonly Accepted[]) {
    this.#list = list;
  }

  /** The differences of this exchange that nothing in the list explains. */
  unexplained(exchange: Exchange, differences: readonly Difference[]): readonly Difference[] {
    const places = [exchange.name, `${exchange.service}:${exchange.operation}`];
    return differences.filter((difference) => {
      let explained = false;
      for (const [number, accepted] of this.#list.entries()) {
        const place = accepted.in.find((name) => places.includes(name));
        const field = accepted.at.find((end) => endsIn(difference.path, end));
        if (place === undefined || field === undefined || !saysSo(accepted, difference)) continue;
        explained = true;
        this.#used.add(key(number, "in", place)).add(key(number, "at", field));
      }
      return !explained;
    });
  }

  /** Places and fields in the list where nothing differs any more. To be asked after every exchange was looked at. */
  stale(): readonly string[] {
    return this.#list.flatMap((accepted, number) => {
      const unused = (kind: "in" | "at") => accepted[kind].filter((name) => !this.#used.has(key(number, kind, name)));
      return [...unused("in"), ...unused("at")].map((name) => `${name} (${accepted.why})`);
    });
  }
}

function key(number: number, kind: "in" | "at", name: string): string {
  return `${number} ${kind} ${name}`;
}

function endsIn(path: string, end: string): boolean {
  return path === end || path.endsWith(`.${end}`);
}

function saysSo({ ours, moto }: Accepted, difference: Difference): boolean {
  const same = (expected: Value | undefined, said: Value) => expected === undefined || JSON.stringify(expected) === JSON.stringify(said);
  return same(ours, difference.ours) && same(moto, difference.moto);
}
