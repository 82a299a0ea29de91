/** Worlds for parts that run inside the test process. */
import type { Host } from "../../src/runtime/host.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { realWorld, type World } from "../../src/runtime/world.ts";

/** A host on the machine as it is, or in another world. */
export function testHost(world: World = realWorld()): Host {
  return { world, log: silentLog, metrics: newRegistry() };
}

/** The machine as it is, but patience runs out `factor` times sooner: back-offs, time limits, the wait for a silent server. */
export function hurriedWorld(factor: number): World {
  const world = realWorld();
  const { clock } = world;
  return {
    ...world,
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() * factor,
      after: (ms, callback) => clock.after(ms / factor, callback),
    },
  };
}

/** The same, and the wall clock hurries along: what AWS takes its time for is over sooner too. */
export function fastWorld(factor: number): World {
  const world = hurriedWorld(factor);
  const [wall, start] = [world.clock.now(), world.clock.monotonic()];
  return { ...world, clock: { ...world.clock, now: () => wall + world.clock.monotonic() - start } };
}
