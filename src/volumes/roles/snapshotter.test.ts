import assert from "node:assert/strict";
import { test } from "node:test";
import { type SnapshotterParts, snapshotter } from "./snapshotter.ts";

const prefix = "snapshot.storage.kubernetes.io/";

test("a snapshot that was there before, and that its content alone names, is deleted with it where that is to be", async () => {
  for (const [deletionPolicy, expected] of [
    ["Delete", ["snap-0123456789abcdef0"]],
    ["Retain", []],
  ] as const) {
    const content = {
      metadata: { name: "c", uid: "u", deletionTimestamp: "now", annotations: { [`${prefix}volumesnapshot-being-deleted`]: "yes" } },
      spec: {
        driver: "ebs.csi.aws.com",
        deletionPolicy,
        source: { snapshotHandle: "snap-0123456789abcdef0" },
        volumeSnapshotRef: { name: "s", namespace: "n", uid: "su" },
      },
    };
    const deleted: string[] = [];
    const parts = {
      host: { world: { clock: { after: () => () => {}, monotonic: () => 0 } } },
      kube: { get: async () => content, patch: async () => content },
      contents: { get: () => content },
      settings: { concurrency: 1 },
      driver: { DeleteSnapshot: async ({ snapshotId }: { snapshotId: string }) => void deleted.push(snapshotId) },
    } as unknown as SnapshotterParts;
    await snapshotter(parts).reconcile("c", new AbortController().signal);
    assert.deepEqual(deleted, expected, deletionPolicy);
  }
});
