/**
 * Builds `dist/`: the program as ES modules, one entry and a chunk for whatever is loaded only when needed.
 *
 *     node deploy/build/bundle.ts
 *
 * The sandbox is not in it, nor in the image: only the package that people install (package.ts) carries it.
 */
import { chmod, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { pageFiles } from "../../src/dashboard/page-files.ts";
import { stamp } from "./stamp.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface BundleOptions {
  /** Whether the sandbox is in it too, in chunks that nothing else loads. */
  readonly sandbox?: boolean;
}

/** Bundles into `folder`; returns its size in bytes. */
export async function bundle(folder: string, { sandbox = false }: BundleOptions = {}): Promise<number> {
  await rm(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: { fairlead: "src/main.ts", ...(sandbox && { supervisor: "src/sandbox/cluster/real/supervisor.ts" }) },
    outdir: folder,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    // Packages that come in both forms are taken as ES modules: only of those is the unused part left out.
    mainFields: ["module", "main"],
    format: "esm",
    target: "node26",
    minify: true,
    keepNames: true,
    legalComments: "none",
    logLevel: "error",
    define: { FAIRLEAD_BUILD: JSON.stringify(stamp()), ...(sandbox && { FAIRLEAD_PACKAGE: "true" }) },
    // Some dependencies are CommonJS and ask for Node's own modules by `require`.
    banner: { js: 'import { createRequire as fairleadRequire } from "node:module"; const require = fairleadRequire(import.meta.url);' },
    plugins: [...(sandbox ? [] : [withoutSandbox]), withLiteralKeys, withoutWebApis, withPageInside],
  });
  await chmod(join(folder, "fairlead.js"), 0o755);
  return await sizeOf(folder);
}

/** Leaves the sandbox out; who calls for it in the bundle is told where it is. */
const withoutSandbox: Plugin = {
  name: "without the sandbox",
  setup(builder) {
    builder.onResolve({ filter: /\/sandbox\// }, ({ path }) => ({ path, namespace: "left-out" }));
    builder.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({
      contents: 'throw new Error("the sandbox is not part of the image: install the package, or run `npm run sandbox` in the repository");',
    }));
  },
};

/** The files of the dashboard's page as they are, in the place of the module that reads and bundles them. */
const withPageInside: Plugin = {
  name: "with the page inside",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]dashboard[\\/]page-files\.ts$/ }, async () => ({
      contents: `const files = ${JSON.stringify(await pageFiles())};\nexport const pageFiles = async () => files;`,
    }));
  },
};

/**
 * Leaves out of undici what is not HTTP: fetch, WebSockets, caches, mocks and a second parser are loaded with it, used by nobody here, and take several
 * megabytes in every process. Whatever of them is asked for while undici is loaded is nothing.
 */
const withoutWebApis: Plugin = {
  name: "without web APIs",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]undici[\\/]lib[\\/](web|mock|cache|milo)[\\/].*\.js$/ }, () => ({
      contents: "const nothing = new Proxy(function () {}, { get: () => nothing }); module.exports = nothing;",
    }));
  },
};

/**
 * The AWS clients' schemas name their keys by constants (`{ [_xN]: _i }`), which esbuild takes for something that may
 * have an effect: every schema of every operation would stay in the bundle. With the keys written out it sees what is unused.
 */
const withLiteralKeys: Plugin = {
  name: "with literal keys",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]@aws-sdk[\\/]client-.*[\\/]schemas_\d+\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const texts = new Map(Array.from(source.matchAll(/^const (_\w+) = ("[^"]*");$/gm), ([, name = "", text = ""]) => [name, text]));
      return { contents: source.replace(/\[(_\w+)\]:/g, (as, name: string) => (texts.has(name) ? `${texts.get(name)}:` : as)) };
    });
  },
};

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

if (import.meta.main) {
  const bytes = await bundle(join(root, "dist"));
  console.log(`dist/fairlead.js and chunks: ${(bytes / 2 ** 20).toFixed(1)} MB`);
}
