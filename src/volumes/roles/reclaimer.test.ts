import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoleParts } from "./parts.ts";
import { reclaimer } from "./reclaimer.ts";

const driver = "ebs.csi.aws.com";

/** The reclaimer, with what it has seen of a PersistentVolume and what the API server has of it by now. */
function bed(policyNow: string, phaseNow = "Released") {
  const volume = (persistentVolumeReclaimPolicy: string, phase: string) => ({
    metadata: { name: "pv", uid: "u", annotations: { "pv.kubernetes.io/provisioned-by": driver } },
    spec: { csi: { driver, volumeHandle: "vol-0123456789abcdef0" }, persistentVolumeReclaimPolicy },
    status: { phase },
  });
  const deleted: string[] = [];
  const parts = {
    host: { world: { clock: { after: () => () => {}, monotonic: () => 0 } }, log: { info() {} } },
    kube: { get: async () => volume(policyNow, phaseNow), delete: async () => {} },
    volumes: { get: () => volume("Delete", "Released") },
    attachments: { by: () => [] },
    settings: { concurrency: 1 },
    driver: { DeleteVolume: async ({ volumeId }: { volumeId: string }) => void deleted.push(volumeId) },
  } as unknown as RoleParts;
  return { reconcile: () => reclaimer(parts).reconcile("pv", new AbortController().signal), deleted };
}

test("a disk that is to be retained by now stays, whatever was seen before", async () => {
  const { reconcile, deleted } = bed("Retain");
  await reconcile();
  assert.deepEqual(deleted, []);
});

test("a disk whose volume is bound by now stays", async () => {
  const { reconcile, deleted } = bed("Delete", "Bound");
  await reconcile();
  assert.deepEqual(deleted, []);
});

test("a disk that nobody wants is deleted", async () => {
  const { reconcile, deleted } = bed("Delete");
  await reconcile();
  assert.deepEqual(deleted, ["vol-0123456789abcdef0"]);
});
