/**
 * Obtains everything that a test of the slow suites would otherwise fetch or build itself, before any test's clock starts.
 * The first time takes many minutes and shows progress.
 *
 *   node test/bed/prepare.ts             what `npm test` needs
 *   node test/bed/prepare.ts referees    that, and every referee
 */
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { credentialProvider } from "../../deploy/build/credential-provider.ts";
import { imageTools, mountTools, NoDebianPackages, nodeLibraries, plainBase, promtool } from "../../deploy/build/debian.ts";
import { helm } from "../../deploy/build/helm.ts";
import { nodeFor } from "../../deploy/image/assemble.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { referees } from "../referees/table.ts";

const say = (line: string) => console.log(line);
const begun = performance.now();

try {
  await obtainAssets({ world: realWorld(), say });
  for (const architecture of ["amd64", "arm64"] as const) await credentialProvider(architecture, say);
  await nodeFor(hostArchitecture());
  await helm(say);
  // Elsewhere than on Debian the tests that need them say that they are skipped.
  const host = hostArchitecture();
  const ofHost = [plainBase, nodeLibraries, mountTools].map((obtain) => obtain.bind(undefined, host));
  for (const obtain of [promtool, imageTools, ...ofHost]) {
    await obtain(say).catch((error: unknown) => {
      if (!(error instanceof NoDebianPackages)) throw error;
      say(error.message);
    });
  }
  for (const referee of referees) {
    if (referee.builtOnDemand === undefined || process.argv[2] === "referees") await referee.obtain(say);
  }
  console.log(`prepared in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
