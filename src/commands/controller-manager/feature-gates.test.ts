import assert from "node:assert/strict";
import { test } from "node:test";
import { featureGates, gateList, gateOpen, gateWarnings } from "./feature-gates.ts";

const parse = (text: string) => featureGates.parse(text, undefined);

test("a gate is decided by its name, then its group, then its default", () => {
  assert.equal(gateOpen({}, "LoggingAlphaOptions"), false);
  assert.equal(gateOpen(parse("AllAlpha=true"), "LoggingAlphaOptions"), true);
  assert.equal(gateOpen(parse("AllAlpha=true,LoggingAlphaOptions=false"), "LoggingAlphaOptions"), false);
  assert.equal(gateOpen(parse("AllBeta=true"), "LoggingAlphaOptions"), false);
});

test("later uses merge, empty items are skipped, blanks are trimmed", () => {
  const first = parse("WatchList=true,, ContextualLogging = 0 ");
  assert.deepEqual(featureGates.parse("WatchList=false", first), { WatchList: false, ContextualLogging: false });
  assert.equal(featureGates.print(first), "ContextualLogging=false,WatchList=true");
});

const refusals: [string, string][] = [
  ["X=true", "unrecognized feature gate: X"],
  ["toString=true", "unrecognized feature gate: toString"],
  ["X", "missing bool value for X"],
  ["AllAlpha=x", 'invalid value of AllAlpha=x, err: strconv.ParseBool: parsing "x": invalid syntax'],
  [
    "WatchCacheInitializationPostStartHook=false",
    "cannot set feature gate WatchCacheInitializationPostStartHook to false, feature is locked to true",
  ],
  ["SeparateCacheWatchRPC=true", "cannot set feature gate SeparateCacheWatchRPC to true, feature is locked to false"],
];

for (const [text, message] of refusals) {
  test(`--feature-gates=${text} is refused`, () => {
    assert.throws(() => parse(text), { message });
  });
}

test("gates that are on their way out are taken with a warning and kept out of help", () => {
  const settings = parse("WatchCacheInitializationPostStartHook=true,KMSv1=true,WatchList=true");
  assert.deepEqual(gateWarnings(settings), [
    "Setting GA feature gate WatchCacheInitializationPostStartHook=true. It will be removed in a future release.",
    "Setting deprecated feature gate KMSv1=true. It will be removed in a future release.",
  ]);
  assert.match(gateList(), /^AllAlpha=true\|false \(ALPHA - default=false\)$/m);
  assert.doesNotMatch(gateList(), /KMSv1|WatchCacheInitializationPostStartHook/);
});
