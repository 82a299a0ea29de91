import assert from "node:assert/strict";
import { test } from "node:test";
import { type IniValue, iniBool, iniInt32, iniString, parseIni } from "./ini.ts";

const read = (text: string) => parseIni(Buffer.from(text));
const values = (text: string) => read(text).flatMap(({ variable }) => (variable ? [[variable.name, variable.value]] : []));

test("headers and variables come in file order, each with its place", () => {
  assert.deepEqual(read('[Global]\n  Region = us-east-1\n\n[ServiceOverride "a b"]\nService=EC2\n'), [
    { section: "Global", subsection: "", line: 1, column: 1 },
    { section: "Global", subsection: "", variable: { name: "Region", value: "us-east-1" }, line: 2, column: 3 },
    { section: "ServiceOverride", subsection: "a b", line: 4, column: 1 },
    { section: "ServiceOverride", subsection: "a b", variable: { name: "Service", value: "EC2" }, line: 5, column: 1 },
  ]);
  assert.deepEqual(read(""), []);
  assert.deepEqual(read("; nothing\n# here\r\n"), []);
});

test("quotes, escapes, comments, blanks and continued lines are read as git does", () => {
  const cases: [string, IniValue][] = [
    ["k", undefined],
    ["k ; why", undefined],
    ["k =", ""],
    ["k = a b  ; c", "a b"],
    ["k = a#b", "a"],
    ['k = " a;b " # c', " a;b "],
    ['k = a" b "c', "a b c"],
    ['k = "x" y', "x y"],
    ['k = "a\\\\b\\"c\\nd\\te"', 'a\\b"c\nd\te'],
    ["k = a \\\n  b", "a   b"],
    ['k = a\\"b', 'a"b'],
    ["k = a\r", "a"],
    ["k=a=b", "a=b"],
    ["k = é", "é"],
  ];
  for (const [line, value] of cases) assert.deepEqual(values(`[s]\n${line}\n`), [["k", value]], line);
  assert.deepEqual(values("[s]\nk = last"), [["k", "last"]]);
  assert.equal(read('[s "a\\"b\\\\c"]')[0]?.subsection, 'a"b\\c');
});

const refusals: [string | Uint8Array, string][] = [
  ["\ufeff[Global]\n", "1:1: illegal character U+FEFF: save the file without a byte order mark"],
  ["a=b\n", "1:1: expected section header"],
  ["=x\n", "1:1: expected section header"],
  ["[Global]\nRegion us-east-1\n", "2:8: expected '='"],
  ['[Global ""]\n', "1:9: empty subsection name"],
  ["[Global\n", "1:8: expected subsection name or right bracket"],
  ["[Global y]\n", "1:9: expected subsection name or right bracket"],
  ['[Global "x" y]\n', "1:13: expected right bracket"],
  ["[]\n", "1:2: expected section name"],
  ["[Global] x\n", "1:10: expected EOL, EOF, or comment"],
  ["[Global]\n=x\n", "2:1: expected section header or variable declaration"],
  ['[Global]\nRegion="a\n', "2:8: string not terminated"],
  ['[Global "x]\n', "1:9: string not terminated"],
  ["[Global]\nRegion=a\\b\n", "2:8: unquoted '\\' must be followed by new line or double quote"],
  ['[Global]\nRegion="a\\b"\n', "2:11: unknown escape sequence"],
  ['[Global]\nRegion="a\\\nb"\n', "2:11: unknown escape sequence"],
  ['[ServiceOverride "a\\n"]\n', "1:21: unknown escape sequence"],
  ["[Global]\nRe_gion=a\n", "2:3: illegal character U+005F '_'"],
  ["[Global]\n1a = a\n", "2:1: illegal character U+0031 '1'"],
  ["[Global]\nRegion=a\0b\n", "2:9: illegal character NUL"],
  [Uint8Array.from([...Buffer.from("[Global]\nRegion="), 0xff, 0x0a]), "2:8: illegal UTF-8 encoding"],
];

for (const [text, message] of refusals) {
  test(`a file like ${JSON.stringify(Buffer.from(text).toString("latin1"))} is refused at its place`, () => {
    assert.throws(() => parseIni(Buffer.from(text)), { name: "IniError", message });
  });
}

test("booleans take git's words in any case, and a bare name is true", () => {
  for (const text of ["true", "Yes", "ON", "1", undefined]) assert.equal(iniBool(text), true);
  for (const text of ["false", "No", "oFF", "0"]) assert.equal(iniBool(text), false);
  assert.throws(() => iniBool("maybe"), { message: "failed to parse bool `maybe`" });
  assert.throws(() => iniBool(""), { message: "failed to parse bool ``" });
});

test("integers are decimal or hexadecimal and fit 32 bits", () => {
  assert.equal(iniInt32("0x10"), 16);
  assert.equal(iniInt32(" -5 "), -5);
  const refused: [IniValue, string][] = [
    ["x", 'failed to parse "x" as int32: expected integer'],
    ["12y", 'failed to parse "12y" as int32: extra characters "y"'],
    ["", 'failed to parse "" as int32: EOF'],
    ["99999999999", 'failed to parse "99999999999" as int32: integer overflow on token 99999999999'],
    [undefined, "blank value not supported for type int32"],
  ];
  for (const [text, message] of refused) assert.throws(() => iniInt32(text), { message });
  assert.throws(() => iniString(undefined), { message: "blank value not supported for type string" });
});
