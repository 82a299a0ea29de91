import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "../kube/client.ts";
import { ApiError } from "../kube/errors.ts";
import { askArtifacts } from "./artifacts-questions.ts";
import { checkDiscovery, type DiscoveryFacts } from "./discovery-questions.ts";

const noArtifacts = { registration: undefined, twin: undefined, templates: undefined, bootstrap: undefined, scriptsAreOff: false };
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
    found({ artifacts: { registration: whole, twin: whole, templates, bootstrap, scriptsAreOff: false, ...artifacts } }).flatMap(
      ({ level, what }) => (level === "problem" ? [what] : []),
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
  assert.deepEqual(said({ twin: "unread", templates: "unread", bootstrap: "unread" }), [], "what may not be read is not missing");
  assert.deepEqual(said({ bootstrap: undefined, scriptsAreOff: true }), []);
  assert.match(
    said({ bootstrap: data([]), scriptsAreOff: true }).join(),
    /bashible-bootstrap lacks/,
    "somebody's scripts that name nobody",
  );
});

test("whether scripts are somebody else's is read from the keeper's settings, by the chart's labels or by the name without a flag", async () => {
  const map = (text: string) => ({ metadata: { name: "it" }, data: { "settings.yaml": text } });
  const refused = async (reason: "not-found" | "forbidden") => {
    throw new ApiError({ reason, status: 0, asked: "read it", said: reason });
  };
  const asked = async (labelled: readonly object[] | "forbidden", named?: object) => {
    const kube = {
      list: async () => (labelled === "forbidden" ? await refused("forbidden") : { items: labelled }),
      get: async (_: unknown, { name }: { name: string }) =>
        name === "fairlead-artifacts" && named !== undefined ? named : await refused(name.endsWith("-mcm") ? "forbidden" : "not-found"),
    } as unknown as KubeClient;
    return await askArtifacts(kube, new AbortController().signal);
  };
  assert.equal((await asked([])).scriptsAreOff, false);
  assert.equal((await asked([map("bashible: {enabled: false}")])).scriptsAreOff, true);
  assert.equal((await asked("forbidden", map("bashible:\n  enabled: false\n"))).scriptsAreOff, true);
  for (const text of ["", "bashible: {enabled: true}", "{", "[]", "bashible: 1"]) {
    assert.equal((await asked([map(text)])).scriptsAreOff, false, text);
  }
  const { templates, twin } = await asked([]);
  assert.deepEqual([templates, twin], ["unread", undefined]);
});
