/** Clients of a load balancer that another one replaces: they were sent to it, and have five minutes to leave. */
import type { LoadBalancer } from "../../src/sandbox/cloud/elbv2/state.ts";

/** A Service that has, and wants, load balancers of the class. */
export interface Served {
  readonly name: string;
  readonly hostname: string;
  readonly balancers: readonly LoadBalancer[];
}

/** Less than the five minutes, because what is published and what is deleted are seen one after the other. */
const handOverMs = 295_000;
/** Who did not want one a while ago may still lose it. */
const changedMindMs = 15 * 60_000;

export class HandOverRule {
  /** When a host name was last published. */
  readonly #shownAt = new Map<string, number>();
  readonly #shown = new Map<string, string>();
  readonly #standing = new Map<string, readonly string[]>();
  readonly #unwantedAt = new Map<string, number>();

  /** A Service is deleted, or given to somebody else. */
  unwanted(name: string, now: number): void {
    this.#unwantedAt.set(name, now);
  }

  /** What went too early since the last look. To be called after every write. */
  look(services: readonly Served[], now: number): readonly string[] {
    return services.flatMap(({ name, hostname, balancers }) => {
      const before = this.#shown.get(name);
      for (const each of [before, hostname]) if (each && (each === hostname || before !== hostname)) this.#shownAt.set(each, now);
      this.#shown.set(name, hostname);
      const standing = balancers.map(({ dnsName }) => dnsName.toLowerCase());
      const gone = (this.#standing.get(name) ?? []).filter((each) => !standing.includes(each));
      this.#standing.set(name, standing);
      if (now - (this.#unwantedAt.get(name) ?? Number.NEGATIVE_INFINITY) < changedMindMs) return [];
      return gone
        .filter((each) => now - (this.#shownAt.get(each) ?? Number.NEGATIVE_INFINITY) < handOverMs)
        .map((each) => `${name} has lost ${each}, published ${Math.round((now - this.#shownAt.get(each)!) / 1000)} s ago`);
    });
  }
}
