/** Bun, the runtime inside the single executable: fetched from npm by hash, and closed to its own environment variables. */
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Architecture } from "./architecture.ts";
import { cached, contentKey } from "./cache.ts";
import { run } from "./run.ts";

const version = "1.4.4";

/** The baseline build for amd64: nodes may have processors from before AVX2. */
const packages: Readonly<Record<Architecture, { readonly name: string; readonly integrity: string }>> = {
  amd64: {
    name: "@oven/bun-linux-x64-baseline",
    integrity: "FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==",
  },
  arm64: {
    name: "@oven/bun-linux-aarch64",
    integrity: "ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==",
  },
};

/** Both of them, as statements of provenance name packages: they are in no lock file. */
export const bunPackages: readonly object[] = Object.values(packages).map(({ name, integrity }) => ({
  uri: `pkg:npm/${name.replace("@", "%40")}@${version}`,
  digest: { sha512: Buffer.from(integrity, "base64").toString("hex") },
}));

/** Bun as npm delivers it, for compiling. */
export function bun(architecture: Architecture, say: (line: string) => void = () => {}): Promise<string> {
  const { name, integrity } = packages[architecture];
  const make = async (path: string) => {
    say(`fetching ${name} ${version} from npm (once)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-bun-"));
    try {
      const archive = join(
        folder,
        (await run("npm", ["pack", "--silent", `${name}@${version}`], { cwd: folder })).trim().split("\n").at(-1)!,
      );
      const found = createHash("sha512")
        .update(await readFile(archive))
        .digest("base64");
      if (found !== integrity) throw new Error(`${name}@${version} is not the package this build was written for: sha512-${found}`);
      await run("tar", ["-xzf", archive, "-C", folder, "package/bin/bun"]);
      await copyFile(join(folder, "package/bin/bun"), path);
      await chmod(path, 0o755);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return cached(`bun/${version}-${architecture}/bun`, make, { say });
}

/**
 * Bun that reads no variable of its own.
 *
 * Left as it is, an executable made by Bun becomes the bun command under `BUN_BE_BUN=1`, runs any file named in
 * `BUN_OPTIONS`, and prints signed requests under `BUN_CONFIG_VERBOSE_FETCH`. There is no option against it, so the
 * names of the variables are blanked in the runtime: their first byte becomes NUL, which no variable's name can hold.
 * What remains are `BUN_JSC_*`, the settings of the JavaScript engine, whose prefix is not kept as text.
 */
export async function sealedBun(architecture: Architecture, say?: (line: string) => void): Promise<string> {
  const original = await bun(architecture, say);
  const rules = contentKey(ownName.source, nodeName.source, ...mustBeClosed);
  return await cached(`bun/${version}-${architecture}/bun-sealed-${rules}`, async (path) => {
    const runtime = await readFile(original);
    const text = runtime.toString("latin1");
    const starts = [...text.matchAll(ownName), ...text.matchAll(nodeName)].map(({ index }) => index);
    const open = mustBeClosed.filter((name) => !starts.some((start) => text.startsWith(name, start)));
    if (open.length > 0) throw new Error(`Bun ${version} does not hold ${open.join(", ")} where expected: find out how it reads them now`);
    for (const start of starts) runtime[start] = 0;
    await writeFile(path, runtime, { mode: 0o755 });
  });
}

/** Those that give somebody else control or print secrets. A Bun in which one cannot be found must not pass unseen. */
const mustBeClosed = ["BUN_BE_BUN", "BUN_OPTIONS", "BUN_INSPECT", "BUN_INSPECT_PRELOAD", "BUN_CONFIG_VERBOSE_FETCH"];

/** The beginning of a name in the tables of strings, where names stand one after the other; not in scripts and sentences. */
const ownName = /(?<![\s.$"'`<_([])BUN_(?=[A-Z][A-Z0-9_]{2})/g;

/** A string that is nothing but the name of one of Node's variables, such as the one that switches off the check of certificates. */
const nodeName = /(?<=\0)NODE_(?=[A-Z0-9_]+\0)/g;
