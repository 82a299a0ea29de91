import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realWorld } from "../runtime/world.ts";
import { etcd, kubeApiserver } from "../sandbox/cluster/assets/programs.ts";
import { inWords, kubernetesRuns, oldestMinor, testedMinors, testedWith, worksWith } from "./tested.ts";

const read = async (path: string) =>
  Buffer.from(await realWorld().files.read(fileURLToPath(new URL(`../../${path}`, import.meta.url)))).toString("utf8");

test("what we say it was tested with is what the tests obtain", () => {
  assert.equal(testedWith.Kubernetes, kubeApiserver.version);
  assert.equal(testedWith.etcd, etcd.version);
  assert.ok(kubernetesRuns.some(({ kubernetes, failed }) => kubernetes === testedWith.Kubernetes && failed === 0));
});

test("every run that counts passed whole, one per minor, oldest first", () => {
  assert.deepEqual(
    kubernetesRuns.filter(({ failed, passed }) => failed > 0 || passed === 0),
    [],
  );
  assert.deepEqual(testedMinors, [...new Set(testedMinors)].sort());
});

test("minors are a range where none is missing", () => {
  assert.equal(inWords([34, 35, 36]), "1.34 to 1.36");
  assert.equal(inWords([34, 36]), "1.34, 1.36");
  assert.equal(inWords([36]), "1.36");
});

test("chart, versions.md, FAQ and README name the same minors", async () => {
  assert.match(await read("deploy/chart/Chart.yaml"), new RegExp(`^kubeVersion: ">=1\\.${oldestMinor}\\.0-0"$`, "m"));
  const page = await read("docs/versions.md");
  for (const { kubernetes, date, passed } of kubernetesRuns)
    assert.ok(page.includes(`| ${kubernetes} | ${date} | ${passed} passed |`), kubernetes);
  assert.ok(page.includes(`The chart and the doctor reject Kubernetes older than 1.${oldestMinor}.`));
  assert.ok(page.includes(`It matches the features of the reference at ${testedWith["cloud-provider-aws"]}.`));
  for (const file of ["docs/versions.md", "docs/faq.md", "README.md"])
    assert.ok((await read(file)).replaceAll("\n", " ").includes(worksWith), file);
});
