/** The zones of Route 53 that the world asks: private ones prove nothing to anybody outside. */
import type { Clock } from "../runtime/world.ts";
import { neverAborted, unlessAborted } from "./abort.ts";
import type { Ask } from "./ask.ts";
import { markedPages } from "./balancer-reads.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import { listHostedZones } from "./route53-actions.ts";

export interface HostedZone {
  readonly id: string;
  /** Without the dot at its end. */
  readonly name: string;
}

/** People make one and wait a moment for it to be used. */
const ageMs = 60_000;

export class HostedZones {
  readonly #caller: Caller;
  readonly #zones: Cache<readonly HostedZone[]>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#zones = new Cache({ clock, most: 1 });
  }

  /** All public ones of the account. */
  list(ask: Ask): Promise<readonly HostedZone[]> {
    const own = { ...ask, signal: neverAborted };
    return unlessAborted(
      ask.signal,
      this.#zones.get("public", ageMs, () => this.#read(own), ask.urgency),
    );
  }

  async #read(ask: Ask): Promise<readonly HostedZone[]> {
    const all = await markedPages(async (Marker) => {
      const page = await this.#caller.call(listHostedZones, { MaxItems: 100, ...(Marker && { Marker }) }, ask);
      return { items: page.HostedZones ?? [], next: page.IsTruncated ? page.NextMarker : undefined };
    });
    return all
      .filter(({ Config }) => !Config?.PrivateZone)
      .map(({ Id = "", Name = "" }) => ({ id: Id.replace(/^\/hostedzone\//, ""), name: Name.replace(/\.$/, "") }));
  }
}

/** The one that answers for a name: the longest that it lies in. */
export function zoneFor(name: string, zones: readonly HostedZone[]): HostedZone | undefined {
  const fitting = zones.filter((zone) => name === zone.name || name.endsWith(`.${zone.name}`));
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0];
}
