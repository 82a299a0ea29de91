/**
 * `fairlead` in a hurry: sixty times the speed on both clocks, so that what it waits ten minutes for takes ten seconds.
 *
 *     node node-hurried.ts controller-manager <flags>
 */
import { main } from "../../src/main.ts";
import { hurriedWorld } from "../bed/world.ts";

const factor = 60;
const hurried = hurriedWorld(factor);
const startedAt = hurried.clock.now();
const world = { ...hurried, clock: { ...hurried.clock, now: () => startedAt + (Date.now() - startedAt) * factor } };

process.exitCode = await main("fairlead", {
  argv: process.argv.slice(2),
  world,
  console: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    columns: 0,
    watched: false,
    logDescriptor: 2,
  },
  stopSignal: () => new AbortController().signal,
});
