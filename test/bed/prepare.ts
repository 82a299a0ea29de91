/** Obtains what the slow suites need before any test's clock starts. The first time takes minutes and shows progress. */
import { realWorld } from "../../src/runtime/world.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";

try {
  await obtainAssets({ world: realWorld(), say: (line) => console.log(line) });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
