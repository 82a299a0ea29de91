/** Helm, built from its Go module once a machine: it checks and renders the chart. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { cached } from "./cache.ts";
import { run } from "./run.ts";

const module = "helm.sh/helm/v3";
const version = "3.22.0";

/** The path of the helm command. The first time takes about two minutes. */
export function helm(say: (line: string) => void = () => {}): Promise<string> {
  return cached(`helm-${version}-${platform()}-${arch()}`, async (path) => {
    say(`building helm ${version} with Go (about two minutes, once)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-helm-"));
    try {
      await writeFile(join(folder, "go.mod"), `module helm\ngo 1.26\nrequire ${module} v${version}\n`);
      const stamp = `-X ${module}/internal/version.version=v${version}`;
      const args = ["build", "-mod=mod", "-trimpath", `-ldflags=-s -w ${stamp}`, "-o", join(folder, "helm"), `${module}/cmd/helm`];
      // A workspace of whoever runs us must not matter.
      await run("go", args, { cwd: folder, env: { GOWORK: "off" } });
      await rename(join(folder, "helm"), path).catch(() => run("cp", [join(folder, "helm"), path]));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}
