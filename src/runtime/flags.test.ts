import assert from "node:assert/strict";
import { test } from "node:test";
import { FlagError, flag, flagLines, parseFlags, undecided } from "./flags.ts";
import {
  bool,
  duration,
  float32,
  int32,
  int32s,
  ip,
  level,
  namedCertificates,
  quantity,
  string,
  stringArray,
  strings,
  stringToString,
  vmodule,
} from "./flags-kinds.ts";

const table = {
  help: flag(bool, false, "this help", { shorthand: "h" }),
  v: flag(level, 0, "verbosity", { shorthand: "v" }),
  "leader-elect": flag(bool, true, "elect"),
  name: flag(string, "kubernetes", "a name"),
  workers: undecided(int32, "Fairlead decides", "workers"),
  period: flag(duration, 10_000, "a period"),
  qps: flag(float32, 20, "rate"),
  address: flag(ip, "0.0.0.0", "an address"),
  controllers: flag(strings, ["*"], "a list"),
  resources: flag(stringArray, [], "an array"),
  tags: flag(stringToString, {}, "pairs"),
  curves: flag(int32s, [], "numbers"),
  modules: flag(vmodule, {}, "patterns"),
  buffer: flag(quantity, 0, "a size"),
  certificates: flag(namedCertificates, [], "certificates"),
  old: flag(duration, 0, "nothing", { deprecated: "it does nothing." }),
};

const parse = (...argv: string[]) => parseFlags(table, argv);

test("every way to write a flag gives the same value", () => {
  assert.equal(parse("--name=x").values.name, "x");
  assert.equal(parse("--name", "x").values.name, "x");
  assert.equal(parse("--name=").values.name, "");
  assert.equal(parse("--name", "--v").values.name, "--v");
  assert.equal(parse("--name=a=b").values.name, "a=b");
  for (const argv of [["-v=4"], ["-v", "4"], ["-v4"], ["--v=4"], ["--v", "4"], ["-hv4"]]) assert.equal(parse(...argv).values.v, 4);
  assert.equal(parse("--leader_elect=false").values["leader-elect"], false);
});

test("a bare boolean is true and never eats the next word", () => {
  const { values, args } = parse("--leader-elect", "false", "-h");
  assert.equal(values["leader-elect"], true);
  assert.equal(values.help, true);
  assert.deepEqual(args, ["false"]);
});

test("two dashes end the flags, one dash alone is an argument", () => {
  assert.deepEqual(parse("-", "a", "--", "--name=x").args, ["-", "a", "--name=x"]);
});

test("a flag that was given is known to be, even with the default's value", () => {
  const { given, values } = parse("--workers=3", "--name=kubernetes");
  assert.deepEqual([...given].sort(), ["name", "workers"]);
  assert.equal(values.workers, 3);
  assert.equal(parse().values.workers, undefined);
  assert.equal(parse().given.size, 0);
});

test("a CSV list replaces the default at first use and appends after; an array takes commas as they are", () => {
  const { values } = parse("--controllers=a,b", '--controllers="c,d"', "--resources=x,y", "--resources=z");
  assert.deepEqual(values.controllers, ["a", "b", "c,d"]);
  assert.deepEqual(values.resources, ["x,y", "z"]);
  assert.deepEqual(parse("--controllers=").values.controllers, []);
});

test("pairs are merged over all uses", () => {
  assert.deepEqual(parse("--tags=a=1,b=2", "--tags=a=3", "--tags=c=").values.tags, { a: "3", b: "2", c: "" });
  assert.deepEqual(parse("--tags=a=b,c").values.tags, { a: "b,c" });
  assert.deepEqual(parse("--tags=url=http://x/?a=b").values.tags, { url: "http://x/?a=b" });
});

test("durations are Go's, in milliseconds", () => {
  const cases: [string, number, string][] = [
    ["0", 0, "0s"],
    ["1h2m3.5s", 3_723_500, "1h2m3.5s"],
    ["100ms", 100, "100ms"],
    ["12h", 43_200_000, "12h0m0s"],
    [".5s", 500, "500ms"],
    ["1.s", 1000, "1s"],
    ["-5s", -5000, "-5s"],
    ["90s", 90_000, "1m30s"],
    ["1us", 0.001, "1µs"],
    ["500ns", 0.0005, "500ns"],
  ];
  for (const [text, ms, shown] of cases) {
    const { values } = parse(`--period=${text}`);
    assert.equal(values.period, ms, text);
    assert.ok(flagLines(table, values).includes(`--period="${shown}"`), text);
  }
});

test("numbers take Go's prefixes and underscores", () => {
  for (const [text, value] of Object.entries({ "0x1F": 31, "017": 15, "0_7": 7, "0b11": 3, "+3": 3, "-5": -5, "1_000": 1000 })) {
    assert.equal(parse(`--workers=${text}`).values.workers, value, text);
  }
});

test("certificates, patterns, sizes and numbers are read into their parts", () => {
  const { values } = parse(
    "--certificates=a.crt,a.key:*.x.io,x.io",
    "--certificates=b.crt,b.key",
    "--modules=a=1,,b*=2,c=0",
    "--buffer=2Ki",
    "--curves=23,29",
  );
  assert.deepEqual(values.certificates, [
    { certFile: "a.crt", keyFile: "a.key", names: ["*.x.io", "x.io"] },
    { certFile: "b.crt", keyFile: "b.key", names: [] },
  ]);
  assert.deepEqual(values.modules, { a: 1, "b*": 2 });
  assert.equal(values.buffer, 2048);
  assert.deepEqual(values.curves, [23, 29]);
});

const refusals: [string[], string][] = [
  [["--x"], "unknown flag: --x"],
  [["--x_y=1"], "unknown flag: --x_y"],
  [["--toString"], "unknown flag: --toString"],
  [["-x"], "unknown shorthand flag: 'x' in -x"],
  [["-hxv"], "unknown shorthand flag: 'x' in -xv"],
  [["--=x"], "bad flag syntax: --=x"],
  [["---x"], "bad flag syntax: ---x"],
  [["--name"], "flag needs an argument: --name"],
  [["-v"], "flag needs an argument: 'v' in -v"],
  [["-v=x"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  [["--v=-1"], 'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax'],
  [["--leader-elect=x"], 'invalid argument "x" for "--leader-elect" flag: strconv.ParseBool: parsing "x": invalid syntax'],
  [["--leader-elect=tRUE"], 'invalid argument "tRUE" for "--leader-elect" flag: strconv.ParseBool: parsing "tRUE": invalid syntax'],
  [["--workers=x"], 'invalid argument "x" for "--workers" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  [["--workers="], 'invalid argument "" for "--workers" flag: strconv.ParseInt: parsing "": invalid syntax'],
  [["--workers=08"], 'invalid argument "08" for "--workers" flag: strconv.ParseInt: parsing "08": invalid syntax'],
  [["--workers=1__0"], 'invalid argument "1__0" for "--workers" flag: strconv.ParseInt: parsing "1__0": invalid syntax'],
  [
    ["--workers=3000000000"],
    'invalid argument "3000000000" for "--workers" flag: strconv.ParseInt: parsing "3000000000": value out of range',
  ],
  [["--qps=x"], 'invalid argument "x" for "--qps" flag: strconv.ParseFloat: parsing "x": invalid syntax'],
  [["--qps=1e39"], 'invalid argument "1e39" for "--qps" flag: strconv.ParseFloat: parsing "1e39": value out of range'],
  [["--period=5"], 'invalid argument "5" for "--period" flag: time: missing unit in duration "5"'],
  [["--period=5x"], 'invalid argument "5x" for "--period" flag: time: unknown unit "x" in duration "5x"'],
  [["--period=1h-2m"], 'invalid argument "1h-2m" for "--period" flag: time: unknown unit "h-" in duration "1h-2m"'],
  [["--period=x"], 'invalid argument "x" for "--period" flag: time: invalid duration "x"'],
  [["--period="], 'invalid argument "" for "--period" flag: time: invalid duration ""'],
  [["--period=9999999h"], 'invalid argument "9999999h" for "--period" flag: time: invalid duration "9999999h"'],
  [
    ["--period=99999999999999999999"],
    'invalid argument "99999999999999999999" for "--period" flag: time: invalid duration "99999999999999999999"',
  ],
  [["--address=x"], 'invalid argument "x" for "--address" flag: failed to parse IP: "x"'],
  [['--controllers=a"b'], 'invalid argument "a\\"b" for "--controllers" flag: parse error on line 1, column 2: bare " in non-quoted-field'],
  [
    ['--controllers="a'],
    'invalid argument "\\"a" for "--controllers" flag: parse error on line 1, column 3: extraneous or missing " in quoted-field',
  ],
  [
    ['--controllers="a"b'],
    'invalid argument "\\"a\\"b" for "--controllers" flag: parse error on line 1, column 3: extraneous or missing " in quoted-field',
  ],
  [["--tags=x"], 'invalid argument "x" for "--tags" flag: x must be formatted as key=value'],
  [["--tags=a=b,c,d=e"], 'invalid argument "a=b,c,d=e" for "--tags" flag: c must be formatted as key=value'],
  [["--curves=x"], 'invalid argument "x" for "--curves" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  [["--modules=x"], 'invalid argument "x" for "--modules" flag: "x" does not have the pattern=N format'],
  [
    ["--modules=x=y"],
    'invalid argument "x=y" for "--modules" flag: parsing verbosity in "x=y": strconv.ParseUint: parsing "y": invalid syntax',
  ],
  [["--certificates=x"], 'invalid argument "x" for "--certificates" flag: expected comma separated certificate and key file paths'],
];

for (const [argv, message] of refusals) {
  test(`${argv.join(" ")} is refused with pflag's words`, () => {
    assert.throws(() => parse(...argv), { name: "FlagError", message });
  });
}

test("a mistyped flag brings the nearest one as a hint, beside pflag's message", () => {
  assert.throws(
    () => parse("--ledaer-elect"),
    (error) =>
      error instanceof FlagError && error.message === "unknown flag: --ledaer-elect" && error.hint === "did you mean --leader-elect?",
  );
});

test("a deprecated flag is taken and warned about once", () => {
  const { warnings, values } = parse("--old=1s", "--old=2s");
  assert.deepEqual(warnings, ["Flag --old has been deprecated, it does nothing."]);
  assert.equal(values.old, 2000);
});

test("effective values are printed one a line, sorted, as Go prints them", () => {
  const { values } = parse(
    "--controllers=a,b",
    "--tags=a=b,c=d",
    "--resources=a",
    "--resources=b,c",
    "--name=a\tb",
    "--certificates=a,b:c,d",
  );
  assert.deepEqual(flagLines(table, values), [
    '--address="0.0.0.0"',
    '--buffer="0"',
    '--certificates="[a,b:c,d]"',
    '--controllers="[a,b]"',
    '--curves="[]"',
    '--help="false"',
    '--leader-elect="true"',
    '--modules=""',
    '--name="a\\tb"',
    '--old="0s"',
    '--period="10s"',
    '--qps="20"',
    '--resources="[a,\\"b,c\\"]"',
    '--tags="[a=b,c=d]"',
    '--v="0"',
    '--workers=""',
  ]);
});
