/** The scanner reads documents by the thousand as fast-xml-parser does, which reads them whole and knows nothing of shapes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { XMLParser } from "fast-xml-parser";
import { type SeededRandom, seededRandom } from "../sandbox/seeded-random.ts";
import { fields, list, Scanner, type Shape, text } from "./scan.ts";

const shape = fields({
  name: text,
  inner: fields({ note: text, name: text }),
  tagSet: list(fields({ key: text, value: text })),
  empty: list(text),
});

/** The same choice as the shape's, from the tree of a parser that keeps everything. */
type Pick = "text" | { readonly fields: Readonly<Record<string, Pick>> } | { readonly list: Pick };
const pick: Pick = {
  fields: {
    name: "text",
    inner: { fields: { note: "text", name: "text" } },
    tagSet: { list: { fields: { key: "text", value: "text" } } },
    empty: { list: "text" },
  },
};

const words = [
  "a",
  "größe",
  "&lt;b&gt;",
  "&amp;amp;",
  "&#233;",
  "&#x1F600;",
  "&quot;&apos;",
  "  spaced  ",
  "1e3",
  "true",
  "0012",
  "]]",
  "",
];
const names = ["name", "inner", "note", "tagSet", "key", "value", "empty", "other", "deep"];

class Writer {
  readonly #random: SeededRandom;
  constructor(random: SeededRandom) {
    this.#random = random;
  }

  document(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n${this.#noise()}<Answer xmlns="urn:a">${this.#children(3)}</Answer>\n`;
  }

  /** Children with names of their own: which of two of one name counts is nobody's promise. */
  #children(depth: number): string {
    const chosen = names.filter(() => this.#chance(0.5));
    return chosen.map((name) => this.#noise() + this.#element(name, depth)).join("");
  }

  #element(name: string, depth: number): string {
    if (this.#chance(0.1)) return `<${name}/>`;
    const open = this.#chance(0.2) ? `<${name} kind="a &gt; b">` : `<${name}>`;
    return `${open}${this.#content(name, depth)}</${name}>`;
  }

  #content(name: string, depth: number): string {
    if (name === "inner" || (name === "other" && depth > 0)) return depth > 0 ? this.#children(depth - 1) : "";
    if (name === "tagSet") return this.#items(() => this.#element("key", 0) + this.#element("value", 0));
    if (name === "empty") return this.#items(() => this.#text());
    return this.#text();
  }

  #items(make: () => string): string {
    return Array.from({ length: Math.floor(this.#random.number() * 4) }, () => `<item>${make()}</item>`).join(
      this.#chance(0.5) ? "\n  " : "",
    );
  }

  #text(): string {
    const word = () => words[Math.floor(this.#random.number() * words.length)]!;
    return this.#chance(0.1) ? "<![CDATA[1 < 2 &amp; so]]>" : word() + word();
  }

  #noise(): string {
    return this.#chance(0.1) ? "<!-- <name>no</name> -->\n" : this.#chance(0.3) ? "\n  " : "";
  }

  #chance(share: number): boolean {
    return this.#random.number() < share;
  }
}

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
  isArray: (name) => name === "item",
});

function picked(node: unknown, by: Pick): unknown {
  if (by === "text") return typeof node === "string" ? node : "";
  const children = typeof node === "object" && node !== null ? (node as Readonly<Record<string, unknown>>) : {};
  if ("list" in by) return ((children.item as readonly unknown[] | undefined) ?? []).map((item) => picked(item, by.list));
  const present = Object.entries(by.fields).filter(([name]) => name in children);
  return Object.fromEntries(present.map(([name, inner]) => [name, picked(children[name], inner)]));
}

function scanned(document: string, of: Shape<unknown>, random: SeededRandom): unknown {
  const scanner = new Scanner(of);
  const bytes = Buffer.from(document);
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(random.number() * 40);
    scanner.feed(bytes.subarray(at, at + length));
    at += length;
  }
  return scanner.end();
}

test("two thousand random documents, cut anywhere, are read as another parser reads them", () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = seededRandom(seed);
    const document = new Writer(random).document();
    const expected = picked((parser.parse(document) as { readonly Answer: unknown }).Answer, pick);
    assert.deepEqual(scanned(document, shape, random), expected, `seed ${seed}:\n${document}`);
  }
});
