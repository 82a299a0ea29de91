import assert from "node:assert/strict";
import { test } from "node:test";
import { flag, parseFlags } from "../../runtime/flags.ts";
import { bool, duration, string, stringArray, strings, stringToString, vmodule } from "../../runtime/flags-kinds.ts";
import { argvOfSection, readSections } from "./config-file.ts";

const flags = {
  "cluster-cidr": flag(string, "", "x"),
  controllers: flag(strings, ["*"], "x"),
  period: flag(duration, 0, "x"),
  kept: flag(stringArray, ["a"], "x"),
  modules: flag(vmodule, {}, "x"),
  resources: flag(stringArray, [], "x"),
  routes: flag(bool, true, "x"),
  "secure-port": flag(string, "", "x"),
  tags: flag(stringToString, {}, "x"),
};
const rules = {
  file: "f.yaml",
  section: "manager",
  flags,
  misplaced: (name: string) => (name === "secure-port" ? "goes elsewhere" : undefined),
};
const sections = (text: string) => [...readSections("f.yaml", text, ["manager", "other"])];

test("sections are read in the order of the table, whatever order the file has, and may be empty", () => {
  assert.deepEqual(sections("other:\nmanager: {period: 5s}\nprocess: {v: 2}"), [
    ["process", { v: 2 }],
    ["manager", { period: "5s" }],
    ["other", {}],
  ]);
  assert.deepEqual(sections(""), []);
});

const unreadable: readonly (readonly [string, RegExp])[] = [
  ["a: [", /^f\.yaml: .* at line 1/],
  ["manager: {}\nmanager: {}", /^f\.yaml: Map keys must be unique/],
  ["- x", /^f\.yaml: must hold sections, which are process, manager, other$/],
  ["managr: {}", /^f\.yaml: managr: there is no such section; did you mean manager\? Sections are process, manager, other$/],
  ["manager: {controllers: !secret x}", /^f\.yaml: Unresolved tag: !secret at line 1/],
  [`manager: &a [1]\nother: [${"*a,".repeat(101)}]`, /^f\.yaml: Excessive alias count/],
  ["manager: 7", /^f\.yaml: manager: must hold flags by name, but is 7$/],
];

for (const [text, message] of unreadable) {
  test(`a file like ${JSON.stringify(text)} is refused`, () =>
    assert.throws(() => sections(text), { name: "ConfigurationFailed", message }));
}

test("values, lists and maps become the words that a command line would have", () => {
  const entries = {
    "cluster-cidr": "10.0.0.0/8",
    controllers: ["*", "a,b"],
    period: "1m",
    resources: ["a,b", "c"],
    routes: false,
    tags: { team: "shop, east", sum: "1=1" },
  };
  const { argv, problems } = argvOfSection(entries, rules);
  assert.deepEqual(problems, []);
  assert.deepEqual(argv, [
    "--cluster-cidr=10.0.0.0/8",
    "--controllers=*",
    '--controllers="a,b"',
    "--period=1m",
    "--resources=a,b",
    "--resources=c",
    "--routes=false",
    '--tags="team=shop, east",sum=1=1',
  ]);
});

test("everything that is wrong is told at once, with file, section and key", () => {
  const entries = {
    "cluster-cdr": "x",
    "--routes": true,
    "secure-port": 1,
    period: 5,
    routes: "maybe",
    tags: { a: { b: 1 } },
    controllers: null,
  };
  assert.deepEqual(argvOfSection(entries, rules).problems, [
    "f.yaml: manager.cluster-cdr: there is no such flag; did you mean cluster-cidr?",
    "f.yaml: manager.--routes: there is no such flag; did you mean routes?",
    "f.yaml: manager.secure-port: goes elsewhere",
    'f.yaml: manager.period: invalid argument "5" for "--period" flag: time: missing unit in duration "5"',
    'f.yaml: manager.routes: invalid argument "maybe" for "--routes" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
    'f.yaml: manager.tags: cannot be {"a":{"b":1}}: give a value, a list of values, or a map of names and values',
    "f.yaml: manager.controllers: cannot be empty: give a value, or a list of values",
  ]);
});

/** What the flags come to in the program, or what is told. */
function valuesIn(section: string): unknown {
  const [[, entries] = ["", {}]] = sections(`manager: ${section}`);
  const { argv, problems } = argvOfSection(entries, rules);
  if (problems.length > 0) return problems;
  const { values, given } = parseFlags(flags, argv);
  return Object.fromEntries(Object.entries(values).filter(([name]) => given.has(name as keyof typeof flags)));
}

const tag = (value: string) => ({ tags: { a: value } });
const meant: readonly (readonly [section: string, values: unknown])[] = [
  ["{cluster-cidr: 007}", { "cluster-cidr": "007" }],
  ["{tags: {account: 012345678901, version: 1.10}}", { tags: { account: "012345678901", version: "1.10" } }],
  ["{tags: {007: x}}", { tags: { "007": "x" } }],
  [`{tags: {a: 'say "hi"'}}`, tag('say "hi"')],
  [`{tags: {a: '"b=c", d'}}`, tag('"b=c", d')],
  ["{tags: {a: 'x, y'}}", tag("x, y")],
  ["{modules: {a: 1, b: 2}}", { modules: { a: 1, b: 2 } }],
  ["{controllers: []}", { controllers: [] }],
  ["{tags: {}}", {}],
  ["{tags: []}", {}],
];

for (const [section, values] of meant) {
  test(`${section} means to the program what it says`, () => assert.deepEqual(valuesIn(section), values));
}

const withoutMeaning: readonly (readonly [section: string, complaint: string])[] = [
  ["{cluster-cidr: [10.0.0.0/16, 'fd00::/48']}", 'cluster-cidr: cannot be ["10.0.0.0/16","fd00::/48"]: give one value'],
  ["{routes: [false]}", "routes: cannot be [false]: give one value"],
  ["{cluster-cidr: {a: b}}", 'cluster-cidr: cannot be {"a":"b"}: give one value'],
  ["{controllers: {a: b}}", 'controllers: cannot be {"a":"b"}: give a value, or a list of values'],
  ["{kept: []}", "kept: cannot be empty: leave it out for its default, which is [a]"],
  ["&all {tags: *all}", "tags: cannot be part of itself: give a value, a list of values, or a map of names and values"],
];

for (const [section, complaint] of withoutMeaning) {
  test(`${section} is refused`, () => assert.deepEqual(valuesIn(section), [`f.yaml: manager.${complaint}`]));
}
