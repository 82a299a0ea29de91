/**
 * Makes everything that a release consists of, and stops before anything is uploaded or signed: it prints the commands.
 *
 *     npm run release -- --version 0.2.0            into release/v0.2.0
 *     npm run release -- --version 0.2.0 --prepare  writes the version into the sources first, for you to commit
 *     npm run release -- --version 0.2.0 --verify   makes it a second time from a fresh clone, and compares
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cacheFolder } from "../../src/sandbox/cluster/assets/assets.ts";
import { architectures } from "../build/architecture.ts";
import { fetchedAt, imageBases } from "../build/debian.ts";
import { run } from "../build/run.ts";
import { stamp } from "../build/stamp.ts";
import { commandsAfter } from "./commands.ts";
import { makePart, type PartName, parts, releaseParts } from "./parts.ts";
import { certify, checksumsIn, type Digest, differences } from "./provenance.ts";
import { otherVersions, parseVersion, writeVersion } from "./version.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface ReleaseOptions {
  readonly version: string;
  /** Where it is made; must not exist. */
  readonly folder: string;
  /** All unless given. */
  readonly parts?: readonly PartName[];
  readonly say?: (line: string) => void;
}

/** Makes a release from the sources as they are; resolves with the digests of its files. */
export async function makeRelease(options: ReleaseOptions): Promise<readonly Digest[]> {
  const { version, folder, parts: chosen = releaseParts, say = () => {} } = options;
  if (existsSync(folder))
    throw new Error(`${folder} is there already: a release is never overwritten; remove it or name another with --out`);
  const others = await otherVersions(root, version);
  if (others.length > 0) {
    throw new Error(
      `the sources are not of version ${version}: ${others.join(", ")}; \`npm run release -- --version ${version} --prepare\` writes it`,
    );
  }
  await mkdir(folder, { recursive: true });
  for (const [index, name] of chosen.entries()) {
    const begun = performance.now();
    const place = `${index + 1}/${chosen.length} ${name}`;
    say(`${place}: ${parts[name].about}`);
    await makePart(name, folder, { version, stamp: stamp(), say: (line) => say(`${place}: ${line}`) });
    say(`${place}: made in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  }
  return await certify(folder, version, stamp());
}

/** Makes the release of a commit again, in a clone with packages of its own and nothing cached that is built from our sources. */
async function verify(version: string, folder: string, say: (line: string) => void): Promise<string[]> {
  const place = await mkdtemp(join(tmpdir(), "fairlead-again-"));
  try {
    say("again, from a clone of the commit");
    const clone = join(place, "clone");
    await run("git", ["clone", "--quiet", root, clone]);
    await run("git", ["checkout", "--quiet", stamp().commit], { cwd: clone });
    await run("npm", ["ci", "--ignore-scripts"], { cwd: clone });
    const again = join(place, "again");
    const flags = ["--version", version, "--out", again];
    await run("npm", ["run", "--silent", "release", "--", ...flags], {
      cwd: clone,
      env: { FAIRLEAD_CACHE: await cacheWithoutOwn(place) },
    });
    return differences(await checksumsIn(folder), await checksumsIn(again));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The cache of this machine without what was built from our own sources. */
async function cacheWithoutOwn(place: string): Promise<string> {
  const [usual, folder] = [cacheFolder(process.env), join(place, "cache")];
  await mkdir(folder);
  const others = (await readdir(usual)).filter(
    (name) => name !== "ecr-credential-provider" && !/\.(lock|build-\w+|unfinished-\w+)$/.test(name),
  );
  await Promise.all(others.map((name) => symlink(join(usual, name), join(folder, name))));
  return folder;
}

/** What forbids a release of this state of a repository. */
export async function objections(repository: string, version: string): Promise<string[]> {
  const git = async (...args: readonly string[]) => (await run("git", ["-C", repository, ...args])).trim();
  const found: string[] = [];
  if ((await git("status", "--porcelain")) !== "") found.push("there are changes that are not committed: a release is made of a commit");
  const tagged = await git("rev-list", "-n1", `refs/tags/v${version}`).catch(() => "");
  if (tagged !== "" && tagged !== (await git("rev-parse", "HEAD"))) found.push(`tag v${version} is on another commit, ${tagged}`);
  return found;
}

const maxAgeDays = 7;

/** Packages of Debian that were fetched long ago lack what was repaired since. */
async function outdated(now: number): Promise<string[]> {
  const folders = (await Promise.all(architectures.map(imageBases))).flat();
  const days = await Promise.all(folders.map(async (folder) => (now - (await fetchedAt(folder))) / 86_400_000));
  return folders
    .filter((_, index) => days[index]! > maxAgeDays)
    .map((folder) => `${folder} was fetched more than ${maxAgeDays} days ago: remove it, and Debian's present packages are taken`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { version: { type: "string" }, out: { type: "string" }, prepare: { type: "boolean" }, verify: { type: "boolean" } },
  });
  if (values.version === undefined) throw new Error("usage: npm run release -- --version X.Y.Z [--out FOLDER] [--prepare | --verify]");
  const version = parseVersion(values.version);
  if (values.prepare) {
    await writeVersion(root, version, new Date().toISOString());
    console.log(`The sources are of version ${version} now. Run \`npm run docs\`, look at the changes, commit them, and make the release.`);
    return;
  }
  const found = [...(await objections(root, version)), ...(await outdated(Date.now()))];
  if (found.length > 0) throw new Error(found.join("\n"));
  const folder = values.out ?? join(root, "release", `v${version}`);
  const say = (line: string) => console.log(line);
  const digests = await makeRelease({ version, folder, say });
  for (const { path, sha256 } of digests) console.log(`${sha256}  ${path}`);
  if (values.verify) {
    const differ = await verify(version, folder, say);
    if (differ.length > 0) throw new Error(`the second release differs:\n${differ.join("\n")}`);
    console.log(`made twice, in two folders: all ${digests.length} digests are equal`);
  }
  console.log(commandsAfter(version, stamp().commit, relative(process.cwd(), folder) || ".", digests));
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
