/** Plays many histories of Services: `node test/simulation/services-many.ts <first seed> <how many>`. */
import { servicesHistory } from "./services-history.ts";

const [first = 1, count = 100] = process.argv.slice(2).map(Number);
let failed = 0;
for (let seed = first; seed < first + count; seed++) {
  const broken = await servicesHistory(seed).catch((error: unknown) => [`threw ${error instanceof Error ? error.stack : String(error)}`]);
  if (broken.length === 0) continue;
  failed++;
  console.log(`seed ${seed}:\n  ${[...new Set(broken)].slice(0, 6).join("\n  ")}`);
}
console.log(`${count - failed} of ${count} histories end in order`);
process.exitCode = failed > 0 ? 1 : 0;
