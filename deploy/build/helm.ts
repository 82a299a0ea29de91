/** Helm, built from its Go module once a machine: it checks and renders the chart. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { goBuild } from "../../src/sandbox/cluster/assets/go.ts";
import { cached } from "./cache.ts";

const module = "helm.sh/helm/v3";
const version = "3.22.0";
/** The Kubernetes that charts are rendered for when no cluster is asked. */
const kubernetes = { major: "1", minor: "36" };

/** The path of the helm command. The first time takes about two minutes. */
export function helm(say: (line: string) => void = () => {}): Promise<string> {
  const name = `helm-${version}-kubernetes-${kubernetes.major}.${kubernetes.minor}-${platform()}-${arch()}`;
  const make = async (output: string) => {
    say(`building helm ${version} with Go (about two minutes, once)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-helm-"));
    try {
      await writeFile(join(folder, "go.mod"), `module helm\ngo 1.26\nrequire ${module} v${version}\n`);
      await goBuild({ folder, package: `${module}/cmd/helm`, stamps: stamps(), output }, { environment: process.env });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return cached(name, make, { say });
}

/** What Helm's own build writes into it. */
function stamps(): string {
  const values = {
    "internal/version.version": `v${version}`,
    "pkg/chartutil.k8sVersionMajor": kubernetes.major,
    "pkg/chartutil.k8sVersionMinor": kubernetes.minor,
    "pkg/lint/rules.k8sVersionMajor": kubernetes.major,
    "pkg/lint/rules.k8sVersionMinor": kubernetes.minor,
  };
  return Object.entries(values)
    .map(([name, value]) => `-X ${module}/${name}=${value}`)
    .join(" ");
}
