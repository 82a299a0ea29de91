import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { repeatable } from "../build/sbom.ts";
import { chartArchive, chartLayout, sha256 } from "./chart.ts";
import { commandsAfter } from "./commands.ts";
import { differences } from "./provenance.ts";
import { objections } from "./release.ts";
import { tar } from "./tar.ts";
import { changelogSection, closedChangelog, otherVersions, parseVersion } from "./version.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

test("a version is three numbers, perhaps with alpha, beta or rc", () => {
  for (const version of ["0.1.0", "1.37.12", "1.37.0-alpha.0", "1.37.0-beta.1", "1.37.0-rc.12"])
    assert.equal(parseVersion(version), version);
  assert.equal(parseVersion("v1.37.0"), "1.37.0");
  for (const wrong of ["1.37", "1.37.0-rc", "1.37.0-dev.1", "01.37.0", "1.37.0 ", "latest", ""]) {
    assert.throws(() => parseVersion(wrong), /--version .*: a version is X\.Y\.Z/, wrong);
  }
});

test("every place of the sources names the same version", async () => {
  assert.deepEqual(await otherVersions(root, manifest.version), []);
  const others = await otherVersions(root, "9.9.9");
  for (const file of ["package.json", "package-lock.json", "deploy/chart/Chart.yaml", "README.md", "docs/quick-start.md"]) {
    assert.ok(others.includes(`${file}: ${manifest.version}`), file);
  }
});

test("the changelog's unreleased section becomes that of the release, once", () => {
  const before = "# Changelog\n\n## Unreleased\n\n- new\n\n## v0.1.0 (2026-01-01)\n\n- old\n";
  const after = closedChangelog(before, "0.2.0", "2026-02-03T04:05:06Z");
  assert.equal(after, "# Changelog\n\n## Unreleased\n\n## v0.2.0 (2026-02-03)\n\n- new\n\n## v0.1.0 (2026-01-01)\n\n- old\n");
  assert.equal(closedChangelog(after, "0.2.0", "2026-02-03"), after);
  assert.equal(changelogSection(after, "0.2.0"), "## v0.2.0 (2026-02-03)\n\n- new\n");
  assert.equal(changelogSection(before, "0.2.0"), "## Unreleased\n\n- new\n");
});

test("an archive is read by tar: contents, modes, the given date, nobody's, long paths too", () => {
  const long = `${"folder/".repeat(16)}file.txt`;
  const files = [
    { path: "b.txt", content: Buffer.from("b") },
    { path: "a.sh", content: Buffer.from("#!/bin/sh\n"), executable: true },
    { path: long, content: Buffer.alloc(1000, "x") },
  ];
  const archive = tar(files, 1_700_000_000);
  assert.deepEqual(archive, tar([...files].reverse(), 1_700_000_000), "the order they are given in does not matter");
  const listed = execFileSync("tar", ["--utc", "--numeric-owner", "-tvf", "-"], { input: archive, encoding: "utf8" }).trim().split("\n");
  assert.match(listed[0]!, /^-rwxr-xr-x 0\/0 +10 2023-11-14 22:13 a\.sh$/);
  assert.match(listed[1]!, /^-rw-r--r-- 0\/0 +1 2023-11-14 22:13 b\.txt$/);
  assert.ok(listed[2]!.endsWith(long));
  assert.equal(execFileSync("tar", ["-xOf", "-", long], { input: archive }).length, 1000);
});

test("the chart's archive holds the chart and nothing else, and is the same twice", async () => {
  const chart = fileURLToPath(new URL("../chart", import.meta.url));
  const archive = await chartArchive(chart, 1_700_000_000);
  assert.equal(sha256(archive), sha256(await chartArchive(chart, 1_700_000_000)));
  const listed = execFileSync("tar", ["-tzf", "-"], { input: archive, encoding: "utf8" }).trim().split("\n");
  for (const file of ["Chart.yaml", "values.yaml", "values.schema.json", "templates/rbac.yaml", "files/targetgroupbindings.yaml"]) {
    assert.ok(listed.includes(`fairlead/${file}`), file);
  }
  assert.deepEqual(
    listed.filter((path) => !path.startsWith("fairlead/") || path.endsWith(".ts")),
    [],
  );
});

test("the chart's OCI layout leads by digests from its index to the archive", async () => {
  const archive = Buffer.from("an archive");
  const yaml = await readFile(new URL("../chart/Chart.yaml", import.meta.url), "utf8");
  const layout = chartLayout(archive, yaml, "2026-01-02T03:04:05.000Z");
  const file = (path: string) => execFileSync("tar", ["-xOf", "-", path], { input: layout });
  const blob = ({ digest, size }: { digest: string; size: number }) => {
    const content = file(`blobs/${digest.replace(":", "/")}`);
    assert.equal(sha256(content), digest.slice("sha256:".length));
    assert.equal(content.length, size);
    return content;
  };
  const index = JSON.parse(file("index.json").toString());
  const described = JSON.parse(blob(index.manifests[0]).toString());
  assert.deepEqual(blob(described.layers[0]), archive);
  assert.deepEqual(JSON.parse(blob(described.config).toString()), parse(yaml));
});

test("a bill of materials depends on the commit and the lock file only", () => {
  const made = (id: string, created: string) => ({
    documentNamespace: `http://spdx.org/spdxdocs/fairlead-0.1.0-${id}`,
    creationInfo: { created, creators: ["Tool: npm"] },
  });
  const stamp = { commit: "abc", date: "2026-01-02T03:04:05.000Z" };
  const lock = Buffer.from("lock");
  const first = repeatable(made("2ca03f55-830b-4c6b-9054-cd59bb641f85", "2026-11-16T07:14:11.026Z"), lock, stamp);
  assert.deepEqual(first, repeatable(made("c3e98855-d4dc-4edb-920e-6b5a8894fc0c", "2027-01-01T00:00:00.000Z"), lock, stamp));
  assert.notDeepEqual(first, repeatable(made("c3e98855-d4dc-4edb-920e-6b5a8894fc0c", ""), Buffer.from("another"), stamp));
});

test("releases are compared file by file", () => {
  const [a, b] = ["a".repeat(64), "b".repeat(64)];
  const both = `${a}  chart/x.tgz\n`;
  assert.deepEqual(differences(both, both), []);
  assert.deepEqual(differences(`${both}${a}  npm/y.tgz\n`, `${both}${b}  npm/y.tgz\n${a}  z\n`), [
    `npm/y.tgz: ${a} and ${b}`,
    `z: missing and ${a}`,
  ]);
});

test("the commands that publish name every image that was made, and no upload is part of the release", () => {
  const text = commandsAfter("0.2.0-rc.1", "abc123", "it's here/v0.2.0-rc.1", [
    { path: "images/fairlead-0.2.0-rc.1-linux-amd64.oci.tar", sha256: "" },
  ]);
  assert.match(text, /^Nothing was uploaded/m);
  assert.match(text, /^git tag --sign v0\.2\.0-rc\.1 abc123 /m, "the commit that was released, whatever came after it");
  assert.match(text, /^cd 'it'\\''s here\/v0\.2\.0-rc\.1' && sha256sum/m);
  assert.match(text, /skopeo copy oci-archive:images\/fairlead-0\.2\.0-rc\.1-linux-arm64\.oci\.tar/);
  assert.doesNotMatch(text, /images\/credential-provider/);
  assert.match(text, /npm publish .* --tag next/);
  assert.match(text, /cosign sign-blob .* SHA256SUMS$/m);
});

test("a commit is released: not what is uncommitted, nor a version whose tag is elsewhere", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-repository-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "tag.gpgsign=false", ...args]);
  git("init", "--quiet");
  git("commit", "--quiet", "--allow-empty", "--message=one");
  git("tag", "v0.2.0");
  assert.deepEqual(await objections(folder, "0.2.0"), [], "made again from its tag");
  assert.deepEqual(await objections(folder, "0.3.0"), []);
  git("commit", "--quiet", "--allow-empty", "--message=two");
  assert.match((await objections(folder, "0.2.0")).join(), /^tag v0\.2\.0 is on another commit, [0-9a-f]{40}$/);
  await writeFile(join(folder, "new"), "");
  assert.match((await objections(folder, "0.3.0")).join(), /changes that are not committed/);
});
