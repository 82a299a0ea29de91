/** Images built and containers run by programs nobody here wrote: buildah and runc, from Debian. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { imageTools, mountTools, NoDebianPackages, nodeLibraries, plainBase } from "../../deploy/build/debian.ts";
import { run } from "../../deploy/build/run.ts";
import { type ImageBuilder, imageBuilder } from "../../deploy/image/builder.ts";

/** A store of images that are run, too. */
export interface ImageStore extends ImageBuilder {
  /** Runs a command in a container of an image, the way kubelet would have it: as the image's user, on a read-only root. */
  inContainer(image: string, options: ContainerOptions): Promise<string>;
  /** Starts a container that goes on running. */
  start(image: string, options: ContainerOptions): Promise<RunningContainer>;
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
  /** As a privileged container is: with every capability and the machine's devices, and mounts that can be written to. */
  readonly privileged?: boolean;
}

/** Of Linux. */
const status = "/proc/self/status";
const ownCapabilities = BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(existsSync(status) ? readFileSync(status, "utf8") : "")?.[1] ?? "0"}`);

interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly User?: string;
  readonly Env?: readonly string[];
}

export async function imageStore(): Promise<ImageStore> {
  const bin = join(await imageTools(), "bin");
  const built = await imageBuilder();
  const { folder, buildah } = built;
  const runc = join(bin, "runc");
  const state = ["--root", join(folder, "runc")];
  let containers = 0;
  const prepare = async (image: string, options: ContainerOptions) => {
    const container = (await buildah("from", "--pull-never", image)).trim();
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
    ...built,
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
  };
}

interface Spec {
  readonly process: object;
  readonly linux: { readonly namespaces: readonly { readonly type: string }[] };
  readonly mounts: readonly { readonly type: string; readonly destination: string }[];
}

/** What mounting and growing file systems takes of them, by their numbers. */
const mounting = { CAP_DAC_OVERRIDE: 1, CAP_DAC_READ_SEARCH: 2, CAP_SYS_RAWIO: 17, CAP_SYS_ADMIN: 21, CAP_SYS_RESOURCE: 24, CAP_MKNOD: 27 };

/** Those of them that this process has itself: it cannot give others. */
export const privilegedCapabilities: readonly string[] = Object.entries(mounting)
  .filter(([, bit]) => (ownCapabilities >> BigInt(bit)) & 1n)
  .map(([name]) => name);

/** As the chart's pods are: the host's network, no capabilities, nothing to be written. */
function filledIn(spec: Spec, image: ImageConfig, rootfs: string, options: ContainerOptions): object {
  const { command = image.Entrypoint ?? [], args = [], environment = {}, mounts = {}, privileged = false } = options;
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
      capabilities: Object.fromEntries(
        ["bounding", "effective", "permitted", "inheritable", "ambient"].map((set) => [set, privileged ? privilegedCapabilities : []]),
      ),
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    mounts: [
      ...spec.mounts.filter(({ type, destination }) => type !== "cgroup" && !(privileged && /^\/(dev|sys)(\/|$)/.test(destination))),
      ...Object.entries(privileged ? { "/dev": "/dev", "/sys": "/sys", ...mounts } : mounts).map(([destination, source]) => ({
        destination,
        source,
        type: "bind",
        options: privileged ? ["rbind", "rw"] : ["bind", "ro"],
      })),
    ],
    linux: {
      namespaces: ["mount", "pid", "ipc", "uts"].map((type) => ({ type })),
      ...(privileged && { resources: { devices: [{ allow: true, access: "rwm" }] } }),
    },
  };
}

/** Why images cannot be built and containers not be run here; undefined when they can. Obtains what is needed. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "building images and running containers here needs root";
  try {
    const architecture = hostArchitecture();
    await Promise.all([imageTools(), plainBase(architecture), nodeLibraries(architecture), mountTools(architecture)]);
    return undefined;
  } catch (error) {
    if (!(error instanceof NoDebianPackages)) throw error;
    return error.message;
  }
}
