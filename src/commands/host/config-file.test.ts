import assert from "node:assert/strict";
import { test } from "node:test";
import { flag } from "../../runtime/flags.ts";
import { bool, duration, string, stringArray, strings, stringToString } from "../../runtime/flags-kinds.ts";
import { argvOfSection, readSections } from "./config-file.ts";

const flags = {
  "cluster-cidr": flag(string, "", "x"),
  controllers: flag(strings, ["*"], "x"),
  period: flag(duration, 0, "x"),
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
    '--tags="team=shop, east"',
    "--tags=sum=1=1",
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
    "f.yaml: manager.controllers: cannot be empty: give a value, a list of values, or a map of names and values",
  ]);
});
