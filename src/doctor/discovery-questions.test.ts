import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDiscovery, type DiscoveryFacts } from "./discovery-questions.ts";

const noArtifacts = { registration: undefined, twin: undefined, templates: undefined, bootstrap: undefined };
const found = (facts: Partial<DiscoveryFacts>) =>
  checkDiscovery({ discovery: { known: true, value: { servesCatalogs: true, unmet: [], artifacts: noArtifacts, ...facts } } });

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

test("a registration from which no machine can be made is told, by what it lacks; another provider's is not looked at", () => {
  const data = (keys: readonly string[]) => ({ data: Object.fromEntries(keys.map((key) => [key, key === "type" ? "YXdz" : "eA=="])) });
  const whole = data(["type", "region", "zones", "instanceClassAPIVersion", "instanceClassKind", "machineClassKind", "aws"]);
  const templates = data(["machine-class.yaml", "machine-class.checksum", "config-for-machine-controller-manager.yaml"]);
  const bootstrap = data(["bootstrap-networks.sh.tpl"]);
  const said = (artifacts: Partial<DiscoveryFacts["artifacts"]>) =>
    found({ artifacts: { registration: whole, twin: whole, templates, bootstrap, ...artifacts } }).flatMap(({ level, what }) =>
      level === "problem" ? [what] : [],
    );
  assert.deepEqual(said({}), []);
  const { instanceClassAPIVersion: _, ...less } = whole.data;
  assert.match(
    said({ registration: { data: less }, twin: { data: less } }).join(),
    /lacks instanceClassAPIVersion: no NodeGroup can be rendered/,
  );
  assert.match(said({ twin: undefined }).join(), /d8-node-manager-cloud-provider-aws does not say the same/);
  assert.match(
    said({ templates: data(["machine-class.yaml"]) }).join(),
    /lacks machine-class\.checksum, config-for-machine-controller-manager\.yaml/,
  );
  assert.match(
    said({ bootstrap: undefined }).join(),
    /bashible-bootstrap lacks bootstrap-networks\.sh\.tpl: machines do not get the names/,
  );
  assert.deepEqual(said({ registration: { data: { type: "eWFuZGV4" } } }), []);
});
