import assert from "node:assert/strict";
import { test } from "node:test";
import { documentText, usableZones, zonesByType } from "./document.ts";
import { firstSubnet, readInfrastructure } from "./infrastructure.ts";
import { readDiscovery } from "./read-discovery.ts";

const zone = (name: string, state = "available") => ({
  name,
  id: name,
  type: "availability-zone",
  state,
  optInStatus: "",
  borderGroup: "",
});

test("the same findings give the same bytes, whatever the order they came in", () => {
  const one = documentText("us-east-1", { zones: ["a"], vpcID: "vpc-1" });
  assert.equal(documentText("us-east-1", { vpcID: "vpc-1", zones: ["a"] }), one);
});

test("zones are those that work and that the cluster is in", () => {
  const all = [zone("c"), zone("a"), zone("b", "impaired")];
  assert.deepEqual(usableZones(all, undefined), ["a", "c"]);
  assert.deepEqual(usableZones(all, ["b", "c", "z"]), ["c"]);
});

test("offerings are grouped by type, both in order", () => {
  const offerings = [
    { type: "m5", zone: "b" },
    { type: "a1", zone: "a" },
    { type: "m5", zone: "a" },
  ];
  assert.equal(JSON.stringify(zonesByType(offerings)), '{"a1":["a"],"m5":["a","b"]}');
});

test("a document that would not fit into a Secret does without the zones of types", () => {
  const offerings = Array.from({ length: 40_000 }, (_, index) => ({ type: `type-${index}.large`, zone: "us-east-1a" }));
  const text = documentText("us-east-1", { vpcID: "vpc-1", instanceTypeZones: zonesByType(offerings) });
  assert.ok(text.length < 900 * 1024);
  assert.equal((JSON.parse(text) as { vpcID: string }).vpcID, "vpc-1");
});

test("what was published is read back as it was; a field that is not what it should be is not known", () => {
  const found = { vpcID: "vpc-1", zones: ["a"], instanceTypeZones: { "m5.large": ["a"] } };
  const text = documentText("us-east-1", found);
  assert.deepEqual(readDiscovery(text), found);
  assert.deepEqual(readDiscovery(JSON.stringify({ ...JSON.parse(text), zones: "a", unknown: 1 })), {
    vpcID: "vpc-1",
    instanceTypeZones: found.instanceTypeZones,
  });
  for (const other of [undefined, "", "{", "[]", '{"kind":"YandexCloudDiscoveryData"}'])
    assert.equal(readDiscovery(other), undefined, String(other));
});

test("the infrastructure's output: absent is empty, wrong is named, the first zone's subnet is the cluster's", () => {
  assert.deepEqual(readInfrastructure(undefined), {});
  assert.equal(firstSubnet(readInfrastructure('{"zoneToSubnetIdMap":{"b":"subnet-b","a":"subnet-a"},"keyName":"x"}')), "subnet-a");
  assert.equal(firstSubnet({}), undefined);
  assert.throws(() => readInfrastructure("{"), /d8-provider-cluster-configuration: it is not JSON/);
  assert.throws(() => readInfrastructure('{"instances":{"ami":1}}'), /instances\.ami: .*string/);
});
