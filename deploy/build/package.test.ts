import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { nodePackages } from "./node-packages.ts";
import { packageManifest } from "./package.ts";

const repository = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as Parameters<
  typeof packageManifest
>[0];

test("the package depends on nothing but Node, in the versions that the repository is tested with", () => {
  const manifest = packageManifest(repository) as Record<string, Record<string, string>>;
  assert.equal(manifest.dependencies, undefined);
  assert.deepEqual(manifest.optionalDependencies, repository.optionalDependencies);
  assert.deepEqual(Object.keys(manifest.optionalDependencies!).sort(), Object.values(nodePackages).sort());
});

test("it is installed as the command, as a kubectl plugin and as that plugin's completion, on Node 20 and newer", () => {
  const { bin, engines } = packageManifest(repository) as Record<string, Record<string, string>>;
  assert.deepEqual(Object.keys(bin!), ["fairlead", "kubectl-fairlead", "kubectl_complete-fairlead"]);
  assert.equal(engines!.node, ">=20");
});
