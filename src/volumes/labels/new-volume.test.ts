import assert from "node:assert/strict";
import { test } from "node:test";
import { volumeWorld } from "../../../test/bed/volume-world.ts";
import type { PersistentVolume } from "../../kube/types.ts";
import { labelsOfNewVolume } from "./new-volume.ts";

const place = { "topology.kubernetes.io/zone": "us-east-1a", "topology.kubernetes.io/region": "us-east-1" };
const nodeAffinity = {
  required: {
    nodeSelectorTerms: [{ matchExpressions: Object.entries(place).map(([key, value]) => ({ key, operator: "In", values: [value] })) }],
  },
};

/** What is answered for a PersistentVolume of a disk that EC2 has made. */
async function answer(volume: (id: string) => PersistentVolume) {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await world.world.advance(10_000);
  const before = world.calls("ec2:DescribeVolumes");
  const labels = await world.finish(labelsOfNewVolume(volume(volumeId), world.driver.context.cloud, new AbortController().signal));
  return { labels, calls: world.calls("ec2:DescribeVolumes") - before };
}

test("a volume that says nothing of its place is given labels and a node affinity, with one call", async () => {
  const { labels, calls } = await answer((volumeID) => ({ metadata: { name: "pv" }, spec: { awsElasticBlockStore: { volumeID } } }));
  assert.deepEqual(labels, {
    patch: [
      { op: "add", path: "/metadata/labels", value: place },
      { op: "add", path: "/spec/nodeAffinity", value: nodeAffinity },
    ],
  });
  assert.equal(calls, 1);
});

test("what its author wrote stays", async () => {
  const labelled = { team: "shop", "topology.kubernetes.io/region": "elsewhere" };
  const { labels } = await answer((volumeID) => ({
    metadata: { name: "pv", labels: labelled },
    spec: { awsElasticBlockStore: { volumeID }, nodeAffinity },
  }));
  assert.deepEqual(labels, { patch: [{ op: "add", path: "/metadata/labels/topology.kubernetes.io~1zone", value: "us-east-1a" }] });
});

test("nothing is asked of EC2 for a volume that is placed, of another kind, or named by no id", async () => {
  const csi = (volumeHandle: string) => ({ driver: "ebs.csi.aws.com", volumeHandle });
  for (const spec of [
    (id: string) => ({ csi: csi(id), nodeAffinity }),
    () => ({ hostPath: { path: "/" } }),
    () => ({ awsElasticBlockStore: { volumeID: "my-disk" } }),
  ]) {
    const { labels, calls } = await answer((id) => ({ metadata: { name: "pv" }, spec: spec(id) }));
    assert.deepEqual([labels, calls], [undefined, 0]);
  }
});

test("of a disk that EC2 does not know nothing is said", async () => {
  const { labels } = await answer(() => ({ spec: { awsElasticBlockStore: { volumeID: "vol-0123456789abcdef0" } } }));
  assert.deepEqual(labels, { unknown: "EC2 does not tell where vol-0123456789abcdef0 is" });
});
