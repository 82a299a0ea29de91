/** Every step of the image build that is more than a copy, outside of Docker. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { assemble } from "../../deploy/image/assemble.ts";
import type { ExtraName } from "../../deploy/image/extras.ts";
import manifest from "../../package.json" with { type: "json" };

const run = promisify(execFile);
const dockerfile = await readFile(new URL("../../deploy/image/Dockerfile", import.meta.url), "utf8");

async function image(t: TestContext, extra?: ExtraName) {
  const root = await mkdtemp(join(tmpdir(), "fairlead-image-"));
  t.after(() => rm(root, { recursive: true }));
  const files = await assemble(root, { architecture: hostArchitecture(), extra });
  const [program = "", ...args] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
  const inside = (path: string) => (path.startsWith("/") ? join(root, path) : path);
  const fairlead = (...more: readonly string[]) => run(inside(program), [...args.map(inside), ...more], { env: {} });
  return { root, files, fairlead };
}

test("the image starts, knows its version, and holds nothing but Node, the bundle, the licence and the bill of materials", async (t) => {
  const { files, fairlead } = await image(t);
  assert.equal((await fairlead("version")).stdout.split("\n")[0], `fairlead v${manifest.version}`);
  await assert.rejects(fairlead("sandbox", "--once"), /the sandbox is not part of the image/);
  for (const command of ["controller-manager", "ecr-credential-provider", "install-credential-provider"]) await fairlead(command, "--help");
  const bundle = files.filter(({ path }) => path.startsWith("app/"));
  const [all, ours] = [files, bundle].map((some) => some.reduce((sum, { bytes }) => sum + bytes, 0) / 2 ** 20);
  t.diagnostic(`image ${all!.toFixed(1)} MB, of which ours ${ours!.toFixed(1)} MB in ${bundle.length} files`);
  assert.ok(ours! < 12, `the bundle has grown to ${ours!.toFixed(1)} MB`);
});

test("in a container the command is called by its name, without a shell", async (t) => {
  const { root } = await image(t);
  assert.equal(await readlink(join(root, "usr/local/bin/fairlead")), "/app/fairlead.js");
  const file = await readFile(join(root, "app/fairlead.js"), "utf8");
  assert.match(file, /^#!\/usr\/local\/bin\/node\n(?!#!)/);
  assert.equal((await stat(join(root, "app/fairlead.js"))).mode & 0o777, 0o755);
});

test("the bill of materials names every package of production with its version", async (t) => {
  const { root } = await image(t);
  const bill = JSON.parse(await readFile(join(root, "app/sbom.spdx.json"), "utf8")) as {
    packages: { name: string; versionInfo: string }[];
  };
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    assert.ok(
      bill.packages.some((each) => each.name === name && each.versionInfo === version),
      `${name} ${version}`,
    );
  }
  for (const name of Object.keys(manifest.devDependencies)) assert.ok(!bill.packages.some((each) => each.name === name), name);
});

test("the image of the credential provider installs an executable that works", async (t) => {
  const { root, fairlead } = await image(t, "credential-provider");
  const flags = [`--bin-dir=${root}/host/bin`, `--config-dir=${root}/host/config`, "--once"];
  await fairlead("install-credential-provider", ...flags);
  const { stdout } = await run(join(root, "host/bin/ecr-credential-provider"), ["config"]);
  assert.equal(stdout, await readFile(join(root, "host/config/ecr-credential-provider.yaml"), "utf8"));
});

test("the image for other installers takes the reference's arguments", async (t) => {
  const { fairlead } = await image(t);
  const entries = [...dockerfile.matchAll(/^ENTRYPOINT (.*)$/gm)].map(([, entry]) => JSON.parse(entry!) as string[]);
  assert.deepEqual(entries[1], [...entries[0]!, "controller-manager"]);
  assert.match((await fairlead(...entries[1]!.slice(entries[0]!.length), "--version")).stdout, /^Kubernetes v/);
});

test("what the chart starts on every node is the image's own entry point, with more flags for Node that it knows", async (t) => {
  const { root } = await image(t);
  const [entry = []] = [...dockerfile.matchAll(/^ENTRYPOINT (.*)$/gm)].map(([, text]) => JSON.parse(text!) as string[]);
  const daemonSet = await readFile(new URL("../../deploy/manifests/node-termination-handler.yaml", import.meta.url), "utf8");
  const { command } = parseAllDocuments(daemonSet)
    .map((document) => document.toJS() as { kind: string; spec?: { template: { spec: { containers: { command: string[] }[] } } } })
    .find(({ kind }) => kind === "DaemonSet")!.spec!.template.spec.containers[0]!;
  assert.deepEqual(
    entry.filter((word) => !command.includes(word)),
    [],
  );
  assert.deepEqual([command[0], command.at(-1)], [entry[0], entry.at(-1)]);
  const [program = "", ...words] = command.map((word) => (word.startsWith("/") ? join(root, word) : word));
  const { stdout, stderr } = await run(program, [...words, "node-termination-handler", "--help"]);
  assert.match(stdout + stderr, /--node-name/);
});

test("the image runs as nobody in particular, on a base without a shell, and is labelled", () => {
  assert.match(dockerfile, /^USER 65532:65532$/m);
  assert.match(dockerfile, /^ARG BASE=\S+distroless\S+$/m);
  for (const label of ["title", "description", "licenses", "version", "revision"]) {
    assert.ok(dockerfile.includes(`org.opencontainers.image.${label}=`), label);
  }
});

test("every base is given by a digest that has no default", () => {
  const stages = new Set([...dockerfile.matchAll(/^FROM .* AS (\S+)$/gm)].map(([, stage]) => stage!));
  const bases = [...dockerfile.matchAll(/^FROM (?:--\S+ )?(\S+)/gm)].map(([, base]) => base!).filter((base) => !stages.has(base));
  assert.equal(bases.length, 3);
  for (const base of bases) {
    const [, digest] = /^\$\{\w+\}@\$\{(\w+)\}$/.exec(base) ?? [];
    assert.match(dockerfile, new RegExp(`^ARG ${digest}$`, "m"), base);
  }
  assert.doesNotMatch(dockerfile, /^# *syntax=/m, "the frontend would be an image of its own, by tag");
});
