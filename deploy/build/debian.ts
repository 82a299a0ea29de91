/** Programs from Debian's packages, unpacked into the cache: nothing is installed on the machine. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
