import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments, stringify } from "yaml";
import { exampleFile } from "../discovery/artifacts/testing.ts";
import { parseFlags } from "../runtime/flags.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { run } from "./artifacts.ts";
import { clusterPrograms } from "./host/cluster-programs.ts";
import { said } from "./testing/said.ts";

function fairlead(argv: readonly string[], file: object = exampleFile) {
  return said(run, argv, virtualWorld(1, { files: { "/file.yaml": stringify(file) } }));
}

test("every object is a document of its own", async () => {
  const { status, out } = await fairlead(["render", "--config=/file.yaml"]);
  assert.equal(status, 0);
  const kinds = parseAllDocuments(out).map((document) => (document.toJS() as { kind: string }).kind);
  assert.deepEqual([kinds[0], kinds.filter((kind) => kind === "Secret").length], ["CustomResourceDefinition", 7]);
});

test("a file that cannot be used is refused with every problem as a line, and no secret in it", async () => {
  const { status, out, err } = await fairlead(["render", "--config=/file.yaml"], { ...exampleFile, clusterUUID: "", snapshot: true });
  assert.deepEqual([status, out], [1, ""]);
  assert.match(err, /^fairlead artifacts: clusterUUID: .*\nfairlead artifacts: it: .*"snapshot"/);
  assert.doesNotMatch(err, /of-no-worth/);
});

test("run: flags that cannot be used are refused before anything is done", async () => {
  const { status, err } = await fairlead(["run", "--settings=here", "--listen-address=8082"]);
  assert.equal(status, 64);
  assert.match(err, /--settings=here: it must be namespace\/name of a ConfigMap/);
  assert.match(err, /--listen-address=8082: it must be host:port/);
  assert.match((await fairlead(["run", "--help"])).out, /It asks AWS nothing/);
});

test("hosted in one process with others it holds its own lease and runs what its section asks for", async () => {
  const { artifacts } = clusterPrograms;
  const configured = async (...argv: readonly string[]) =>
    artifacts!.configure(parseFlags(artifacts!.flags, [...argv]).values, {} as never);
  const { program, leases } = await configured();
  assert.deepEqual(
    program.controllers.map(({ name }) => name),
    ["artifacts", "instance-classes", "spot-nodes", "host-addresses"],
  );
  assert.deepEqual(
    leases.map(({ namespace, name }) => `${namespace}/${name}`),
    ["kube-system/fairlead-artifacts"],
  );
  const less = await configured("--spot-nodes=false", "--host-addresses=false", "--instance-classes=false");
  assert.deepEqual(less.program.controllers.length, 1);
});

test("a wrong command line and a file that is not there", async () => {
  assert.equal((await fairlead(["print", "--config=/file.yaml"])).status, 64);
  assert.equal((await fairlead(["render"])).status, 64);
  assert.equal((await fairlead(["render", "--config=/nowhere"])).status, 1);
  assert.match((await fairlead(["--help"])).out, /Exit status/);
});
