import assert from "node:assert/strict";
import { test } from "node:test";
import { contains, formatAddress, formatCidr, holds, overlaps, parseAddress, parseCidr, sameAddress } from "./ip.ts";

const canonical = (text: string) => {
  const address = parseAddress(text);
  return address && formatAddress(address);
};

test("addresses come out in canonical form, whatever the spelling", () => {
  for (const [text, expected] of [
    ["10.0.0.1", "10.0.0.1"],
    ["010.000.0.01", "10.0.0.1"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8::", "2001:db8::"],
    ["::", "::"],
    ["::1", "::1"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["64:ff9b::10.0.0.1", "64:ff9b::a00:1"],
  ] as const)
    assert.equal(canonical(text), expected, text);
});

test("what is no address is undefined, never a guess", () => {
  for (const text of [
    "",
    " 10.0.0.1",
    "10.0.0",
    "10.0.0.256",
    "1.2.3.4.5",
    "1::2::3",
    "12345::",
    "g::",
    "::1%eth0",
    "1:2:3:4:5:6:7",
    "10.0.0.1/8",
  ])
    assert.equal(parseAddress(text), undefined, JSON.stringify(text));
});

test("equality is numeric", () => {
  assert.ok(sameAddress(parseAddress("2001:db8::1")!, parseAddress("2001:0DB8::0001")!));
  assert.ok(!sameAddress(parseAddress("::1")!, parseAddress("0.0.0.1")!));
});

test("a block clears its host bits and knows what lies within it", () => {
  const pods = parseCidr("10.244.3.7/14")!;
  assert.equal(formatCidr(pods), "10.244.0.0/14");
  assert.ok(contains(pods, parseCidr("10.247.255.0/24")!));
  assert.ok(!contains(pods, parseCidr("10.248.0.0/24")!));
  assert.ok(!contains(pods, parseCidr("0.0.0.0/0")!));
  assert.ok(overlaps(pods, parseCidr("0.0.0.0/0")!));
  assert.ok(holds(pods, parseAddress("10.245.1.1")!));
  assert.ok(!contains(parseCidr("::/0")!, pods));
  assert.ok(contains(parseCidr("2001:db8::/32")!, parseCidr("2001:db8:1::/64")!));
});

test("what is no block is undefined", () => {
  for (const text of ["", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8 ", "::/129", "/8"])
    assert.equal(parseCidr(text), undefined, text);
});
