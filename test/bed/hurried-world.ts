/** This machine with a clock that runs faster: what waits for AWS waits for a fraction of the time, and for the same on its own clock. */
import { realWorld, type World } from "../../src/runtime/world.ts";

/** A world in which `factor` seconds pass in each second. */
export function hurriedWorld(factor: number, environment: World["environment"]): World {
  const real = realWorld();
  const [wall, start] = [real.clock.now(), real.clock.monotonic()];
  const passed = () => (real.clock.monotonic() - start) * factor;
  return {
    ...real,
    environment,
    hostname: "node",
    clock: {
      now: () => wall + passed(),
      monotonic: passed,
      after: (ms, callback) => real.clock.after(ms / factor, callback),
    },
  };
}
