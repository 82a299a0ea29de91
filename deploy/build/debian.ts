/** Programs from Debian's packages, unpacked into the cache: nothing is installed on the machine. */
import { cp, glob as globFiles, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Architecture, hostArchitecture } from "./architecture.ts";
import { cached, contentKey } from "./cache.ts";
import { run } from "./run.ts";

/** The machine has no way to get packages of Debian. */
export class NoDebianPackages extends Error {
  override readonly name = "NoDebianPackages";
}

export interface PackageOptions {
  /** Told what is going on. */
  readonly say?: ((line: string) => void) | undefined;
  /** Of the packages; this machine's unless given. Nothing of them is run, so that any will do. */
  readonly architecture?: Architecture;
  /** Leaves a note of each package where scanners of images look for it (`var/lib/dpkg/status.d`). */
  readonly withStatus?: boolean;
}

/** The folder that packages are unpacked into, all of them together. Rejects with `NoDebianPackages` where that cannot be done. */
export function debianPackages(name: string, packages: readonly string[], options: PackageOptions = {}): Promise<string> {
  const { say = () => {}, architecture = hostArchitecture(), withStatus = false } = options;
  const unpack = async (folder: string) => {
    say(`fetching ${packages.join(", ")} for ${architecture} from Debian`);
    const downloads = await mkdtemp(join(tmpdir(), "fairlead-debian-"));
    try {
      const settings = architecture === hostArchitecture() ? [] : await foreignLists(architecture, downloads);
      await run("apt-get", ["download", "-o", "APT::Sandbox::User=root", ...settings, ...packages], { cwd: downloads });
      for (const file of (await readdir(downloads)).filter((each) => each.endsWith(".deb")).sort()) {
        await run("dpkg-deb", ["--extract", join(downloads, file), folder]);
        if (withStatus) await noteStatus(join(downloads, file), folder);
      }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.split("\n")[0] : cause;
      throw new NoDebianPackages(`${packages.join(", ")} cannot be had from Debian: ${why}`, { cause });
    } finally {
      await rm(downloads, { recursive: true, force: true });
    }
  };
  return cached(`debian-${name}`, unpack, { say });
}

/** Lists of another architecture's packages, in a folder of their own: the machine's stay as they are. Gives apt's settings for them. */
async function foreignLists(architecture: Architecture, folder: string): Promise<readonly string[]> {
  const state = join(folder, "apt");
  for (const part of ["lists/partial", "cache/archives/partial"]) await mkdir(join(state, part), { recursive: true });
  await writeFile(join(state, "status"), "");
  const settings = Object.entries({
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Dir::State": state,
    "Dir::State::status": join(state, "status"),
    "Dir::Cache": join(state, "cache"),
  }).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  await run("apt-get", ["update", ...settings]);
  return settings;
}

/** Where scanners of images look. */
const notesFolder = "var/lib/dpkg/status.d";

async function noteStatus(file: string, folder: string): Promise<void> {
  const notes = join(folder, notesFolder);
  await mkdir(notes, { recursive: true });
  const control = await run("dpkg-deb", ["--field", file]);
  await writeFile(join(notes, /^Package: (\S+)$/m.exec(control)![1]!), control);
}

/** When a folder's packages were fetched, in milliseconds: the folder itself has the date that is in the packages. */
export async function fetchedAt(folder: string): Promise<number> {
  return (await stat(join(folder, notesFolder))).mtimeMs;
}

/** The packages that a folder was unpacked from, with their versions. */
export async function notedPackages(folder: string): Promise<readonly { readonly name: string; readonly version: string }[]> {
  const notes = join(folder, notesFolder);
  const controls = await Promise.all((await readdir(notes)).sort().map((name) => readFile(join(notes, name), "utf8")));
  return controls.map((control) => ({ name: /^Package: (.*)$/m.exec(control)![1]!, version: /^Version: (.*)$/m.exec(control)![1]! }));
}

/** Prometheus's checker of rules. */
export async function promtool(say?: (line: string) => void): Promise<string> {
  return join(await debianPackages("prometheus", ["prometheus"], { say }), "usr/bin/promtool");
}

const imageToolPackages = [
  [
    "buildah",
    "runc",
    "patchelf",
    "libdevmapper1.02.1",
    "libgpgme11",
    "libseccomp2",
    "libassuan0",
    "libgpg-error0",
    "libudev1",
    "libselinux1",
  ],
  ["libpcre2-8-0", "libcap2"],
].flat();

/** A builder of images and a runtime of containers, in a folder of programs. Both need to be root. */
export async function imageTools(say?: (line: string) => void): Promise<string> {
  const unpacked = await debianPackages("image-tools", imageToolPackages, { say });
  return await cached("image-tools", (folder) => relocate(unpacked, folder), say ? { say } : {});
}

/** Makes programs find the libraries beside them: buildah starts itself again with an empty environment, so that no variable would do. */
async function relocate(unpacked: string, folder: string): Promise<void> {
  const [bin, lib] = [join(folder, "bin"), join(folder, "lib")];
  await Promise.all([mkdir(bin, { recursive: true }), mkdir(lib, { recursive: true })]);
  const libraries = await glob(`{usr/,}lib/*-linux-gnu/*.so.*`, unpacked);
  for (const file of libraries) await cp(join(unpacked, file), join(lib, basename(file)), { dereference: true });
  for (const [program, path] of [
    ["buildah", "usr/bin/buildah"],
    ["runc", "usr/sbin/runc"],
  ] as const) {
    await cp(join(unpacked, path), join(bin, program));
    await run(join(unpacked, "usr/bin/patchelf"), ["--set-rpath", "$ORIGIN/../lib", join(bin, program)]);
  }
  for (const file of await readdir(lib)) await run(join(unpacked, "usr/bin/patchelf"), ["--set-rpath", "$ORIGIN", join(lib, file)]);
}

/** The files of a base without a shell, as the Dockerfile's has them: the C and C++ libraries and certificates. */
export function plainBase(architecture: Architecture, say?: (line: string) => void): Promise<string> {
  const packages = ["base-files", "libc6", "libgcc-s1", "libstdc++6", "ca-certificates", "netbase", "tzdata"];
  return debianPackages(`plain-base-${architecture}`, packages, { architecture, say, withStatus: true });
}

/** What Node's own image has of libraries beside that. */
export function nodeLibraries(architecture: Architecture, say?: (line: string) => void): Promise<string> {
  return debianPackages(`node-libraries-${architecture}`, ["libatomic1"], { architecture, say, withStatus: true });
}

/** The tools that make, check, mount and grow file systems and read disks' statistics, with the libraries that the plain base has not. */
export function mountTools(architecture: Architecture, say?: (line: string) => void): Promise<string> {
  const packages = [
    ["dash", "e2fsprogs", "mount", "nvme-cli", "util-linux", "xfsprogs"],
    ["libblkid1", "libcap2", "libcom-err2", "libdbus-1-3", "libext2fs2", "libgcrypt20", "libgpg-error0", "libinih1", "libjson-c5"],
    ["liblz4-1", "liblzma5", "libmount1", "libnvme1", "libpcre2-8-0", "libselinux1", "libsmartcols1", "libssl3", "libsystemd0"],
    ["libudev1", "liburcu8", "libuuid1", "libzstd1", "zlib1g"],
  ].flat();
  return debianPackages(`mount-tools-${architecture}-${contentKey(...packages)}`, packages, { architecture, say, withStatus: true });
}

/** The folders of everything that images have from Debian. */
export function imageBases(architecture: Architecture): Promise<string[]> {
  return Promise.all([plainBase, nodeLibraries, mountTools].map((base) => base(architecture)));
}

async function glob(pattern: string, cwd: string): Promise<readonly string[]> {
  return await Array.fromAsync(globFiles(pattern, { cwd }));
}
