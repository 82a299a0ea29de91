import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realWorld } from "../runtime/world.ts";
import { etcd, kubeApiserver } from "../sandbox/cluster/assets/programs.ts";
import { testedWith, worksWith } from "./tested.ts";

test("what we say it was tested with is what the tests obtain", () => {
  assert.equal(testedWith.Kubernetes, kubeApiserver.version);
  assert.equal(testedWith.etcd, etcd.version);
});

test("the API servers it works with are one minor older and one newer, and the docs name the same", async () => {
  const minor = Number(testedWith.Kubernetes.split(".")[1]);
  assert.equal(worksWith, `Kubernetes 1.${minor - 1} to 1.${minor + 1}`);
  const page = await realWorld().files.read(fileURLToPath(new URL("../../docs/versions.md", import.meta.url)));
  assert.match(
    Buffer.from(page).toString("utf8"),
    new RegExp(`It matches the features of the reference at ${testedWith["cloud-provider-aws"]}\\.`),
  );
});
