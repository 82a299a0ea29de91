/** What a release consists of: each part writes its files into a folder of its own. */
import { copyFile, cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { architectures, hostArchitecture } from "../build/architecture.ts";
import { buildInto } from "../build/credential-provider.ts";
import { pack } from "../build/package.ts";
import { billOfMaterials } from "../build/sbom.ts";
import { epochOf, type Stamp } from "../build/stamp.ts";
import { renderManifests } from "../chart/render.ts";
import { buildImages, imageBuilder, imageTargets } from "../image/builder.ts";
import { chartArchive, chartLayout } from "./chart.ts";
import { filesBelow, tar } from "./tar.ts";
import { changelogSection } from "./version.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const deploy = join(root, "deploy");

export interface PartContext {
  readonly version: string;
  readonly stamp: Stamp;
  readonly say: (line: string) => void;
}

interface Part {
  /** What it is, for who waits for it. */
  readonly about: string;
  make(folder: string, context: PartContext): Promise<void>;
}

const table = {
  npm: {
    about: "the package of the command, for npm",
    async make(folder) {
      await pack(folder);
    },
  },
  chart: {
    about: "the chart, as an archive and as an OCI layout",
    async make(folder, { version, stamp }) {
      const chart = join(deploy, "chart");
      const archive = await chartArchive(chart, epochOf(stamp));
      await writeFile(join(folder, `fairlead-${version}.tgz`), archive);
      const description = await readFile(join(chart, "Chart.yaml"), "utf8");
      await writeFile(join(folder, `fairlead-${version}.oci.tar`), chartLayout(archive, description, stamp.date));
    },
  },
  executables: {
    about: "the credential provider as single executables, for both architectures",
    async make(folder) {
      await buildInto(folder, architectures);
    },
  },
  manifests: {
    about: "plain manifests",
    async make(folder) {
      await copyFile(join(deploy, "manifests/kustomization.yaml"), join(folder, "kustomization.yaml"));
      for (const [name, text] of Object.entries(await renderManifests())) await writeFile(join(folder, name), text);
    },
  },
  crds: {
    about: "definitions of custom resources",
    make: (folder) => cp(join(deploy, "chart/files"), folder, { recursive: true }),
  },
  iam: {
    about: "IAM policies",
    make: (folder) => cp(join(deploy, "iam"), folder, { recursive: true, filter: (from) => !from.endsWith(".ts") }),
  },
  sbom: {
    about: "bills of materials",
    async make(folder, { version }) {
      await writeFile(join(folder, `fairlead-${version}.spdx.json`), await billOfMaterials("spdx"));
      await writeFile(join(folder, `fairlead-${version}.cdx.json`), await billOfMaterials("cyclonedx"));
    },
  },
  changelog: {
    about: "what is new",
    async make(folder, { version }) {
      const text = await readFile(join(root, "CHANGELOG.md"), "utf8");
      await writeFile(join(folder, `v${version}.md`), changelogSection(text, version));
    },
  },
  images: {
    about: `images of ${imageTargets.join(", ")} for both architectures (about three minutes)`,
    make: (folder, context) => makeImages(folder, context, architectures),
  },
  "host-image": {
    about: "the images that the chart runs, for this machine's architecture only",
    make: (folder, context) => makeImages(folder, context, [hostArchitecture()], ["fairlead", "ebs-csi-driver"]),
  },
} satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof table;

export const parts: Readonly<Record<PartName, Part>> = table;

/** What a release has. `host-image` is for tests. */
export const releaseParts = (Object.keys(parts) as PartName[]).filter((name) => name !== "host-image");

/** Makes one part; it stands in its folder when it is complete. */
export async function makePart(name: PartName, folder: string, context: PartContext): Promise<void> {
  const unfinished = join(folder, `.${name}`);
  await mkdir(unfinished, { recursive: true });
  await parts[name].make(unfinished, context);
  await rename(unfinished, join(folder, name));
}

/** An OCI archive for each target and architecture; nothing in them is run, so that no emulation is needed. */
async function makeImages(
  folder: string,
  { version, stamp, say }: PartContext,
  forArchitectures: typeof architectures,
  targets: readonly string[] = imageTargets,
): Promise<void> {
  const images = await imageBuilder();
  try {
    for (const architecture of forArchitectures) {
      say(`images for ${architecture}`);
      const names = Object.fromEntries(targets.map((target) => [target, `localhost/${target}:${architecture}`]));
      await buildImages(images, names, { architecture, version: `v${version}`, stamp });
      for (const [target, name] of Object.entries(names)) {
        const path = join(folder, `${target}-${version}-linux-${architecture}.oci.tar`);
        // Not as an archive: those of buildah are dated with the moment.
        const layout = join(images.folder, `layout-${target}-${architecture}`);
        await images.buildah("push", "--format=oci", name, `oci:${layout}:v${version}`);
        await writeFile(path, tar(await filesBelow(layout), epochOf(stamp)));
      }
    }
  } finally {
    await images.remove();
  }
}

/** The files of a part that was made, below the folder of the release. */
export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.map((path) => path.slice(folder.length).replace(/^\/+/, "")).sort();
}
