/** The CSI project's own sidecars, built from their Go modules: what drives a driver in other clusters. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cached, cachedPath } from "../../deploy/build/cache.ts";
import { go } from "../../src/sandbox/cluster/assets/go.ts";
import { program, type ReferenceProgram } from "./reference.ts";

/** The kinds of snapshots, and their definitions. */
const snapshotClient = { module: "github.com/kubernetes-csi/external-snapshotter/client/v8", version: "v8.6.0" } as const;

const snapshotter = {
  module: "github.com/kubernetes-csi/external-snapshotter/v8",
  version: "v8.6.0",
  takesItsReplacements: true,
  // Its own go.mod points this one at a folder beside it.
  alsoRequires: [`${snapshotClient.module} ${snapshotClient.version}`],
} as const;

/** Of every sidecar the newest release that Go's module proxy serves with a verified sum. The attacher is not among them. */
const sidecars = {
  "csi-provisioner": {
    name: "csi-provisioner",
    module: "github.com/kubernetes-csi/external-provisioner/v5",
    version: "v5.1.0",
    package: "cmd/csi-provisioner",
    takesItsReplacements: true,
  },
  "csi-resizer": {
    name: "csi-resizer",
    module: "github.com/kubernetes-csi/external-resizer",
    version: "v1.14.0",
    package: "cmd/csi-resizer",
    takesItsReplacements: true,
  },
  "csi-snapshotter": { ...snapshotter, name: "csi-snapshotter", package: "cmd/csi-snapshotter" },
  "snapshot-controller": { ...snapshotter, name: "snapshot-controller", package: "cmd/snapshot-controller" },
} as const satisfies Record<string, ReferenceProgram>;

export type Sidecar = keyof typeof sidecars;

/** The path of a sidecar. `say` is told before a build, which takes minutes. */
export function sidecar(name: Sidecar, say?: (line: string) => void): Promise<string> {
  return program(sidecars[name], say);
}

/** The path of a manifest with the definitions of VolumeSnapshot, VolumeSnapshotContent and VolumeSnapshotClass. */
export function snapshotDefinitions(): Promise<string> {
  const { module, version } = snapshotClient;
  return cached(`reference/snapshot-definitions-${version}.yaml`, async (output) => {
    const about = await go(["mod", "download", "-json", `${module}@${version}`], tmpdir(), { environment: process.env });
    const folder = join((JSON.parse(about) as { Dir: string }).Dir, "config", "crd");
    const files = (await readdir(folder)).filter((file) => file.startsWith("snapshot.storage.k8s.io_")).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    // Each begins with its own separator.
    await writeFile(output, texts.join("\n"));
  });
}

/** Builds all of them, one after the other: each takes every core there is. */
export async function allSidecars(say?: (line: string) => void): Promise<void> {
  for (const name of Object.keys(sidecars) as Sidecar[]) await sidecar(name, say);
  await snapshotDefinitions();
}

/** What is made last, once all of them are there. */
export async function builtSidecars(): Promise<string> {
  return cachedPath(`reference/snapshot-definitions-${snapshotClient.version}.yaml`);
}
