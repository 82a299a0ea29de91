/** The version of a release, and every place of the sources that names it. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** `1.37.0`, `0.2.0-rc.1`: three numbers, perhaps with alpha, beta or rc and a number. */
const form = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(alpha|beta|rc)\.(0|[1-9]\d*))?$/;

/** The version that somebody asks for; throws when it is none. */
export function parseVersion(text: string): string {
  const version = text.replace(/^v/, "");
  if (!form.test(version)) {
    throw new Error(`--version ${JSON.stringify(text)}: a version is X.Y.Z, or X.Y.Z-alpha.N, -beta.N or -rc.N`);
  }
  return version;
}

/** A place that names the version, once or several times. */
interface Place {
  readonly file: string;
  /** Matches a version by what stands around it. */
  readonly pattern: RegExp;
}

const number = String.raw`\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?`;
const inDocs = new RegExp(`(?<=/fairlead-|VERSION=v|example\\.org/[a-z-]+:v)${number}`, "g");

const places: readonly Place[] = [
  { file: "package.json", pattern: new RegExp(`(?<=^ {2}"version": ")${number}`, "gm") },
  { file: "package-lock.json", pattern: new RegExp(String.raw`(?<="name": "fairlead",\s+"version": ")${number}`, "g") },
  { file: "deploy/chart/Chart.yaml", pattern: new RegExp(`(?<=^version: |^appVersion: v)${number}`, "gm") },
  { file: "deploy/examples/cluster-api.yaml", pattern: new RegExp(`(?<=^ {2}version: )${number}`, "gm") },
  ...["deploy/examples/kops.yaml", "README.md", "docs/command.md", "docs/install.md", "docs/quick-start.md"].map((file) => ({
    file,
    pattern: inDocs,
  })),
];

/** Every place that names another version, or none, as `file: version`. */
export async function otherVersions(root: string, version: string): Promise<string[]> {
  const found = await Promise.all(
    places.map(async ({ file, pattern }) => {
      const there = (await readFile(join(root, file), "utf8")).match(pattern) ?? ["none"];
      return there.filter((each) => each !== version).map((each) => `${file}: ${each}`);
    }),
  );
  return found.flat();
}

/** Writes the version to every place, and closes the changelog's section of what is unreleased. */
export async function writeVersion(root: string, version: string, date: string): Promise<void> {
  for (const { file, pattern } of places) {
    const path = join(root, file);
    await writeFile(path, (await readFile(path, "utf8")).replace(pattern, version));
  }
  const changelog = join(root, "CHANGELOG.md");
  await writeFile(changelog, closedChangelog(await readFile(changelog, "utf8"), version, date));
}

/** The changelog with what was unreleased under a heading of its own. */
export function closedChangelog(text: string, version: string, date: string): string {
  if (text.includes(`\n## v${version} `)) return text;
  return text.replace(/^## Unreleased\n/m, `## Unreleased\n\n## v${version} (${date.slice(0, 10)})\n`);
}

/** The section of a version; of a version that has none, what is unreleased. */
export function changelogSection(text: string, version: string): string {
  const sections = text.split(/^(?=## )/m);
  const own =
    sections.find((section) => section.startsWith(`## v${version} `)) ?? sections.find((section) => section.startsWith("## Unreleased"));
  if (own === undefined) throw new Error(`CHANGELOG.md has no section for v${version}, and none of what is unreleased`);
  return `${own.trim()}\n`;
}
