import assert from "node:assert/strict";
import { test } from "node:test";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { FlagError } from "../../runtime/flags.ts";
import { flagTable, variableOf } from "./flags.ts";
import { parseOptions, policiesOf } from "./options.ts";

const name = ["--node-name=n"];
const queue = [...name, "--enable-sqs-termination-draining", "--queue-url=https://sqs.us-east-1.amazonaws.com/1/q"];
const parse = (argv: readonly string[], environment: Record<string, string> = {}) => parseOptions(argv, environment).options;
const refused = (argv: readonly string[], environment: Record<string, string> = {}) => {
  try {
    parseOptions(argv, environment);
  } catch (error) {
    assert.ok(error instanceof OptionsInvalid, String(error));
    return error.message;
  }
  assert.fail("it was accepted");
};

test("every option has its environment variable, and the command line wins", () => {
  for (const option of Object.keys(flagTable)) {
    if (!["help", "kubeconfig", "master"].includes(option)) assert.ok(variableOf(option), option);
  }
  assert.equal(parse(name, { TAINT_NODE: "true", GRACE_PERIOD: "" })["taint-node"], true);
  assert.equal(parse([...name, "-taint-node=false"], { TAINT_NODE: "true" })["taint-node"], false);
  assert.equal(parse([], { NODE_NAME: "n", WORKERS: "+3" }).workers, 3);
});

/** A value that is not the default, as text and as it is read. */
function sampleOf(option: string): readonly [text: string, value: unknown] {
  const special: Readonly<Record<string, readonly [string, unknown]>> = {
    "heartbeat-interval": ["3600", 3600],
    "heartbeat-until": ["172800", 172_800],
    "sqs-msg-visibility-timeout-sec": ["119", 119],
    "queue-url": ["https://sqs.us-east-1.amazonaws.com/1/q", "https://sqs.us-east-1.amazonaws.com/1/q"],
    "log-level": ["debug", "debug"],
    "taint-effect": ["NoExecute", "NoExecute"],
    "event-policies": ["spot=cordon", { spot: "cordon" }],
  };
  const initial = flagTable[option as keyof typeof flagTable].default as unknown;
  if (typeof initial === "boolean") return [String(!initial), !initial];
  return special[option] ?? (typeof initial === "number" ? ["7", 7] : ["a=b", "a=b"]);
}

const ofEnvironment = Object.keys(flagTable).filter((option) => variableOf(option) !== undefined);

test("every option can be given by its variable, by its flag, and is its default when the variable is empty", () => {
  const variables = Object.fromEntries(ofEnvironment.map((option) => [variableOf(option)!, sampleOf(option)[0]]));
  const flags = ofEnvironment.map((option) => `--${option}=${sampleOf(option)[0]}`);
  const expected = Object.fromEntries(ofEnvironment.map((option) => [option, sampleOf(option)[1]]));
  for (const given of [parse([], variables), parse(flags)]) {
    assert.deepEqual(Object.fromEntries(ofEnvironment.map((option) => [option, given[option as keyof typeof given]])), expected);
  }
  const empty = Object.fromEntries(ofEnvironment.map((option) => [variableOf(option)!, ""]));
  assert.deepEqual(parse(name, empty), parse(name));
});

test("Go's grammar: one dash or two, a value in the next word, and an end at the first word that is no flag", () => {
  const options = parse(["-node-name", "n", "--metadata-tries", "0x5", "-dry-run", "stop", "--cordon-only"]);
  assert.deepEqual([options["node-name"], options["metadata-tries"], options["dry-run"], options["cordon-only"]], ["n", 5, true, false]);
  assert.throws(() => parse([...name, "--no-such"]), FlagError);
  assert.throws(() => parse([...name, "--workers=x"]), FlagError);
  assert.equal(parse(["-h"]).help, true);
});

test("an environment variable that cannot be read is an error even where the flag wins", () => {
  assert.equal(refused([...name, "--dry-run"], { DRY_RUN: "yes" }), "Env Var DRY_RUN must be either true or false");
  assert.equal(refused(name, { WORKERS: "many" }), "Env Var WORKERS must be an integer");
});

test("old names are understood, with a warning; new ones win", () => {
  const { options, warnings } = parseOptions([...name, "--grace-period=7"], {});
  assert.equal(options["pod-termination-grace-period"], 7);
  assert.match(warnings[0] ?? "", /grace-period/);
  assert.equal(parse([...name, "--grace-period=7", "--pod-termination-grace-period=9"])["pod-termination-grace-period"], 9);
});

test("what cannot work is refused at the start, in the reference's words where it has some", () => {
  assert.match(refused([]), /You must provide a node-name/);
  assert.match(refused([...name, "--log-level=loud"]), /invalid log-level passed: loud/);
  assert.match(refused([...name, "--heartbeat-interval=60"]), /only supported for Queue Processor mode/);
  assert.match(refused([...queue, "--heartbeat-interval=3601"]), /between 30 and 3600/);
  assert.match(refused([...queue, "--heartbeat-interval=60", "--heartbeat-until=172801"]), /between 60 and 172800/);
  assert.match(refused([...queue, "--heartbeat-until=60"]), /heartbeat-interval is required/);
  assert.match(refused([...queue, "--heartbeat-interval=120", "--heartbeat-until=60"]), /less than or equal/);
  for (const seconds of [0, 120]) assert.match(refused([...queue, `--sqs-msg-visibility-timeout-sec=${seconds}`]), /between 1 and 119/);
  assert.match(refused([...name, "--enable-sqs-termination-draining"]), /queue-url/);
  assert.match(refused([...queue, "--workers=0"]), /workers/);
  assert.match(refused([...name, "--event-policies=spott=drain"]), /unknown kind "spott", did you mean "spot"/);
  assert.match(refused([...name, "--event-policies=spot=flee"]), /spot=flee {2}Should be one of: ignore, cordon, drain/);
});

test("the widest limits of heartbeats and of visibility are accepted", () => {
  const options = parse([...queue, "--heartbeat-interval=30", "--heartbeat-until=172800", "--sqs-msg-visibility-timeout-sec=1"]);
  assert.deepEqual([options["heartbeat-interval"], options["heartbeat-until"]], [30, 172_800]);
  assert.equal(parse([...queue, "--heartbeat-interval=3600", "--heartbeat-until=3600"])["heartbeat-interval"], 3600);
});

test("heartbeats without an end go on for 48 hours", () => {
  assert.equal(parse([...queue, "--heartbeat-interval=3600"])["heartbeat-until"], 172_800);
});

test("rebalance cordons on its own machine and drains from the queue; a policy says otherwise; cordon-only wins", () => {
  assert.equal(policiesOf(parse(name)).rebalance, "cordon");
  assert.equal(policiesOf(parse([...name, "--enable-rebalance-draining"])).rebalance, "drain");
  assert.equal(policiesOf(parse(queue)).rebalance, "drain");
  assert.equal(policiesOf(parse([...queue, "--event-policies=rebalance=ignore"])).rebalance, "ignore");
  assert.equal(policiesOf(parse([...queue, "--cordon-only"])).spot, "cordon");
});
