import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { commentsIn, render, rowsOf, type Schema } from "./values-page.ts";

const read = (file: string) => readFile(join(import.meta.dirname, file), "utf8");

test("a comment belongs to the key right below it, and to no other", () => {
  const text = "# of the file\n\n# one\n# and more\na:\n  # two\n  b: 1\n  c: {}\n  # of nobody\n\n  d:\n    - {x: 1}\n# last\ne: ''\n";
  assert.deepEqual(Object.fromEntries(commentsIn(text)), { a: "one and more", "a.b": "two", e: "last" });
});

test('every value has a type and a description; run "npm run docs" when the page and the schema are not current', async () => {
  const { schema, readme } = await render(import.meta.dirname);
  assert.deepEqual(JSON.parse(await read("values.schema.json")), JSON.parse(JSON.stringify(schema)));
  assert.equal(await read("README.md"), readme);
  const rows = rowsOf(schema, parse(await read("values.yaml")));
  assert.deepEqual(
    rows.filter(({ description }) => !description).map(({ path }) => path),
    [],
  );
  assert.deepEqual(
    rows.filter(({ fallback }) => fallback === undefined).map(({ path }) => path),
    [],
    "in the schema, but not in values.yaml",
  );
  const known = new Set(rows.map(({ path }) => path));
  assert.deepEqual(
    leavesOf(parse(await read("values.yaml")), schema).filter((path) => !known.has(path)),
    [],
    "in values.yaml, but not in the schema",
  );
});

function leavesOf(value: unknown, schema: Schema | undefined, path: readonly string[] = []): readonly string[] {
  const isOpen = schema?.properties === undefined && path.length > 0;
  if (isOpen || typeof value !== "object" || value === null) return [path.join(".")];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, schema?.properties?.[key], [...path, key]));
}
