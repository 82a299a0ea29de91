import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonItems } from "./json-items.ts";

const lists: readonly { readonly items?: readonly object[]; readonly [key: string]: unknown }[] = [
  { kind: "List", metadata: { resourceVersion: "1" }, items: [] },
  { items: [{ a: 1 }, { b: { items: [{ c: [1, { d: "}]" }] }] } }], metadata: { continue: "x" } },
  { kind: '"items":[', "ite\\ms": ["no"], metadata: { items: [{ no: 1 }] }, items: [{ text: 'quo"te\\' }, { ü: "日本" }] },
  { items: [{}, {}, { a: [] }], remaining: ["items", "x"], last: "items" },
  { metadata: {} },
];

test("wherever the bytes are cut, the items and the rest come out as one parse would give them", () => {
  for (const list of lists) {
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2)]) {
      const bytes = Buffer.from(text);
      for (let size = 1; size <= bytes.length; size++) {
        const items: unknown[] = [];
        const parts = new JsonItems((json) => items.push(JSON.parse(json)));
        for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
        const { items: none, ...rest } = parts.end() as Record<string, unknown>;
        const { items: expected, ...expectedRest } = list;
        assert.deepEqual(rest, expectedRest);
        assert.deepEqual(items, expected ?? []);
        assert.deepEqual(none, expected === undefined ? undefined : []);
      }
    }
  }
});

test("an answer that breaks off is no list", () => {
  const text = JSON.stringify(lists[1]);
  for (let cut = 0; cut < text.length; cut++) {
    const parts = new JsonItems(() => {});
    parts.push(Buffer.from(text.slice(0, cut)));
    assert.throws(() => parts.end(), SyntaxError);
  }
});
