import assert from "node:assert/strict";
import { test } from "node:test";
import { asInTree, diskOf, translatedClass, translatedVolume, volumeIdIn } from "./migration.ts";

// What Kubernetes' own library makes of every combination is compared in test/referees/csi-translation.test.ts.

test("the id of a volume is read with and without its zone", () => {
  for (const written of ["vol-1", "aws://us-east-1a/vol-1", "aws:///vol-1"]) assert.equal(volumeIdIn(written), "vol-1");
  assert.throws(() => volumeIdIn("aws://us-east-1a/disk-1"), /Invalid format for AWS volume \(aws:\/\/us-east-1a\/disk-1\)/);
});

test("a PersistentVolume from before CSI is the driver's, in the zone of its label", () => {
  const volume = {
    metadata: { name: "pv", labels: { "topology.kubernetes.io/zone": "us-east-1a" } },
    spec: { awsElasticBlockStore: { volumeID: "aws://us-east-1a/vol-1", fsType: "ext4" } },
  };
  const { spec } = translatedVolume(volume) as { spec: Record<string, unknown> };
  assert.deepEqual(spec, {
    csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1", fsType: "ext4", volumeAttributes: { partition: "0" } },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "topology.ebs.csi.aws.com/zone", operator: "In", values: ["us-east-1a"] }] }],
      },
    },
  });
  assert.equal(diskOf(volume), "vol-1");
});

test("a volume of the driver, or of nobody here, stays what it is", () => {
  const volume = { spec: { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" } } };
  assert.equal(translatedVolume(volume), volume);
  assert.equal(diskOf(volume), "vol-1");
  assert.equal(diskOf({ spec: { csi: { driver: "efs.csi.aws.com", volumeHandle: "fs-1" } } }), undefined);
  assert.equal(diskOf({ spec: { hostPath: { path: "/tmp" } } }), undefined);
});

test("what is made for a class from before CSI has the zone and region as labels", () => {
  const made = asInTree({
    metadata: { name: "pv" },
    spec: {
      csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1", fsType: "ext4", volumeAttributes: { of: "me" } },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["eu-west-1b"] }] }],
        },
      },
    },
  });
  assert.deepEqual(made.spec?.awsElasticBlockStore, { volumeID: "vol-1", fsType: "ext4" });
  assert.deepEqual(made.metadata?.labels, { "topology.kubernetes.io/zone": "eu-west-1b", "topology.kubernetes.io/region": "eu-west-1" });
});

test("a class from before CSI may still ask for too few IOPS, and not for zones in two ways", () => {
  const metadata = { name: "slow" };
  const { parameters, provisioner } = translatedClass({
    metadata,
    provisioner: "kubernetes.io/aws-ebs",
    parameters: { type: "io1", iopsPerGB: "1", fsType: "xfs" },
  });
  assert.equal(provisioner, "kubernetes.io/aws-ebs");
  assert.deepEqual(parameters, {
    type: "io1",
    iopsPerGB: "1",
    allowautoiopspergbincrease: "true",
    "csi.storage.k8s.io/fstype": "xfs",
  });
  const allowedTopologies = [{ matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: ["us-east-1a"] }] }];
  assert.throws(
    () => translatedClass({ metadata, provisioner: "kubernetes.io/aws-ebs", parameters: { zone: "us-east-1a" }, allowedTopologies }),
    /cannot simultaneously set allowed topologies and zone\/zones parameters/,
  );
});
