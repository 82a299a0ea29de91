import assert from "node:assert/strict";
import test from "node:test";
import { cardsOfType, limitOfType, volumeLimit } from "./limits.ts";

const unset = { attachLimit: -1, reserved: -1 };

for (const [instanceType, networkInterfaces, reserved, expected] of [
  ["t2.medium", 1, -1, 38],
  ["m5d.large", 3, -1, 23],
  ["d3.8xlarge", 1, -1, 2],
  ["d3en.12xlarge", 1, -1, 2],
  ["m7i.48xlarge", 1, -1, 127],
  ["mac1.metal", 1, -1, 15],
  ["g4dn.xlarge", 1, -1, 24],
  ["g4dn.12xlarge", 1, -1, 21],
  ["g5.48xlarge", 1, -1, 8],
  ["inf1.24xlarge", 1, -1, 10],
  ["t2.medium", 1, 3, 36],
  ["t3.xlarge", 40, -1, 1],
  ["m5.large", 0, -1, 27],
] as const) {
  test(`a ${instanceType} with ${networkInterfaces} interfaces and ${reserved} reserved places takes ${expected} volumes`, () => {
    assert.equal(volumeLimit({ instanceType, networkInterfaces, otherVolumes: 0 }, { ...unset, reserved }), expected);
  });
}

test("a limit that is given is reported as it is, zero too", () => {
  const disks = { instanceType: "m5.large", networkInterfaces: 9, otherVolumes: 9 };
  assert.equal(volumeLimit(disks, { attachLimit: 10, reserved: -1 }), 10);
  assert.equal(volumeLimit(disks, { attachLimit: 0, reserved: -1 }), 0);
});

test("disks that the node brought with it take places", () => {
  assert.equal(volumeLimit({ instanceType: "m7i.large", networkInterfaces: 3, otherVolumes: 2 }, unset), 29);
});

test("a type that is not in the table is said to be unknown", () => {
  assert.equal(limitOfType("z9.large").known, false);
  assert.equal(limitOfType("m7i.metal-24xl").volumes, 39);
});

test("types with two EBS cards are known when EC2 cannot be asked", () => {
  assert.deepEqual(["r8gn.48xlarge", "m8in.metal-96xl", "g7.48xlarge", "m5.large"].map(cardsOfType), [2, 2, 2, 1]);
});
