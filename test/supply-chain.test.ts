import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { objections, type Sources, scriptsNotNeeded } from "./supply-chain.ts";

const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), "utf8");
const [lock, manifest, npmrc, changelog] = await Promise.all(["package-lock.json", "package.json", ".npmrc", "CHANGELOG.md"].map(read));
const sources: Sources = { lock: JSON.parse(lock!), manifest: JSON.parse(manifest!), npmrc: npmrc!, changelog: changelog! };

test("every package is pinned by hash, under a licence of the list, runs no script, and is named in the changelog", () => {
  assert.deepEqual(objections(sources), []);
});

test("a package that no longer brings a script is no longer named", () => {
  const names = Object.entries(sources.lock.packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript ? [path.replace(/^.*node_modules\//, "")] : [],
  );
  assert.deepEqual([...new Set(names)].sort(), Object.keys(scriptsNotNeeded).sort());
});

test("each kind of breach is found", () => {
  const integrity = "sha512-x";
  const good = { version: "1.0.0", integrity, license: "MIT" };
  const bad = {
    lock: {
      lockfileVersion: 3,
      packages: {
        "": { dependencies: { a: "1.0.0", b: "1.0.0", fine: "1.0.0" } },
        "node_modules/b/node_modules/e": { ...good, optionalDependencies: { c: "1", fine: "1", "for-another-platform": "1" } },
        "node_modules/a": { ...good, license: "GPL-3.0" },
        "node_modules/b": { ...good, hasInstallScript: true },
        "node_modules/b/node_modules/c": { ...good, resolved: "git+ssh://example.org/c.git" },
        "node_modules/d": { version: "1.0.0", license: "MIT OR GPL-3.0" },
        "node_modules/fine": { ...good, license: "(MIT AND ISC) OR GPL-3.0" },
      },
    },
    manifest: { dependencies: { a: "1.0.0", b: "^1.0.0", fine: "1.0.0" } },
    npmrc: "",
    changelog: "`a` and `fine`",
  };
  assert.deepEqual(
    objections(bad).map((text) => text.slice(0, 30)),
    [
      ".npmrc does not say ignore-scr",
      "a 1.0.0: licence GPL-3.0 is no",
      "b 1.0.0: has an install script",
      "c: comes from git+ssh://exampl",
      "d: the lock file has no sha512",
      "for-another-platform: needed b",
      "b: ^1.0.0 is no exact version",
      "b: package.json asks for ^1.0.",
      "b: new, and not named in CHANG",
    ],
  );
});
