import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { InvalidVmodule, type LogsOptions, openLogs } from "./logs.ts";

const jwt = "eyJhbGciOiJSUzI1NiIsPLANTED.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl";

function logsTo(lines: string[], options: Partial<LogsOptions> = {}) {
  return openLogs(virtualWorld(1).clock, {
    format: "json",
    verbosity: 0,
    destination: { write: (line) => lines.push(line), flush() {} },
    ...options,
  });
}

test("a JSON line carries time, level, message and the fields of the log and of the line", () => {
  const lines: string[] = [];
  logsTo(lines).log.with({ controller: "nodes" }).warn("slow", { key: "a", ms: 12 });
  assert.deepEqual(JSON.parse(lines[0]!), {
    level: "warn",
    ts: Date.parse("2026-01-01T00:00:00.000Z") / 1000,
    controller: "nodes",
    key: "a",
    ms: 12,
    msg: "slow",
  });
});

test("an error is told as text in err, as Kubernetes' programs do, and in full beside it; only information has a verbosity", () => {
  const lines: string[] = [];
  const { log } = logsTo(lines);
  log.error("failed", { error: new Error("no group", { cause: new Error("denied") }) });
  log.info("done");
  const [failed, done] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(failed!.err, "no group ← denied");
  assert.equal((failed!.error as Error).message, "no group");
  assert.deepEqual([failed!.v, done!.v], [undefined, 0]);
});

test("verbosity follows klog and can be changed while logs are in use", () => {
  const lines: string[] = [];
  const logs = logsTo(lines, { verbosity: 2 });
  const log = logs.log.with({ logger: "kube" });
  log.v(2)?.info("shown");
  assert.equal(log.v(4), undefined);
  logs.setVerbosity(4);
  log.v(4)?.info("now shown");
  assert.equal(logs.verbosity(), 4);
  logs.setVerbosity(0);
  assert.equal(log.v(2), undefined);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).v),
    [2, 4],
  );
});

test("vmodule raises the level of logs by name", () => {
  const lines: string[] = [];
  const { log } = logsTo(lines, { vmodule: "kube*=5,aws=2" });
  assert.ok(log.with({ logger: "kube.reflector" }).v(5));
  assert.ok(log.with({ logger: "aws" }).v(2));
  assert.equal(log.with({ logger: "aws" }).v(3), undefined);
  assert.equal(log.with({ logger: "routes" }).v(1), undefined);
  assert.throws(() => logsTo(lines, { vmodule: "kube" }), InvalidVmodule);
});

test("no secret reaches a line, in whatever part of it and in either format", () => {
  for (const format of ["json", "text"] as const) {
    const lines: string[] = [];
    const { log } = logsTo(lines, { format, verbosity: 4 });
    log.error(`got Bearer ${jwt}`, {
      error: new Error("outer", { cause: new Error(`401 for ${jwt}`) }),
      headers: { authorization: "PLANTED-plain" },
      url: "https://user:PLANTED@host/",
    });
    log.with({ token: "PLANTED" }).info("x", { list: [jwt, { password: "PLANTED" }] });
    assert.equal(lines.length, 2);
    assert.ok(!lines.join("").includes("PLANTED"), lines.join(""));
    assert.match(lines[0]!, /401 for \[redacted\]/);
  }
});

const failing = {
  key: "default/web",
  error: Object.assign(new Error("cannot create the group", { cause: new Error("RequestLimitExceeded") }), { requestId: "r-1" }),
  retryInMs: 5,
  why: "two words",
};

test("text for eyes shows time, level, message, key=value and the causes of an error on one line", () => {
  const lines: string[] = [];
  const { log } = logsTo(lines, { format: "text", colour: true });
  log.error("reconcile failed", failing);
  log.v(0)?.info("hello\nworld");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
  const [first, second] = lines.map((line) => line.replace(/\x1b\[\d+m/g, ""));
  assert.equal(
    first,
    '00:00:00.000 ERROR reconcile failed  key=default/web  error="cannot create the group ← RequestLimitExceeded"  error.requestId=r-1  retryInMs=5  why="two words"\n',
  );
  assert.equal(second, "00:00:00.000 INFO  hello⏎ world\n");
  assert.ok(lines[0]!.includes("\x1b[31m"));
});

test("text for collectors has klog's form: severity, time, process, and the message and every text quoted", () => {
  const lines: string[] = [];
  const { log } = logsTo(lines, { format: "text" });
  log.error("reconcile failed", failing);
  log.v(0)?.info("hello\nworld", { logger: "election", count: 3, list: ["a"] });
  const form = /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ [^\]\s]+\] ".*"/;
  for (const line of lines) assert.match(line, form);
  assert.match(
    lines[0]!,
    /^E0101 00:00:00\.000000 +\d+ fairlead\] "reconcile failed" key="default\/web" err="cannot create the group ← RequestLimitExceeded" err\.requestId="r-1" retryInMs=5 why="two words"\n$/,
  );
  assert.match(lines[1]!, /^I0101 .* election\] "hello\\nworld" count=3 list="\[\\"a\\"\]"\n$/);
  assert.ok(!lines.join("").includes("\x1b["));
});

test("stacks appear from verbosity 4 on", () => {
  const lines: string[] = [];
  const logs = logsTo(lines);
  logs.log.error("x", { error: new Error("boom") });
  logs.setVerbosity(4);
  logs.log.error("x", { error: new Error("boom") });
  assert.equal(JSON.parse(lines[0]!).error.stack, undefined);
  assert.match(JSON.parse(lines[1]!).error.stack, /logs\.test\.ts/);
});
