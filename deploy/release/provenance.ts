/** What was made from what: an in-toto statement with SLSA's predicate of provenance, and the list of checksums. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { architectures } from "../build/architecture.ts";
import { bunPackages } from "../build/bun.ts";
import { imageBases, notedPackages } from "../build/debian.ts";
import type { Stamp } from "../build/stamp.ts";
import { filesOf } from "./parts.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Digest {
  readonly path: string;
  readonly sha256: string;
}

/** The digests of a release's files, but for those that are made from them. */
export async function digestsOf(folder: string): Promise<Digest[]> {
  const files = (await filesOf(folder)).filter((path) => path !== checksumFile);
  return await Promise.all(files.map(async (path) => ({ path, sha256: await digestOf(join(folder, path)) })));
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

export const checksumFile = "SHA256SUMS";
export const provenanceFile = "provenance.intoto.json";

/** Writes both files. The checksums are also of the statement, so that one signature is enough for everything. */
export async function certify(folder: string, version: string, stamp: Stamp): Promise<readonly Digest[]> {
  const made = await digestsOf(folder);
  await writeFile(join(folder, provenanceFile), `${JSON.stringify(await statement(made, version, stamp), undefined, 2)}\n`);
  const all = await digestsOf(folder);
  await writeFile(join(folder, checksumFile), all.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join(""));
  return all;
}

/** No times are in it: the same commit gives the same statement. */
async function statement(made: readonly Digest[], version: string, { commit, date }: Stamp): Promise<object> {
  const withImages = made.some(({ path }) => path.startsWith("images/"));
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: made.map(({ path, sha256 }) => ({ name: path, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:fairlead:release:v1",
        externalParameters: { command: `npm run release -- --version ${version}`, version },
        internalParameters: { node: process.version, date },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: await digestOf(join(root, "package-lock.json")) } },
          ...bunPackages,
          ...(withImages ? await debianDependencies() : []),
        ],
      },
      runDetails: { builder: { id: "urn:fairlead:release" } },
    },
  };
}

async function debianDependencies(): Promise<object[]> {
  const folders = (
    await Promise.all(
      architectures.map(async (architecture) => (await imageBases(architecture)).map((folder) => ({ architecture, folder }))),
    )
  ).flat();
  const noted = await Promise.all(
    folders.map(async ({ architecture, folder }) =>
      (await notedPackages(folder)).map(({ name, version }) => ({ uri: `pkg:deb/debian/${name}@${version}?arch=${architecture}` })),
    ),
  );
  return noted.flat();
}

/** What differs between two lists of checksums, a line for each file. */
export function differences(left: string, right: string): string[] {
  const read = (text: string) =>
    new Map(
      text
        .trim()
        .split("\n")
        .map((line) => [line.slice(66), line.slice(0, 64)] as const),
    );
  const [first, second] = [read(left), read(right)];
  const paths = [...new Set([...first.keys(), ...second.keys()])].sort();
  return paths
    .filter((path) => first.get(path) !== second.get(path))
    .map((path) => `${path}: ${first.get(path) ?? "missing"} and ${second.get(path) ?? "missing"}`);
}

/** The checksums that stand in a release's folder. */
export function checksumsIn(folder: string): Promise<string> {
  return readFile(join(folder, checksumFile), "utf8");
}
