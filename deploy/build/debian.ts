/** Programs from Debian's packages, unpacked into the cache: nothing is installed on the machine. */
import { cp, glob as globFiles, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { cached } from "./cache.ts";
import { run } from "./run.ts";

/** The machine has no way to get packages of Debian. */
export class NoDebianPackages extends Error {
  override readonly name = "NoDebianPackages";
}

/** The folder that packages are unpacked into, all of them together. Rejects with `NoDebianPackages` where that cannot be done. */
export function debianPackages(name: string, packages: readonly string[], say: (line: string) => void = () => {}): Promise<string> {
  const unpack = async (folder: string) => {
    say(`fetching ${packages.join(", ")} from Debian`);
    const downloads = await mkdtemp(join(tmpdir(), "fairlead-debian-"));
    try {
      await run("apt-get", ["download", "-o", "APT::Sandbox::User=root", ...packages], { cwd: downloads });
      for (const file of await readdir(downloads)) await run("dpkg-deb", ["--extract", join(downloads, file), folder]);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.split("\n")[0] : cause;
      throw new NoDebianPackages(`${packages.join(", ")} cannot be had from Debian: ${why}`, { cause });
    } finally {
      await rm(downloads, { recursive: true, force: true });
    }
  };
  return cached(`debian-${name}`, unpack, { say });
}

/** Prometheus's checker of rules. */
export async function promtool(say?: (line: string) => void): Promise<string> {
  return join(await debianPackages("prometheus", ["prometheus"], say), "usr/bin/promtool");
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
  const unpacked = await debianPackages("image-tools", imageToolPackages, say);
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
export function plainBase(say?: (line: string) => void): Promise<string> {
  return debianPackages("plain-base", ["base-files", "libc6", "libgcc-s1", "libstdc++6", "ca-certificates", "netbase", "tzdata"], say);
}

/** What Node's own image has of libraries beside that. */
export function nodeLibraries(say?: (line: string) => void): Promise<string> {
  return debianPackages("node-libraries", ["libatomic1"], say);
}

async function glob(pattern: string, cwd: string): Promise<readonly string[]> {
  return await Array.fromAsync(globFiles(pattern, { cwd }));
}
