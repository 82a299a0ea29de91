/**
 * Plays histories, one a seed, until one breaks a rule; then tells its story and exits 1.
 *
 *   node test/simulation/main.ts --seed 1 --runs 500        one after the other, from this seed on
 *   node test/simulation/main.ts --seed 42 --story          this one, told even if all goes well
 *   node test/simulation/main.ts --plant queue-runs-key-twice --runs 100
 */
import { parseArgs } from "node:util";
import { plantFault } from "./plants.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "1" },
    twice: { type: "boolean", default: false },
    story: { type: "boolean", default: false },
    plant: { type: "string" },
  },
});
if (values.plant !== undefined) plantFault(values.plant);
const { simulate } = await import("./simulate.ts");

const first = Number(values.seed);
const runs = Number(values.runs);
const started = performance.now();
let broken = false;
for (let seed = first; seed < first + runs && !broken; seed++) {
  const outcome = await simulate(seed);
  const same = !values.twice || (await simulate(seed)).hash === outcome.hash;
  const violations = [...outcome.violations, ...(same ? [] : ["played twice, it is not the same history"])];
  broken = violations.length > 0;
  if (values.story || broken) console.log(outcome.story());
  if (broken) tellBreach(seed, violations);
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
if (broken) process.exitCode = 1;
else console.log(`${runs} histories from seed ${first} in ${seconds} s: no rule was broken`);

function tellBreach(seed: number, violations: readonly string[]): void {
  const rules = violations.length === 1 ? "a rule" : `${violations.length} rules`;
  console.log(
    `\nseed ${seed} broke ${rules}, after ${seed - first + 1} histories in ${((performance.now() - started) / 1000).toFixed(1)} s:`,
  );
  for (const violation of violations) console.log(`  ${violation}`);
  const plant = values.plant === undefined ? "" : ` --plant ${values.plant}`;
  console.log(`\nreplay: node test/simulation/main.ts --seed ${seed} --story${plant}`);
}
