/** The reference programs, built from their Go module into the project's cache folder. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cached, cachedPath } from "../../deploy/build/cache.ts";
import { go, goBuild } from "../../src/sandbox/cluster/assets/go.ts";

type Say = (line: string) => void;

/** The release they are built from. */
export const referenceVersion = "v1.37.0";

/** The path of the reference's controller manager. `say` is told before the one build that takes minutes. */
export function referenceControllerManager(say?: Say): Promise<string> {
  return referenceProgram("aws-cloud-controller-manager", say);
}

/** The path of the reference's credential provider. */
export function referenceCredentialProvider(say?: Say): Promise<string> {
  return referenceProgram("ecr-credential-provider", say);
}

function referenceProgram(name: string, say?: Say): Promise<string> {
  const module = "k8s.io/cloud-provider-aws";
  return program({ name, module, version: referenceVersion, package: `cmd/${name}` }, say);
}

/** The release of the termination handler. */
export const terminationHandlerVersion = "v1.25.1";

/** The path of the reference's termination handler. */
export function referenceTerminationHandler(say?: Say): Promise<string> {
  const module = "github.com/aws/aws-node-termination-handler";
  return program({ name: "node-termination-handler", module, version: terminationHandlerVersion, package: "cmd" }, say);
}

/** The release of the EBS CSI driver. */
const volumeDriverVersion = "v1.63.0";

/** The path of the reference's EBS CSI driver. */
export function referenceVolumeDriver(say?: Say): Promise<string> {
  const module = "github.com/kubernetes-sigs/aws-ebs-csi-driver";
  return program({ name: "aws-ebs-csi-driver", module, version: volumeDriverVersion, package: "cmd", takesItsReplacements: true }, say);
}

/** Where it is once it is built. */
export async function builtVolumeDriver(): Promise<string> {
  return cachedPath(cacheKey({ name: "aws-ebs-csi-driver", version: volumeDriverVersion }));
}

/** Between its releases 3.2 and 3.3: the newest of which Go's module proxy knows. */
const loadBalancerController = { name: "aws-load-balancer-controller", version: "v0.0.0-20260423195125-93ff3b5fdaad" };

/** The path of the reference's load balancer controller. Its module is fetched by the address of its repository. */
export function referenceLoadBalancerController(say?: Say): Promise<string> {
  const { name, version } = loadBalancerController;
  const module = `sigs.k8s.io/${name}`;
  return program({ name, version, module, package: "", replacements: [`${module} => github.com/kubernetes-sigs/${name} ${version}`] }, say);
}

/** Where it is once it is built. */
export async function builtLoadBalancerController(): Promise<string> {
  return cachedPath(cacheKey(loadBalancerController));
}

const openTofu = { name: "opentofu", version: "v1.12.6" };

/** The path of OpenTofu. Without the stamp it takes itself for a development build. */
export function referenceOpenTofu(say?: Say): Promise<string> {
  const module = "github.com/opentofu/opentofu";
  return program({ ...openTofu, module, package: "cmd/tofu", takesItsReplacements: true, stamps: `-X ${module}/version.dev=no` }, say);
}

/** Where it is once it is built. */
export async function builtOpenTofu(): Promise<string> {
  return cachedPath(cacheKey(openTofu));
}

export interface ReferenceProgram {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Below the module; empty: the module itself. */
  readonly package: string;
  readonly replacements?: readonly string[];
  /** Builds with the replacements of the module's own go.mod as well: Go applies none of a dependency. */
  readonly takesItsReplacements?: boolean;
  /** Modules beside it, each with its version. */
  readonly alsoRequires?: readonly string[];
  /** Linker flags of its own. */
  readonly stamps?: string;
}

/** The name of a program in the project's cache folder. */
export function cacheKey({ name, version }: Pick<ReferenceProgram, "name" | "version">): string {
  return `reference/${name}-${version}`;
}

/** The path of a program that is built from a Go module of this version. */
export function program(reference: ReferenceProgram, say: Say = () => {}): Promise<string> {
  const { name, module, version, alsoRequires = [], stamps = "" } = reference;
  const make = async (output: string) => {
    say(`building ${name} ${version} with Go (some minutes, once)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-reference-"));
    try {
      const required = [`${module} ${version}`, ...alsoRequires].map((each) => `require ${each}\n`).join("");
      const replaced = (await replacementsOf(reference, folder)).map((each) => `replace ${each}\n`).join("");
      await writeFile(join(folder, "go.mod"), `module reference\n\ngo 1.26\n\n${required}${replaced}`);
      const path = [module, reference.package].filter(Boolean).join("/");
      await goBuild({ folder, package: path, output, stamps }, { environment: process.env });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return cached(cacheKey(reference), make, { say });
}

interface GoModule {
  readonly Path: string;
  readonly Version?: string;
}

async function replacementsOf(reference: ReferenceProgram, folder: string): Promise<readonly string[]> {
  const { module, version, replacements = [], takesItsReplacements = false } = reference;
  if (!takesItsReplacements) return replacements;
  const options = { environment: process.env };
  const { GoMod } = JSON.parse(await go(["mod", "download", "-json", `${module}@${version}`], folder, options)) as { GoMod: string };
  const file = await go(["mod", "edit", "-json", GoMod], folder, options);
  const { Replace } = JSON.parse(file) as { Replace: readonly { Old: GoModule; New: GoModule }[] | null };
  // One without a version is a folder of the module's repository.
  const own = (Replace ?? []).filter(({ New }) => New.Version !== undefined);
  const side = ({ Path, Version }: GoModule) => [Path, Version].filter(Boolean).join(" ");
  return [...replacements, ...own.map(({ Old, New }) => `${side(Old)} => ${side(New)}`)];
}
