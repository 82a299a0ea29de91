import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { asYaml, credentialProviderConfig } from "../registry/config.ts";
import { realWorld } from "../runtime/world.ts";
import { run } from "./install-credential-provider.ts";

/** A node's folders, and an executable to put there. */
async function node(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "fairlead-node-"));
  t.after(() => rm(root, { recursive: true }));
  const source = join(root, "source");
  await writeFile(source, "the executable");
  const said: string[] = [];
  const console = { out: (text: string) => said.push(text), err: (text: string) => said.push(text), columns: 0, watched: false };
  const install = (...flags: readonly string[]) => {
    const argv = [`--bin-dir=${root}/bin`, `--config-dir=${root}/config`, `--source=${source}`, "--once", ...flags];
    return run({ argv, world: realWorld(), console, stopSignal: () => AbortSignal.abort() });
  };
  return { root, source, said, install, target: join(root, "bin/ecr-credential-provider") };
}

test("the executable and kubelet's configuration are put in place, executable and whole, with nothing left beside them", async (t) => {
  const { root, target, install } = await node(t);
  assert.equal(await install(), 0);
  assert.equal(await readFile(target, "utf8"), "the executable");
  assert.equal((await stat(target)).mode & 0o777, 0o755);
  assert.equal(
    await readFile(join(root, "config/ecr-credential-provider.yaml"), "utf8"),
    asYaml(credentialProviderConfig({ serviceAccountTokens: false })),
  );
  assert.deepEqual(await readdir(join(root, "bin")), ["ecr-credential-provider"]);
});

test("what is in place already is not written again", async (t) => {
  const { target, install, said } = await node(t);
  await install();
  const before = await stat(target);
  said.length = 0;
  assert.equal(await install(), 0);
  assert.deepEqual(said, []);
  assert.equal((await stat(target)).ino, before.ino);
});

test("a new version takes the place of the old one in one step: the old file is not written into", async (t) => {
  const { source, target, install, said } = await node(t);
  await install();
  const before = await stat(target);
  await writeFile(source, "a newer executable");
  assert.equal(await install("--service-account-tokens"), 0);
  assert.equal(await readFile(target, "utf8"), "a newer executable");
  assert.notEqual((await stat(target)).ino, before.ino);
  assert.match(said.join(""), /ecr-credential-provider\.yaml; kubelet reads it at its next start/);
});

test("an image without the executable says so, and a missing flag is a wrong call", async (t) => {
  const { source, install, said } = await node(t);
  await rm(source);
  assert.equal(await install(), 1);
  assert.match(said.join(""), /this image is not the one with the credential provider/);
  assert.equal(await install("--bin-dir="), 64);
});
