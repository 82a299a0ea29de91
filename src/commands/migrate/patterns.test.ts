import assert from "node:assert/strict";
import { test } from "node:test";
import { covers, meets } from "./patterns.ts";

const letters = ["a", "b", "*", "?"];
const words = (length: number, of: readonly string[]): readonly string[] =>
  length === 0 ? [""] : ["", ...words(length - 1, of).flatMap((word) => of.map((letter) => letter + word))];
const fits = (pattern: string, text: string) => new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`).test(text);

test("of all short patterns, those meet that some text fits, and none is said to hold another that it does not", () => {
  const patterns = [...new Set(words(3, letters))];
  const texts = [...new Set(words(6, ["a", "b"]))];
  const fitting = new Map(patterns.map((pattern) => [pattern, new Set(texts.filter((text) => fits(pattern, text)))]));
  for (const a of patterns) {
    for (const b of patterns) {
      const [ofA, ofB] = [fitting.get(a)!, fitting.get(b)!];
      assert.equal(meets(a, b), !ofA.isDisjointFrom(ofB), `${a} meets ${b}`);
      if (covers(a, b)) assert.ok(ofB.isSubsetOf(ofA), `${a} holds ${b}`);
    }
  }
  assert.ok(covers("/a*", "/ab*") && covers("*.example.com", "a.b.example.com") && !covers("/ab*", "/a*"));
});
