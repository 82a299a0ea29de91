/** The reference programs, built from their Go module into the project's cache folder. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cached } from "../../deploy/build/cache.ts";
import { goBuild } from "../../src/sandbox/cluster/assets/go.ts";

/** The release they are built from. */
export const referenceVersion = "v1.37.0";

/** The path of the reference's controller manager. `say` is told before the one build that takes minutes. */
export function referenceControllerManager(say?: (line: string) => void): Promise<string> {
  return referenceProgram("aws-cloud-controller-manager", say);
}

/** The path of the reference's credential provider. */
export function referenceCredentialProvider(say?: (line: string) => void): Promise<string> {
  return referenceProgram("ecr-credential-provider", say);
}

function referenceProgram(name: string, say: (line: string) => void = () => {}): Promise<string> {
  const version = referenceVersion;
  const make = async (output: string) => {
    say(`building ${name} ${version} with Go (some minutes, once)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-reference-"));
    try {
      await writeFile(join(folder, "go.mod"), `module reference\n\ngo 1.26\n\nrequire k8s.io/cloud-provider-aws ${version}\n`);
      await goBuild({ folder, package: `k8s.io/cloud-provider-aws/cmd/${name}`, output }, { environment: process.env });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return cached(`reference/${name}-${version}`, make, { say });
}

/** The release of the termination handler. */
export const terminationHandlerVersion = "v1.25.1";

/** The path of the reference's termination handler. */
export function referenceTerminationHandler(say: (line: string) => void = () => {}): Promise<string> {
  const module = "github.com/aws/aws-node-termination-handler";
  const make = async (output: string) => {
    say(`building the node termination handler ${terminationHandlerVersion} with Go (some minutes, once)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-reference-"));
    try {
      await writeFile(join(folder, "go.mod"), `module reference\n\ngo 1.26\n\nrequire ${module} ${terminationHandlerVersion}\n`);
      await goBuild({ folder, package: `${module}/cmd`, output }, { environment: process.env });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return cached(`reference/node-termination-handler-${terminationHandlerVersion}`, make, { say });
}
