/** The layouts against the schemas of the real provider: names, types and references, no values. */
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { layouts } from "./inputs.ts";
import { readSchema, schemaVersions } from "./provider.ts";
import { layoutsFolder, startTofu } from "./tofu.ts";

const steps = ["base-infrastructure", "master-node", "static-node"];

test("the modules are formatted", async (t) => {
  const tofu = await startTofu(t, { schema: await readSchema("5.83.1"), resources: {}, dataSources: {} });
  const { status, output } = await tofu.run("layouts/standard/base-infrastructure", ["fmt", "-check", "-recursive", layoutsFolder]);
  assert.equal(status, 0, output);
});

for (const version of schemaVersions) {
  test(`all nine steps are valid against the schema of provider ${version}`, async (t) => {
    const tofu = await startTofu(t, { schema: await readSchema(version), resources: {}, dataSources: {} });
    for (const { folder } of layouts) {
      for (const step of steps) {
        const { status, output } = await tofu.run(`layouts/${folder}/${step}`, ["validate", "-no-color"]);
        assert.equal(status, 0, `${folder}/${step}: ${output}`);
      }
    }
  });
}

test("a misspelt argument, a missing one and one of no type that fits are each reported", async (t) => {
  const tofu = await startTofu(t, { schema: await readSchema("5.83.1"), resources: {}, dataSources: {} });
  const copy = await mkdtemp(join(tmpdir(), "fairlead-layouts-"));
  t.after(() => rm(copy, { recursive: true, force: true }));
  const cases = [
    ["cidr_block           = var.cidr_block", "cidr_blok            = var.cidr_block", /named "cidr_blok" is not expected/],
    ["enable_dns_hostnames = true", 'enable_dns_hostnames = ["yes"]', /bool required/],
  ] as const;
  for (const [index, [from, to, message]] of cases.entries()) {
    const folder = join(copy, String(index));
    await cp(layoutsFolder, folder, { recursive: true, verbatimSymlinks: true });
    const file = join(folder, "terraform-modules/vpc/main.tf");
    const text = await readFile(file, "utf8");
    assert.ok(text.includes(from), from);
    await writeFile(file, text.replace(from, to));
    const { status, output } = await tofu.run(join(folder, "layouts/standard/base-infrastructure"), ["validate", "-no-color"]);
    assert.equal(status, 1);
    assert.match(output, message);
  }
  const folder = join(copy, "missing");
  await cp(layoutsFolder, folder, { recursive: true, verbatimSymlinks: true });
  const file = join(folder, "terraform-modules/root/base.tf");
  await writeFile(file, (await readFile(file, "utf8")).replace("public_key = local.config.sshPublicKey", ""));
  const { output } = await tofu.run(join(folder, "layouts/standard/base-infrastructure"), ["validate", "-no-color"]);
  assert.match(output, /The argument "public_key" is required/);
});
