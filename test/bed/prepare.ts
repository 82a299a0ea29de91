/** Obtains what the slow suites need before any test's clock starts. The first time takes minutes and shows progress. */
import { helm } from "../../deploy/build/helm.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { obtainPython } from "../referees/python.ts";
import { referenceControllerManager } from "../referees/reference.ts";

try {
  const options = { world: realWorld(), say: (line: string) => console.log(line) };
  await obtainAssets(options);
  await obtainPython(options);
  await helm(options.say);
  await referenceControllerManager(options.say);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
