/** The simulation is worth its time: known faults are found, named, and replayed from their seed. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { suite, test } from "node:test";
import { breachesOf, mutantSeeds, play, searchFrom } from "./mutant-search.ts";
import { mutants } from "./mutants.ts";

suite("mutants", { concurrency: availableParallelism() }, () => {
  for (const mutant of mutants) {
    const { name, world, killedBy } = mutant;
    test(`${name} is found within 100 seeds, and its seed tells the same story again`, async () => {
      const { status, output, seed } = await searchFrom(mutant, mutantSeeds[name] ?? 1);
      assert.equal(status, 1, output.slice(-2000));
      assert.ok(seed !== undefined, "the output names the seed");
      assert.ok(
        breachesOf(output).some((breach) => breach.startsWith(killedBy)),
        breachesOf(output).join("\n"),
      );

      const replayed = await play(world, "--mutant", name, "--seed", seed, "--story");
      assert.equal(storyOf(replayed.output), storyOf(output));
    });
  }
});

function storyOf(output: string): string {
  return output.slice(0, output.indexOf("\nseed "));
}
