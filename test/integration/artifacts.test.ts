/** The templates of machine classes as Go's own template engine renders them, and the objects as a real API server takes them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { artifacts } from "../../src/discovery/artifacts/artifacts.ts";
import type { InstanceClassSpec } from "../../src/discovery/artifacts/input.ts";
import { machineClass, machineClassChecksum } from "../../src/discovery/artifacts/machine-class.ts";
import { exampleInput } from "../../src/discovery/artifacts/testing.ts";
import { bed } from "../bed/bed.ts";
import { type MachineTemplate, renderTemplate } from "../bed/machine-templates.ts";
import { apply } from "../bed/manifests.ts";

const render = (t: TestContext, name: MachineTemplate, instanceClass: object, rollout?: string) =>
  renderTemplate(t, name, exampleInput(), { name: "worker", instanceClass, zone: "eu-central-1a", rollout });

/** What people write into tags, and what only a test does. */
const awkward = [
  ...["yes", "it's", "", "012", "2026-01-01", "#x", '"', "a b", "~", "-a", "- a", "a:", "a: b", "é", " a", "a ", "a,b", "[a", "%a", "@a"],
  ...["!a", "&a", "a #b", "a#b", "1.5", "1e3", "0x1f", "1:20", "1_000", "on", ".inf", "=", "<<", "?", "? a", ">a", ":a", "+1", ".5", "---"],
  ...["...", "1.2.3", "-1", "null", "~a", "|a", ",a", "}a", "TRUE", "tRue", "a\\b", "a\nb", "2026-01-01T00:00:00Z"],
  ...[`${"word ".repeat(40)}end`, `it's: ${"a long word ".repeat(12)}`.trim(), `${"x".repeat(90)} y z`],
];

const classes: readonly InstanceClassSpec[] = [
  { instanceType: "m5.large" },
  { ami: "", instanceType: "m5.large", spot: true, diskSizeGb: 20 },
  { instanceType: "m5.large", diskSizeGb: 50, diskType: "io1", iops: "500", additionalSecurityGroups: ["sg-extra", "sg-base"] },
  { instanceType: "t3.large", additionalTags: Object.fromEntries(awkward.map((text, index) => [`tag-${index}`, text])) },
  // Go's order of keys that mix digits and signs depends on the order in which it meets them: those stand alone.
  ...[
    ["yes", "on", "null", "TRUE", "it's", "a: b", "a #b", "a:", "team"],
    ["012"],
    ["2026-01-01"],
    ["1e3"],
    ["#x"],
    ["? a"],
    ["tag-9", "tag-10"],
  ].map((keys) => ({ instanceType: "t3.large", additionalTags: Object.fromEntries(keys.map((key) => [key, "value"])) })),
];

test("templates and code give the same machine class and the same checksum, whatever the tags", async (t) => {
  for (const instanceClass of classes) {
    const what = JSON.stringify(instanceClass);
    const { checksum } = parse(await render(t, "machine-class.checksum", instanceClass, "r1")) as { checksum: string };
    assert.equal(checksum, machineClassChecksum(instanceClass, "r1"), what);
    const group = { name: "worker", instanceClass: instanceClass as { instanceType: string } };
    assert.deepEqual(
      parse(await render(t, "machine-class.yaml", instanceClass)),
      machineClass(exampleInput(), group, "eu-central-1a"),
      what,
    );
  }
});

test("the credential lines are the account's keys", async (t) => {
  const lines = parse(await render(t, "config-for-machine-controller-manager.yaml", {})) as Record<string, string>;
  const decoded = Object.values(lines).map((text) => Buffer.from(text, "base64").toString());
  assert.deepEqual(decoded, ["AKIAIOSFODNN7EXAMPLE", "of-no-worth"]);
});

test("the API server takes every object", async (t) => {
  const { cluster } = await bed(t);
  for (const object of artifacts(exampleInput())) await apply(cluster.admin, object);
});
