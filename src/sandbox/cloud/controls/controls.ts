/** The levers of the cloud, for tests and for a person at the keyboard. */
import type { World } from "../../../runtime/world.ts";
import { type SeededRandom, seededRandom } from "../../seeded-random.ts";
import type { Principals } from "../access/principals.ts";
import type { Snapshot, Store } from "../store.ts";
import type { Time } from "../time.ts";
import { Buckets } from "./buckets.ts";
import { Faults } from "./faults.ts";
import { Journal } from "./journal.ts";
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts";

/** Any setting, or part of a nested one. */
export type SettingsChange = Partial<Omit<Settings, "quotas" | "latency" | "staleness">> & {
  readonly quotas?: Partial<Settings["quotas"]>;
  readonly latency?: Partial<Settings["latency"]>;
  readonly staleness?: Partial<Settings["staleness"]>;
};

/** Everything a test or a person can do to a cloud besides calling its API. */
export interface Controls {
  readonly settings: () => Settings;
  change(change: SettingsChange): void;
  readonly faults: Faults;
  readonly buckets: Buckets;
  readonly journal: Journal;
  readonly principals: Principals;
  /** Denies these actions (patterns) to everybody, beside what the policy says. Returns the function that lifts the ban. */
  deny(...actions: string[]): () => void;
  /** The whole state of the account, as it is now. */
  snapshot(): Snapshot;
  /** Starts ids and chance over from another seed. */
  reseed(seed: number): void;
  /** Chance for delays, stale reads and fault rules; apart from the one ids come from, so that faults do not change names. */
  chance(): number;
}

interface ControlsOptions {
  readonly world: World;
  readonly seed: number;
  /** Where ids come from. */
  readonly names: SeededRandom;
  readonly time: Time;
  readonly store: Store;
  readonly principals: Principals;
  readonly settings: SettingsChange;
}

/** Parts chance from names, which grow from the same seed. */
const CHANCE = 0x5bd1e995;

/** The controls of one cloud. */
export function createControls(options: ControlsOptions): Controls {
  const { world, time, store, principals, names } = options;
  const random = seededRandom(options.seed ^ CHANCE);
  let settings = DEFAULT_SETTINGS;
  const change = (wanted: SettingsChange): void => {
    const { speed = settings.speed } = wanted;
    if (!(speed > 0)) throw new RangeError(`the cloud's speed must be a positive number, not ${speed}`);
    settings = {
      ...settings,
      ...wanted,
      quotas: { ...settings.quotas, ...wanted.quotas },
      latency: { ...settings.latency, ...wanted.latency },
      staleness: { ...settings.staleness, ...wanted.staleness },
    };
    time.speed = settings.speed;
    store.remember = Math.max(store.remember, settings.staleness.maxAgeMs);
  };
  change(options.settings);
  return {
    settings: () => settings,
    change,
    faults: new Faults(random, (ageMs) => {
      store.remember = Math.max(store.remember, ageMs);
    }),
    buckets: new Buckets(world.clock),
    journal: new Journal(),
    principals,
    deny(...actions) {
      const statement = { effect: "deny", actions } as const;
      change({ policy: [...settings.policy, statement] });
      return () => change({ policy: settings.policy.filter((other) => other !== statement) });
    },
    snapshot() {
      time.settle();
      return store.snapshot();
    },
    reseed(seed) {
      names.reseed(seed);
      random.reseed(seed ^ CHANCE);
    },
    chance: () => random.number(),
  };
}
