/**
 * Lays out the files of the image in a folder, which the Dockerfile copies as it is.
 *
 *     node deploy/image/assemble.ts FOLDER amd64|arm64 [credential-provider|mount-tools]
 */
import { copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Architecture } from "../build/architecture.ts";
import { bundle } from "../build/bundle.ts";
import { cached } from "../build/cache.ts";
import { run } from "../build/run.ts";
import { billOfMaterials } from "../build/sbom.ts";
import { type ExtraName, extras, place } from "./extras.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface AssembleOptions {
  readonly architecture: Architecture;
  /** What this image has besides. */
  readonly extra?: ExtraName | undefined;
}

/** One file of the image. */
export interface ImageFile {
  readonly path: string;
  readonly bytes: number;
}

/** What may be in every image; anything else is a mistake. */
const expected: readonly RegExp[] = [
  /^usr\/local\/bin\/(node|fairlead)$/,
  /^app\/fairlead\.js$/,
  /^app\/chunks\/[\w-]+-[A-Z0-9]{8}\.js$/,
  /^app\/package\.json$/,
  /^app\/LICENSE$/,
  /^app\/sbom\.spdx\.json$/,
];

/** Lays everything out in a new folder; resolves with what is in it. Rejects when something is there that should not be. */
export async function assemble(folder: string, options: AssembleOptions): Promise<readonly ImageFile[]> {
  const { architecture, extra } = options;
  const app = join(folder, "app");
  await rm(folder, { recursive: true, force: true });
  await bundle(app);
  await mkdir(join(folder, "usr/local/bin"), { recursive: true });
  await place(await nodeFor(architecture), join(folder, "usr/local/bin/node"));
  await nameCommand(folder);
  // Without it Node would take the bundle for CommonJS, try, and begin again.
  await writeFile(join(app, "package.json"), `${JSON.stringify({ type: "module" })}\n`);
  await copyFile(join(root, "LICENSE"), join(app, "LICENSE"));
  await writeFile(join(app, "sbom.spdx.json"), await billOfMaterials("spdx"));
  await (extra && extras[extra].add(folder, architecture));
  const files = await filesOf(folder);
  const allowed = extra ? [...expected, ...extras[extra].expected] : expected;
  const strangers = files.filter(({ path }) => !allowed.some((pattern) => pattern.test(path)));
  if (strangers.length > 0) throw new Error(`not meant to be in the image: ${strangers.map(({ path }) => path).join(", ")}`);
  return files;
}

/**
 * Makes the bundle a command of its own, for `kubectl exec POD -- fairlead doctor`: the base has no shell and no env, so that
 * the kernel must find Node by its path.
 */
async function nameCommand(folder: string): Promise<void> {
  const main = join(folder, "app/fairlead.js");
  const text = await readFile(main, "utf8");
  await writeFile(main, text.replace(/^#!.*\n/, "#!/usr/local/bin/node\n"));
  await symlink("/app/fairlead.js", join(folder, "usr/local/bin/fairlead"));
}

/** The Node that the lock file pins, for either architecture: installed if it is this machine's, else fetched from npm. */
export async function nodeFor(architecture: Architecture): Promise<string> {
  const name = `node-linux-${architecture === "amd64" ? "x64" : "arm64"}`;
  const installed = join(root, "node_modules", name, "bin/node");
  if (await stat(installed).catch(() => undefined)) return installed;
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as Lock;
  const { version, integrity } = lock.packages[`node_modules/${name}`]!;
  return await cached(`node/${name}-${version}`, async (path) => {
    const folder = await mkdtemp(join(tmpdir(), "fairlead-node-"));
    try {
      const answer = await run("npm", ["pack", "--json", `${name}@${version}`], { cwd: folder });
      const [packed] = JSON.parse(answer) as { filename: string; integrity: string }[];
      if (packed?.integrity !== integrity) throw new Error(`${name}@${version} is not the package of the lock file: ${packed?.integrity}`);
      await run("tar", ["-xzf", join(folder, packed.filename), "-C", folder, "package/bin/node"]);
      await place(join(folder, "package/bin/node"), path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

async function filesOf(folder: string): Promise<ImageFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(files.map(async (file) => ({ path: relative(folder, file), bytes: (await lstat(file)).size })));
}

if (import.meta.main) {
  const [folder, architecture, extra] = process.argv.slice(2);
  const names = Object.keys(extras);
  if (!folder || (architecture !== "amd64" && architecture !== "arm64") || (extra !== undefined && !names.includes(extra))) {
    console.error(`usage: node deploy/image/assemble.ts FOLDER amd64|arm64 [${names.join("|")}]`);
    process.exit(2);
  }
  const files = await assemble(folder, { architecture, extra: extra as ExtraName | undefined });
  const megabytes = files.reduce((sum, { bytes }) => sum + bytes, 0) / 2 ** 20;
  console.log(`${folder}: ${files.length} files, ${megabytes.toFixed(1)} MB`);
}
