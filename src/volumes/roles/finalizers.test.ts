import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "../../kube/client.ts";
import { claims } from "../storage-resources.ts";
import { addFinalizer } from "./finalizers.ts";

const finalizer = "example.com/ours";

/** An API server with one claim; what is patched is noted. */
function server(metadata: object) {
  const patched: unknown[] = [];
  const kube = {
    get: async () => ({ metadata: { name: "data", uid: "u", resourceVersion: "7", ...metadata } }),
    patch: async (_of: unknown, _place: unknown, { merge }: { readonly merge: object }) => void patched.push(merge),
  } as unknown as KubeClient;
  const add = (uid = "u") =>
    addFinalizer(kube, claims, { name: "data", namespace: "default", uid }, finalizer, new AbortController().signal);
  return { add, patched };
}

test("a finalizer is added beside others, and only where it is missing", async () => {
  const without = server({ finalizers: ["example.com/theirs"] });
  await without.add();
  assert.deepEqual(without.patched, [{ metadata: { finalizers: ["example.com/theirs", finalizer], resourceVersion: "7" } }]);
  const having = server({ finalizers: [finalizer] });
  await having.add();
  assert.deepEqual(having.patched, []);
});

for (const [what, finalizers] of [
  ["has it not", []],
  ["has it already", [finalizer]],
] as const) {
  test(`nothing is begun for an object that is leaving and ${what}`, async () => {
    const { add, patched } = server({ deletionTimestamp: "2026-01-01T00:00:00Z", finalizers });
    await assert.rejects(add(), /PersistentVolumeClaim data is being deleted/);
    assert.deepEqual(patched, []);
  });
}

test("an object that has the name of one that is gone is left alone", async () => {
  const { add, patched } = server({});
  await assert.rejects(add("former"), /it is another one/);
  assert.deepEqual(patched, []);
});
