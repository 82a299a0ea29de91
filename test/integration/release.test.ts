/** A release in a temporary folder: complete, the same twice, and readable by the tools that its users have. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { helm } from "../../deploy/build/helm.ts";
import { type PartName, releaseParts } from "../../deploy/release/parts.ts";
import { checksumsIn, differences } from "../../deploy/release/provenance.ts";
import { makeRelease } from "../../deploy/release/release.ts";
import manifest from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const { version } = manifest;
/** Images take minutes: the quick start's test makes one, and `npm run release -- --version X --verify` makes all of them, twice. */
const parts = releaseParts.filter((name) => name !== "images");
/** Of those, what npm takes seconds for each time. */
const again: readonly PartName[] = parts.filter((name) => name !== "npm" && name !== "executables");

let place: string;
let release: string;
before(async () => {
  place = await mkdtemp(join(tmpdir(), "fairlead-release-"));
  release = join(place, "first");
  await makeRelease({ version, folder: release, parts });
});
after(() => rm(place, { recursive: true, force: true }));

test("it has every part, and the checksums are those of its files", async () => {
  assert.deepEqual((await readdir(release)).sort(), [...parts, "SHA256SUMS", "provenance.intoto.json"].sort());
  const { stdout } = await run("sha256sum", ["--check", "SHA256SUMS"], { cwd: release });
  assert.equal(stdout.match(/: OK$/gm)?.length, (await checksumsIn(release)).trim().split("\n").length);
});

test("the statement of provenance names the commit, the lock file and every file", async () => {
  const { subject, predicate } = JSON.parse(await readFile(join(release, "provenance.intoto.json"), "utf8"));
  const listed = (await checksumsIn(release))
    .trim()
    .split("\n")
    .map((line) => line.slice(66));
  assert.deepEqual([...subject.map(({ name }: { name: string }) => name), "provenance.intoto.json"].sort(), listed.sort());
  const [source, lock] = predicate.buildDefinition.resolvedDependencies;
  assert.match(source.digest.gitCommit, /^([0-9a-f]{40}|unknown)$/);
  assert.match(lock.digest.sha256, /^[0-9a-f]{64}$/);
  const others: { uri?: string; digest: { sha512?: string } }[] = predicate.buildDefinition.resolvedDependencies.slice(2);
  assert.ok(
    others.some(({ uri, digest }) => uri?.startsWith("pkg:npm/%40oven/bun-linux-") && /^[0-9a-f]{128}$/.test(digest.sha512 ?? "")),
    "the runtime of the executables, which no lock file has",
  );
});

test("made a second time it has the same digests", async () => {
  const folder = join(place, "second");
  await makeRelease({ version, folder, parts: again });
  const ofBoth = (text: string) => text.replace(/^.* {2}(npm\/|executables\/|provenance).*\n/gm, "");
  assert.deepEqual(differences(ofBoth(await checksumsIn(release)), ofBoth(await checksumsIn(folder))), []);
});

test("a release that is there is not overwritten, and one of another version not made", async () => {
  await assert.rejects(makeRelease({ version, folder: release, parts: ["crds"] }), /is there already: a release is never overwritten/);
  await assert.rejects(makeRelease({ version: "9.9.9", folder: join(place, "other"), parts: ["crds"] }), /package\.json: .*--prepare/);
});

test("helm reads the chart's archive, and renders from it what the plain manifests are", async () => {
  const archive = join(release, "chart", `fairlead-${version}.tgz`);
  assert.match(
    (await run(await helm(), ["show", "chart", archive])).stdout,
    new RegExp(`^version: ${version.replaceAll(".", "\\.")}$`, "m"),
  );
  const { stdout } = await run(await helm(), [
    "template",
    "fairlead",
    archive,
    "--namespace=kube-system",
    "--show-only=templates/controller-manager.yaml",
    "--set=image.repository=registry.invalid/fairlead",
  ]);
  const plain = await readFile(join(release, "manifests/controller-manager.yaml"), "utf8");
  const args = (text: string) => text.match(/^ +- "?--.*$/gm);
  assert.ok(args(plain)!.length > 3);
  assert.deepEqual(args(stdout), args(plain));
});

test("each executable has its checksum beside it", async () => {
  for (const architecture of ["amd64", "arm64"]) {
    const name = `ecr-credential-provider-linux-${architecture}`;
    const beside = (await readFile(join(release, "executables", `${name}.sha256`), "utf8")).trim();
    assert.match(await checksumsIn(release), new RegExp(`^${beside}  executables/${name}$`, "m"));
  }
});
