/**
 * Builds the single executables of the ECR credential provider: `dist/ecr-credential-provider-linux-<architecture>`,
 * each with a `.sha256` beside it.
 *
 *     node deploy/build/credential-provider.ts [amd64] [arm64]
 */
import { createHash } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Architecture, architectures as all, hostArchitecture } from "./architecture.ts";
import { bun, sealedBun } from "./bun.ts";
import { cached, contentKey } from "./cache.ts";
import { run } from "./run.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The path of the executable for an architecture; built once for each content of its sources. */
export async function credentialProvider(architecture: Architecture, say: (line: string) => void = () => {}): Promise<string> {
  const scripts = await providerScripts();
  const [compiler, runtime] = await Promise.all([bun(hostArchitecture(), say), sealedBun(architecture, say)]);
  const key = contentKey(...scripts.flatMap(({ name, text }) => [name, text]), runtime, ...compileFlags);
  const make = async (path: string) => {
    say(`building the credential provider for ${architecture} (seconds, once for each content of its sources)`);
    const folder = await mkdtemp(join(tmpdir(), "fairlead-build-"));
    try {
      for (const { name, text } of scripts) await writeFile(join(folder, name), text);
      const target = architecture === "amd64" ? "bun-linux-x64-baseline" : "bun-linux-arm64";
      const output = [`--target=${target}`, `--compile-executable-path=${runtime}`, `--outfile=${path}`];
      await run(compiler, ["build", ...scripts.map(({ name }) => name), ...compileFlags, ...output], { cwd: folder });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  return await cached(`ecr-credential-provider/${key}/linux-${architecture}/ecr-credential-provider`, make, { say });
}

/** The part that loads the AWS SDK, and its name within the executable. */
const apart = { source: "src/aws/profile-credentials.ts", name: "./profile-credentials.js" };

const compileFlags = [
  `--external=${apart.name}`,
  "--compile",
  "--bytecode",
  "--format=cjs",
  // A program of ten milliseconds gains nothing from compiled code, nor from a roomy heap.
  "--compile-jit-policy=1000",
  "--compile-exec-argv=--smol",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-tsconfig",
  "--no-compile-autoload-package-json",
];

export interface Script {
  readonly name: string;
  readonly text: string;
}

/** The program, and beside it the part that loads the AWS SDK, so that those who do not need it do not even map it. */
export async function providerScripts(): Promise<Script[]> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: ["src/registry/entry.ts", apart.source],
    outdir: "dist",
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "esnext",
    supported: { "dynamic-import": false },
    minify: true,
    write: false,
    logLevel: "error",
    plugins: [
      {
        name: "apart",
        setup: ({ onResolve }) =>
          onResolve({ filter: /\/profile-credentials\.ts$/ }, ({ kind }) =>
            kind === "dynamic-import" ? { path: apart.name, external: true } : undefined,
          ),
      },
    ],
  });
  return result.outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
}

/** Puts the executables into a folder, each with its `.sha256`; resolves with their paths. */
export async function buildInto(folder: string, architectures: readonly Architecture[]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const architecture of architectures) {
    const path = join(folder, `ecr-credential-provider-linux-${architecture}`);
    await copyFile(await credentialProvider(architecture), `${path}.new`);
    // In one step, because somebody may be running the old one.
    await rename(`${path}.new`, path);
    const digest = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    await writeFile(`${path}.sha256`, `${digest}\n`);
    paths.push(path);
  }
  return paths;
}

if (import.meta.main) {
  const asked = process.argv.slice(2).filter((name) => name === "amd64" || name === "arm64");
  const paths = await buildInto(join(root, "dist"), asked.length > 0 ? asked : all);
  for (const path of paths) process.stdout.write(`${relative(root, path)}\n`);
}
