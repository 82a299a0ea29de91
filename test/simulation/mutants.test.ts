/** The simulation is worth its time: known faults are found, named, and replayed from their seed. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { suite, test } from "node:test";
import { breachesOf, mutantSeeds, playMutant, searchFrom } from "./mutant-search.ts";
import { type Mutant, mutants } from "./mutants.ts";

suite("mutants", { concurrency: availableParallelism() }, () => {
  for (const mutant of mutants) {
    const { name, killedBy } = mutant;
    test(`${name} is found within 100 seeds`, async () => {
      const { output, seed } = await searchFrom(mutant, mutantSeeds[name] ?? 1);
      assert.ok(seed !== undefined, output.slice(-2000));
      assert.ok(breachesOf(output).at(-1)?.startsWith(killedBy), breachesOf(output).join("\n"));

      if (!isFirstOfItsWorld(mutant)) return;
      const replayed = await playMutant(mutant, Number(seed), 1);
      assert.equal(storyOf(replayed.output), storyOf(output), "the seed tells the same story in another process");
    });
  }
});

/** That a seed tells the same story again is a virtue of its world, whatever the mutant. */
function isFirstOfItsWorld(mutant: Mutant): boolean {
  return mutants.find(({ world }) => world === mutant.world) === mutant;
}

function storyOf(output: string): string {
  return output.slice(0, output.indexOf("\nseed "));
}
