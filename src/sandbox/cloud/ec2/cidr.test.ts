import assert from "node:assert/strict";
import { test } from "node:test";
import { contains, formatBlock, overlaps, parseAddress, parseBlock } from "./cidr.ts";

test("blocks are read in either family and written in canonical network form", () => {
  const cases = {
    "10.1.2.3/16": "10.1.0.0/16",
    "0.0.0.0/0": "0.0.0.0/0",
    "::/0": "::/0",
    "2001:DB8:0:0:1:0:0:1/128": "2001:db8::1:0:0:1/128",
    "2600:1f18:a:b00:0:0:0:1/64": "2600:1f18:a:b00::/64",
    "0:0:0:0:0:0:0:1/128": "::1/128",
    "1::/16": "1::/16",
  };
  for (const [text, canonical] of Object.entries(cases)) assert.equal(formatBlock(parseBlock(text)!), canonical, text);
});

test("what is no block or address is refused", () => {
  for (const text of [
    "",
    "10.0.0.0",
    "10.0.0/8",
    "10.0.0.0/33",
    "256.0.0.0/8",
    "::1::/64",
    "1:2:3/64",
    "g::/64",
    "10.0.0.0/8/8",
    "::/129",
  ]) {
    assert.equal(parseBlock(text), undefined, text);
  }
  assert.equal(parseAddress("1:2:3:4:5:6:7:8:9"), undefined);
});

test("containment and overlap follow the prefix and the family", () => {
  const [wide, narrow, other, six] = ["10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/16", "::/0"].map((text) => parseBlock(text)!);
  assert.ok(contains(wide!, narrow!) && !contains(narrow!, wide!));
  assert.ok(overlaps(narrow!, wide!) && !overlaps(wide!, other!) && !overlaps(six!, wide!));
});
