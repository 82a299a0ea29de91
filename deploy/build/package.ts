/**
 * Packs the command as people install it: `dist/fairlead-VERSION.tgz`.
 *
 *     npm run pack
 *
 * The package depends on nothing but Node: the program and the sandbox are bundles, so what `npm install` fetches is the
 * one Node for the machine. That is why it has a manifest of its own and is not packed from the repository's.
 */
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundle } from "./bundle.ts";
import { run } from "./run.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What is copied as it stands: what the documentation tells people to apply, and the documentation. */
const copied = [
  "deploy/chart",
  "deploy/examples",
  "deploy/iam",
  "deploy/manifests",
  "docs",
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "LICENSE",
];

interface Manifest {
  readonly [key: string]: unknown;
  readonly name: string;
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** The manifest of the package, from the repository's. Node is optional only because no machine needs all of them. */
export function packageManifest({ name, version, description, license, optionalDependencies }: Manifest): object {
  const launcher = "bin/fairlead.js";
  return {
    name,
    version,
    description,
    license,
    type: "module",
    bin: { fairlead: launcher, "kubectl-fairlead": launcher, "kubectl_complete-fairlead": launcher },
    engines: { node: ">=20" },
    optionalDependencies,
  };
}

/** Lays the package out in `folder`. */
export async function layOut(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await bundle(join(folder, "dist"), { sandbox: true });
  await build({
    absWorkingDir: root,
    entryPoints: ["deploy/build/launcher.ts"],
    outfile: join(folder, "bin/fairlead.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: "#!/usr/bin/env node" },
    logLevel: "error",
  });
  const sources = /\.ts$/;
  for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true, filter: (from) => !sources.test(from) });
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  await writeFile(join(folder, "package.json"), `${JSON.stringify(packageManifest(manifest), undefined, 2)}\n`);
}

/** Packs into `folder`; resolves with the path of the tarball. */
export async function pack(folder: string): Promise<string> {
  const layout = join(folder, "package");
  await mkdir(folder, { recursive: true });
  await layOut(layout);
  const answer = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: layout });
  await rm(layout, { recursive: true, force: true });
  const [packed] = JSON.parse(answer) as readonly { readonly filename: string }[];
  return join(folder, packed!.filename);
}

if (import.meta.main) console.log(relative(root, await pack(join(root, "dist"))));
