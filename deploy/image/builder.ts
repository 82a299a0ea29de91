/** Builds the Dockerfile's images with buildah from Debian, as root and without a network: on a base of Debian's packages. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Architecture, hostArchitecture } from "../build/architecture.ts";
import { imageTools, nodeLibraries, plainBase } from "../build/debian.ts";
import { run } from "../build/run.ts";
import { epochOf, type Stamp } from "../build/stamp.ts";
import { assemble } from "./assemble.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The folders that the Dockerfile's first stage makes. */
const folders = { fairlead: undefined, "credential-provider": "credential-provider", "ebs-csi-driver": "mount-tools" } as const;

/** The targets of the Dockerfile. Their stages copy and run nothing: they can be built for any architecture anywhere. */
export const imageTargets = ["fairlead", "cloud-controller-manager", "credential-provider", "ebs-csi-driver"] as const;

/** A store of images in a folder of its own. */
export interface ImageBuilder {
  readonly folder: string;
  buildah(command: string, ...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

export async function imageBuilder(): Promise<ImageBuilder> {
  const bin = join(await imageTools(), "bin");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-images-"));
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const storage = { driver: "vfs", graphroot: join(folder, "graph"), runroot: join(folder, "run") };
  const storageText = Object.entries(storage).map(([key, value]) => `${key} = "${value}"\n`);
  const env = {
    BUILDAH_ISOLATION: "chroot",
    CONTAINERS_STORAGE_CONF: await file("storage.conf", `[storage]\n${storageText.join("")}`),
    CONTAINERS_REGISTRIES_CONF: await file("registries.conf", "unqualified-search-registries = []\n"),
    CONTAINERS_CONF: await file("containers.conf", ""),
  };
  const policy = await file("policy.json", '{"default": [{"type": "insecureAcceptAnything"}]}');
  const withPolicy = ["build", "from", "pull", "push"];
  const buildah: ImageBuilder["buildah"] = (command, ...args) =>
    run(join(bin, "buildah"), [command, ...(withPolicy.includes(command) ? ["--signature-policy", policy] : []), ...args], { env });
  return {
    folder,
    buildah,
    async remove() {
      await buildah("rm", "--all");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface BuildOptions {
  /** This machine's unless given. */
  readonly architecture?: Architecture;
  readonly version?: string;
  /** What the image is labelled with, and the date of everything in it; else it is now. */
  readonly stamp?: Stamp;
}

/**
 * Builds targets of the Dockerfile, by the names that they are to have. The stage that runs npm is replaced by what it makes,
 * which assemble.ts makes here too; the bases are made from Debian's packages, as those that the Dockerfile names are.
 */
export async function buildImages(
  images: ImageBuilder,
  targets: Readonly<Record<string, string>>,
  { architecture = hostArchitecture(), version = "v0.0.0-test", stamp }: BuildOptions = {},
): Promise<void> {
  const made = join(images.folder, `made-${architecture}`);
  for (const [name, extra] of Object.entries(folders)) {
    if (name === "fairlead" || name in targets) await assemble(join(made, "out", name), { architecture, extra });
  }
  const common = [`--platform=linux/${architecture}`, ...(stamp ? [`--timestamp=${epochOf(stamp)}`] : [])];
  const base = await fromFolder(images, "gcr.io/distroless/cc-debian12", await plainBase(architecture), common);
  const buildBase = await fromFolder(images, "docker.io/library/node", await nodeLibraries(architecture), common);
  const values = { BASE_DIGEST: base, BUILD_BASE_DIGEST: buildBase, VERSION: version, ...(stamp && { REVISION: stamp.commit }) };
  const flags = [
    "--pull-never",
    `--build-context=build=${made}`,
    ...Object.entries(values).map(([name, value]) => `--build-arg=${name}=${value}`),
  ];
  for (const [target, name] of Object.entries(targets)) {
    const own = [`--target=${target}`, `--tag=${name}`, "--file", join(root, "deploy/image/Dockerfile")];
    await images.buildah("build", ...common, ...flags, ...own, root);
  }
}

/** Makes an image of a folder's files, and resolves with its digest. */
async function fromFolder(images: ImageBuilder, name: string, files: string, flags: readonly string[]): Promise<string> {
  const dockerfile = join(images.folder, "Dockerfile");
  await writeFile(dockerfile, "FROM scratch\nCOPY . /\n");
  await images.buildah("build", ...flags, "--file", dockerfile, "--tag", name, files);
  const listed = JSON.parse(await images.buildah("images", "--json", name)) as readonly { readonly digest: string }[];
  return listed[0]!.digest;
}
