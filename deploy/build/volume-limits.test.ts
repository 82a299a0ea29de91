import assert from "node:assert/strict";
import { test } from "node:test";
import { printLimits, readTables } from "./volume-limits.ts";

const table = `package limits

var nonNitroInstanceTypes = map[string]struct{}{
	"c3.large":   {},
	"t2.nano":    {},
	"c3.8xlarge": {},
}

var volumeLimits = map[string]volumeLimit{
	"b1.metal-24xl": {maxAttachments: 39, attachmentType: "shared"},
	"b1.12xlarge":   {maxAttachments: 32, attachmentType: "dedicated"},
	"b1.xlarge":     {maxAttachments: 32, attachmentType: "dedicated"},
	"b1.large":      {maxAttachments: 32, attachmentType: "dedicated"},
	"a1.metal":      {maxAttachments: 31, attachmentType: "shared"},
	"d1.metal":      {maxAttachments: 31, attachmentType: "shared"},
}

var ebsCardCounts = map[string]int{
	"b1.12xlarge": 2,
}
`;
const rules = `package limits

var dedicatedInstances = map[string]struct{}{
	"b1.metal-24xl": {},
}
`;

test("types with the same limits share a row, sizes go from small to large, and EC2's mistakes are corrected", () => {
  const text = printLimits(readTables(table, rules));
  const rows = text.split("\n").filter((line) => line.startsWith("  ["));
  assert.deepEqual(rows, [
    '  ["a1 d1", "31s: metal"],',
    '  ["b1", "32d: large x 12x; 39d: metal-24xl"],',
    '  ["c3", "large 8x"],',
    '  ["t2", "nano"],',
    '  ["b1", "12x"],',
  ]);
});

test("a table of another form is refused, and the row that cannot be read is named", () => {
  assert.throws(() => readTables(table.replace("ebsCardCounts", "cards"), rules), /no map ebsCardCounts any more/);
  assert.throws(
    () => readTables(table.replace('"dedicated"}', "dedicated}"), rules),
    /a row of volumeLimits cannot be read: "b1\.12xlarge"/,
  );
});
