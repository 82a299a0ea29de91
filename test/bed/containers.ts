/** Images built and containers run by programs nobody here wrote: buildah and runc, from Debian. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostArchitecture } from "../../deploy/build/credential-provider.ts";
import { imageTools, NoDebianPackages, nodeLibraries, plainBase } from "../../deploy/build/debian.ts";
import { run } from "../../deploy/build/run.ts";
import { assemble } from "../../deploy/image/assemble.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A store of images in a folder of its own. */
export interface ImageStore {
  readonly folder: string;
  buildah(...args: readonly string[]): Promise<string>;
  /** Makes an image of a folder's files, and resolves with its digest. */
  fromFolder(name: string, files: string): Promise<string>;
  /** Runs a command in a container of an image, the way kubelet would have it: as the image's user, on a read-only root. */
  inContainer(image: string, options: ContainerOptions): Promise<string>;
  /** Starts a container that goes on running. */
  start(image: string, options: ContainerOptions): Promise<RunningContainer>;
  remove(): Promise<void>;
}

export interface RunningContainer {
  /** What it has printed so far. */
  output(): string;
  /** Asks it to end, and waits until it has; resolves with its exit status. */
  stop(): Promise<number>;
}

export interface ContainerOptions {
  /** In place of the image's entrypoint, as `kubectl exec` has it. */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Files that are seen in the container, by their path there. */
  readonly mounts?: Readonly<Record<string, string>>;
}

interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly User?: string;
  readonly Env?: readonly string[];
}

export async function imageStore(): Promise<ImageStore> {
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
  const buildah = (...args: readonly string[]) => run(join(bin, "buildah"), args, { env });
  const runc = join(bin, "runc");
  const state = ["--root", join(folder, "runc")];
  let containers = 0;
  const prepare = async (image: string, options: ContainerOptions) => {
    const container = (await buildah("from", "--signature-policy", policy, "--pull-never", image)).trim();
    const rootfs = (await buildah("mount", container)).trim();
    const inspected = JSON.parse(await buildah("inspect", "--type", "image", image)) as { OCIv1: { config: ImageConfig } };
    const name = `fairlead-${process.pid}-${++containers}`;
    const bundle = join(folder, name);
    await mkdir(bundle);
    await run(runc, ["spec"], { cwd: bundle });
    const spec = JSON.parse(await readFile(join(bundle, "config.json"), "utf8")) as Spec;
    await writeFile(join(bundle, "config.json"), JSON.stringify(filledIn(spec, inspected.OCIv1.config, rootfs, options)));
    return { args: [...state, "run", "--bundle", bundle, name] };
  };
  return {
    folder,
    buildah: (command, ...args) => buildah(command!, ...(command === "build" ? ["--signature-policy", policy] : []), ...args),
    async fromFolder(name, files) {
      const dockerfile = await file("Dockerfile", "FROM scratch\nCOPY . /\n");
      await buildah("build", "--signature-policy", policy, "--file", dockerfile, "--tag", name, files);
      const listed = JSON.parse(await buildah("images", "--json", name)) as readonly { readonly digest: string }[];
      return listed[0]!.digest;
    },
    async inContainer(image, options) {
      const { args } = await prepare(image, options);
      return await run(runc, args);
    },
    async start(image, options) {
      const { args } = await prepare(image, options);
      const child = spawn(runc, args, { stdio: ["ignore", "pipe", "pipe"] });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      const ended = once(child, "exit") as Promise<[number]>;
      return {
        output: () => output,
        async stop() {
          // Passed on to the container.
          child.kill("SIGTERM");
          return (await ended)[0];
        },
      };
    },
    async remove() {
      await buildah("rm", "--all");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Spec {
  readonly process: object;
  readonly linux: { readonly namespaces: readonly { readonly type: string }[] };
  readonly mounts: readonly { readonly type: string }[];
}

/** As the chart's pods are: the host's network, no capabilities, nothing to be written. */
function filledIn(spec: Spec, image: ImageConfig, rootfs: string, options: ContainerOptions): object {
  const { command = image.Entrypoint ?? [], args = [], environment = {}, mounts = {} } = options;
  const [uid = 0, gid = uid] = (image.User ?? "0").split(":").map(Number);
  return {
    ...spec,
    process: {
      ...spec.process,
      terminal: false,
      user: { uid, gid },
      args: [...command, ...args],
      env: [...(image.Env ?? []), ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
      cwd: "/",
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    mounts: [
      ...spec.mounts.filter(({ type }) => type !== "cgroup"),
      ...Object.entries(mounts).map(([destination, source]) => ({ destination, source, type: "bind", options: ["bind", "ro"] })),
    ],
    linux: { namespaces: ["mount", "pid", "ipc", "uts"].map((type) => ({ type })) },
  };
}

/**
 * Builds targets of the Dockerfile, by the names that they are to have. The stage that runs npm is replaced by what it makes,
 * which assemble.ts makes here too; the bases are made from Debian's packages, as those that the Dockerfile names are.
 */
export async function buildImages(images: ImageStore, targets: Readonly<Record<string, string>>): Promise<void> {
  const made = join(images.folder, "made");
  const architecture = hostArchitecture();
  await assemble(join(made, "out/fairlead"), { architecture, withCredentialProvider: false });
  if ("credential-provider" in targets)
    await assemble(join(made, "out/credential-provider"), { architecture, withCredentialProvider: true });
  const base = await images.fromFolder("gcr.io/distroless/cc-debian12", await plainBase());
  const buildBase = await images.fromFolder("docker.io/library/node", await nodeLibraries());
  const digests = [`--build-arg=BASE_DIGEST=${base}`, `--build-arg=BUILD_BASE_DIGEST=${buildBase}`, "--build-arg=VERSION=v0.0.0-test"];
  for (const [target, name] of Object.entries(targets)) {
    const flags = ["--pull-never", `--build-context=build=${made}`, `--target=${target}`, `--tag=${name}`, ...digests];
    await images.buildah("build", ...flags, "--file", join(root, "deploy/image/Dockerfile"), root);
  }
}

/** Why images cannot be built and containers not be run here; undefined when they can. Obtains what is needed. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "building images and running containers here needs root";
  try {
    await Promise.all([imageTools(), plainBase(), nodeLibraries()]);
    return undefined;
  } catch (error) {
    if (!(error instanceof NoDebianPackages)) throw error;
    return error.message;
  }
}
