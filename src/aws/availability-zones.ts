/** The zones of the region, and the id that names the same place in every account. */
import type { Clock } from "../runtime/world.ts";
import { neverAborted, unlessAborted } from "./abort.ts";
import type { Ask } from "./ask.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import { describeAvailabilityZones } from "./ec2-actions.ts";

export interface AvailabilityZone {
  readonly name: string;
  readonly id: string;
  /** `availability-zone`, `local-zone` or `wavelength-zone`. */
  readonly type: string;
  /** `available`, `information`, `impaired`, `unavailable` or `constrained`. */
  readonly state: string;
  /** `opt-in-not-required` or `opted-in`. */
  readonly optInStatus: string;
  /** From which addresses are advertised: the region, or the place of a local zone. */
  readonly borderGroup: string;
}

/** Zones are added once in years; one that is not there yet is looked for again after this long. */
const unknownZoneAgeMs = 5 * 60_000;

export class AvailabilityZones {
  readonly #caller: Caller;
  readonly #cache: Cache<ReadonlyMap<string, AvailabilityZone>>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#cache = new Cache({ clock, most: 1 });
  }

  /** The zone of this name, among those the account has opted into. */
  async byName(name: string, ask: Ask): Promise<AvailabilityZone | undefined> {
    if (name === "") return undefined;
    const known = (await this.#all(Number.POSITIVE_INFINITY, ask)).get(name);
    return known ?? (await this.#all(unknownZoneAgeMs, ask)).get(name);
  }

  /** Every zone the account has opted into. */
  async all(ask: Ask): Promise<readonly AvailabilityZone[]> {
    return [...(await this.#all(unknownZoneAgeMs, ask)).values()];
  }

  #all(maxAgeMs: number, ask: Ask): Promise<ReadonlyMap<string, AvailabilityZone>> {
    return unlessAborted(
      ask.signal,
      this.#cache.get("zones", maxAgeMs, () => this.#read(ask), ask.urgency),
    );
  }

  async #read(ask: Ask): Promise<ReadonlyMap<string, AvailabilityZone>> {
    const answer = await this.#caller.call(describeAvailabilityZones, {}, { ...ask, signal: neverAborted });
    return new Map(
      (answer.AvailabilityZones ?? []).map((zone) => [
        zone.ZoneName ?? "",
        {
          name: zone.ZoneName ?? "",
          id: zone.ZoneId ?? "",
          type: zone.ZoneType ?? "",
          state: zone.State ?? "",
          optInStatus: zone.OptInStatus ?? "",
          borderGroup: zone.NetworkBorderGroup ?? "",
        },
      ]),
    );
  }
}
