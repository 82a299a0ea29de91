/** The machine one replica runs on: its clock stops for ever in a crash, and for a while in a stall. */
import type { Clock, World } from "../../src/runtime/world.ts";
import { seededRandom } from "../../src/sandbox/seeded-random.ts";

export interface Machine extends World {
  readonly alive: boolean;
  /** Nothing runs on it any more; whatever it waits for never comes. */
  crash(): void;
  /** Nothing runs on it for so long; what falls due meanwhile runs afterwards, in order. */
  stall(ms: number): void;
  /** Its wall clock is set to another time; spans do not notice. */
  jump(ms: number): void;
  /** How long it has stood still altogether. */
  readonly stalledMs: number;
  /** Resolves when it runs again; never after a crash. */
  running(): Promise<void>;
}

const awsKeys = { AWS_ACCESS_KEY_ID: "AKIASIMULATED0000000", AWS_SECRET_ACCESS_KEY: "simulated" };

/** A machine in a world that goes on without it. */
export function machineIn(world: World, hostname: string, environment: World["environment"] = awsKeys): Machine {
  const { clock } = world;
  let alive = true;
  let stalledUntil = 0;
  let stalledMs = 0;
  let jumped = 0;

  const whenRunning = (callback: () => void): void => {
    if (!alive) return;
    const left = stalledUntil - clock.monotonic();
    if (left > 0) clock.after(left, () => whenRunning(callback));
    else callback();
  };
  const own: Clock = {
    now: () => clock.now() + jumped,
    monotonic: () => clock.monotonic(),
    after(ms, callback) {
      let cancelled = false;
      const cancel = clock.after(ms, () =>
        whenRunning(() => {
          if (!cancelled) callback();
        }),
      );
      return () => {
        cancelled = true;
        cancel();
      };
    },
  };
  return {
    clock: own,
    random: seededRandom(Math.floor(world.random.number() * 2 ** 32)),
    files: world.files,
    environment,
    hostname,
    get alive() {
      return alive;
    },
    get stalledMs() {
      return stalledMs - Math.max(0, stalledUntil - clock.monotonic());
    },
    crash() {
      alive = false;
    },
    stall(ms) {
      const until = Math.max(stalledUntil, clock.monotonic() + ms);
      stalledMs += until - Math.max(stalledUntil, clock.monotonic());
      stalledUntil = until;
    },
    jump(ms) {
      jumped += ms;
    },
    running: () => new Promise((resolve) => whenRunning(resolve)),
  };
}
