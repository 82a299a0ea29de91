import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalNames, isSelected, selectionProblems } from "./controller-names.ts";

const running = (...items: string[]) => canonicalNames.filter((name) => isSelected(name, items));
const onByDefault = ["cloud-node-controller", "cloud-node-lifecycle-controller", "node-route-controller", "service-lb-controller"];

const selections: [string[], string[]][] = [
  [["*"], onByDefault],
  [["cloud-node"], ["cloud-node-controller"]],
  [["cloud-node-controller"], ["cloud-node-controller"]],
  [
    ["*", "tagging"],
    [...onByDefault, "tagging"],
  ],
  [["-route", "*"], onByDefault.filter((name) => name !== "node-route-controller")],
  [["*", "-service-lb-controller"], onByDefault.filter((name) => name !== "service-lb-controller")],
  [["-service"], []],
  [["-service", "service"], []],
  [["service", "-service"], ["service-lb-controller"]],
  [[], []],
];

for (const [items, expected] of selections) {
  test(`--controllers=${items.join(",")} runs ${expected.join(", ") || "nothing"}`, () => {
    assert.deepEqual(running(...items), expected);
    assert.deepEqual(selectionProblems(items), []);
  });
}

test("unknown controllers are named without their minus", () => {
  assert.deepEqual(selectionProblems(["*", "x", "-y", "", "-*"]), [
    '"x" is not in the list of known controllers',
    '"y" is not in the list of known controllers',
    '"" is not in the list of known controllers',
    '"*" is not in the list of known controllers',
  ]);
});
