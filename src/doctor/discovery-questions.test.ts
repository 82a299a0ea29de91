import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDiscovery, type DiscoveryFacts } from "./discovery-questions.ts";

const found = (facts: Partial<DiscoveryFacts>) =>
  checkDiscovery({ discovery: { known: true, value: { servesCatalogs: true, unmet: [], ...facts } } });

test("nothing is said of the discoverer where nobody asked", () => {
  assert.deepEqual(checkDiscovery({}), []);
});

test("a definition that is missing and each condition that is not met is a problem", () => {
  assert.deepEqual(
    found({}).map(({ level }) => level),
    ["ok"],
  );
  assert.match(found({ servesCatalogs: false })[0]!.what, /InstanceTypesCatalog is not served/);
  assert.deepEqual(
    found({ unmet: ["DescribeInstanceTopology is not allowed", "b"] }).map(({ level }) => level),
    ["problem", "problem"],
  );
});

test("an API server that does not say is a warning", () => {
  assert.equal(checkDiscovery({ discovery: { known: false, why: "forbidden", kind: "denied" } })[0]?.level, "warning");
});
