import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibilityOf, type DriverNode } from "./accessibility.ts";

const zone = "topology.kubernetes.io/zone";
const node = (name: string, where: string): DriverNode => ({ name, labels: { [zone]: where }, topologyKeys: [zone] });
const nodes = [node("c", "z3"), node("a", "z1"), node("b", "z2"), node("a2", "z1")];
const zonesOf = (topologies: readonly { readonly segments: Readonly<Record<string, string>> }[] = []) =>
  topologies.map(({ segments }) => segments[zone]);

test("the zone of the chosen node comes first, every other zone of the cluster after it", () => {
  const found = accessibilityOf("data", [], nodes[2], nodes);
  assert.deepEqual(zonesOf(found?.requisite), ["z1", "z2", "z3"]);
  assert.deepEqual(zonesOf(found?.preferred), ["z2", "z3", "z1"]);
});

test("a class that names zones leaves no other", () => {
  const allowed = [{ matchLabelExpressions: [{ key: zone, values: ["z1", "z2"] }] }];
  assert.deepEqual(zonesOf(accessibilityOf("data", allowed, nodes[1], nodes)?.requisite), ["z1", "z2"]);
  assert.throws(() => accessibilityOf("data", allowed, nodes[0], nodes), /topology .*z3.* of node c is not among/);
});

test("terms of a class are every combination of their values", () => {
  const allowed = [
    {
      matchLabelExpressions: [
        { key: zone, values: ["z1", "z2"] },
        { key: "kind", values: ["x", "y"] },
      ],
    },
  ];
  assert.equal(accessibilityOf("data", allowed, undefined, nodes)?.requisite.length, 4);
});

test("without a chosen node the members of a StatefulSet take one zone after the other, and all claims of a member the same", () => {
  const first = (claim: string) => zonesOf(accessibilityOf(claim, [], undefined, nodes)?.preferred)[0];
  const members = [0, 1, 2, 3].map((number) => first(`data-db-${number}`));
  assert.equal(new Set(members.slice(0, 3)).size, 3);
  assert.equal(members[3], members[0]);
  assert.equal(first("logs-db-1"), members[1]);
});

test("the spread is FNV-1 of the name, as csi-provisioner has it", () => {
  // From the test vectors of FNV's authors.
  for (const [name, hash] of [
    ["a", 0x050c5d7e],
    ["foobar", 0x31f0b262],
  ] as const) {
    assert.equal(zonesOf(accessibilityOf(name, [], undefined, nodes)?.preferred)[0], `z${(hash % 3) + 1}`, name);
  }
});

test("where the driver is not registered on the chosen node, or a label is missing, it is said which", () => {
  const bare: DriverNode = { name: "n", labels: {}, topologyKeys: [] };
  assert.throws(() => accessibilityOf("data", [], bare, nodes), /not registered on node n/);
  assert.throws(() => accessibilityOf("data", [], { ...bare, topologyKeys: [zone] }, nodes), /node n lacks one of the labels/);
  assert.equal(accessibilityOf("data", [], undefined, [bare]), undefined);
});
