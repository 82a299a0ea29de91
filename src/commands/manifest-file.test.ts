import assert from "node:assert/strict";
import { test } from "node:test";
import { objectsIn } from "./manifest-file.ts";

test("every object of a file is read, empty documents too", () => {
  assert.deepEqual(objectsIn("kind: A\n---\n---\nkind: B\n"), [{ kind: "A" }, null, { kind: "B" }]);
  assert.deepEqual(objectsIn(""), []);
});

for (const text of [
  "kind: Service\nmetadata: {name: web\nspec: {}\n",
  "kind: Service\nkind: Service\n",
  "kind: Service\n\tmetadata: x\n",
]) {
  test(`${JSON.stringify(text)} is refused with the line, and not read as something else`, () => {
    assert.throws(() => objectsIn(text), { message: /^it is not valid YAML: .* at line \d/ });
  });
}
