import assert from "node:assert/strict";
import { test } from "node:test";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { FlagError } from "../../runtime/flags.ts";
import { parseOptions } from "./flags.ts";

const region = { AWS_REGION: "eu-central-1" };

test("the command line wins over the environment, which wins over the defaults", () => {
  assert.equal(parseOptions([], region)["discovery-period"], 3_600_000);
  assert.equal(parseOptions([], region)["listen-address"], "127.0.0.1:9000");
  assert.equal(parseOptions([], { ...region, DISCOVERY_PERIOD: "1h30m" })["discovery-period"], 5_400_000);
  assert.equal(parseOptions(["--discovery-period=30s"], { ...region, DISCOVERY_PERIOD: "2h" })["discovery-period"], 30_000);
  assert.deepEqual(parseOptions(["--v=-4"], { ...region, CLUSTER_UUID: "u" }).clusterId, "u");
});

test("whatever cannot be used is refused at the start, in words that name it", () => {
  const refused = (
    argv: readonly string[],
    environment: Record<string, string>,
    kind: typeof OptionsInvalid | typeof FlagError,
    text: RegExp,
  ) =>
    assert.throws(
      () => parseOptions(argv, environment),
      (error) => error instanceof kind && text.test(error.message),
    );
  refused([], {}, OptionsInvalid, /^AWS_REGION not found$/);
  refused(["--discovery-period=0s"], region, OptionsInvalid, /--discovery-period=0s: it must be greater than zero/);
  refused(["--discovery-period=-1h"], region, OptionsInvalid, /greater than zero/);
  refused([], { ...region, DISCOVERY_PERIOD: "soon" }, OptionsInvalid, /"soon" of DISCOVERY_PERIOD/);
  refused(["--discovery-period=soon"], region, FlagError, /discovery-period/);
  refused(["--listen-address=8081"], region, OptionsInvalid, /host:port/);
  refused(["--unknown"], region, FlagError, /unknown flag: --unknown/);
  refused(["again"], region, FlagError, /"again"/);
});

test("help needs no region", () => {
  assert.equal(parseOptions(["-h"], {}).help, true);
});
