/** The package as people install it: packed, and installed into an empty folder by npm. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodePackages } from "../../deploy/build/node-packages.ts";
import { pack } from "../../deploy/build/package.ts";
import { run } from "../../deploy/build/run.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** An installation. */
export interface InstalledPackage {
  /** Empty but for what npm put there. */
  readonly folder: string;
  /** Where the commands are. */
  readonly bin: string;
  /** A search path with the commands, and beside them what the machine has, not what this repository brings. */
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Installs a tarball, or packs one first. No registry is asked: the one dependency that this machine needs, its Node, is given to npm from the
 * repository's own modules; the others are optional and for other machines.
 */
export async function installPackage(packed?: string): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-package-"));
  const home = join(folder, "installed");
  await mkdir(home);
  const tarball = packed ?? (await pack(join(folder, "packed")));
  await writeFile(join(home, "package.json"), '{"private": true}\n');
  const options = ["--offline", "--no-audit", "--no-fund", "--cache", join(folder, "cache")];
  await run("npm", ["install", ...options, tarball, join(root, "node_modules", nodePackages[`${process.platform}-${process.arch}`]!)], {
    cwd: home,
  });
  const bin = join(home, "node_modules/.bin");
  // npm puts its Node there too, as the repository's own modules are found first: the machine's is what starts the launcher.
  await rm(join(bin, "node"), { force: true });
  const machines = (process.env.PATH ?? "").split(":").filter((place) => !place.includes("node_modules"));
  return { folder: home, bin, path: [bin, ...machines].join(":"), remove: () => rm(folder, { recursive: true, force: true }) };
}
