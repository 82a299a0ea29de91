import assert from "node:assert/strict";
import { test } from "node:test";
import { type FlagSection, flag, undecided } from "./flags.ts";
import { bool, int32, string, strings } from "./flags-kinds.ts";
import { flagReference, flagUsage } from "./flags-usage.ts";

const sections: readonly FlagSection[] = [
  {
    title: "Generic",
    flags: {
      workers: undecided(int32, "one a core", "How many."),
      name: flag(string, "kubernetes", "The name | of it."),
      list: flag(strings, ["*"], "A list.\nSecond line."),
      old: flag(bool, false, "Gone.", { deprecated: "it does nothing." }),
    },
  },
  { title: "Global", flags: { help: flag(bool, false, "this help", { shorthand: "h" }) } },
];

test("help is grouped by section, sorted and aligned, and leaves deprecated flags out", () => {
  assert.equal(
    flagUsage(sections, 0),
    [
      "Generic flags:",
      "",
      "      --list strings    A list.",
      "                        Second line. (default [*])",
      '      --name string     The name | of it. (default "kubernetes")',
      "      --workers int32   How many. (default one a core)",
      "",
      "Global flags:",
      "",
      "  -h, --help   this help",
      "",
    ].join("\n"),
  );
});

test("on a narrow terminal descriptions go below their flag and are wrapped", () => {
  const lines = flagUsage(sections, 40).split("\n");
  assert.deepEqual(lines.slice(5, 8), ["      --name string", "          The name | of it. (default", '          "kubernetes")']);
  assert.ok(lines.every((line) => line.length <= 40));
});

test("the reference page shows every flag, deprecated ones with their reason", () => {
  const page = flagReference(sections);
  assert.match(page, /\| `--name` \| string \| `kubernetes` \| The name \\\| of it\. \|/);
  assert.match(page, /\| `--workers` \| int32 \| one a core \| How many\. \|/);
  assert.match(page, /\| `--old` \| bool \| `false` \| Gone\. \*\*Deprecated:\*\* it does nothing\. \|/);
  assert.match(page, /\| `-h`, `--help` \| bool \|/);
});
