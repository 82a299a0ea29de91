/** Claims, classes and volumes from before CSI, served by the driver's built-in roles. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../src/kube/builtin.ts";
import { claims, volumeAttachments } from "../../src/volumes/storage-resources.ts";
import { claimWorld } from "../bed/claim-world.ts";

const inTree = "kubernetes.io/aws-ebs";

test("a claim of a class from before CSI is made, attached, grown, moved and deleted as ever", async () => {
  const world = await claimWorld();
  const [node, , , other] = world.nodes;
  await world.class("gp2", { provisioner: inTree, parameters: { type: "gp2", fsType: "xfs" } });
  world.start();
  await world.claim("data", { storageClassName: "gp2" });
  await world.pod("db", node!, "data");
  const isAt = (id: string) => () => world.disks.some(({ attachments }) => attachments[0]?.instanceId === id);
  await world.until("it is attached", isAt(node!.id));
  const [volume] = await world.persistentVolumes();
  const [disk] = world.disks;
  assert.deepEqual(volume!.spec?.awsElasticBlockStore, { volumeID: disk!.id, fsType: "xfs" });
  assert.equal(volume!.metadata.annotations?.["pv.kubernetes.io/provisioned-by"], inTree);
  assert.equal(volume!.metadata.labels?.["topology.kubernetes.io/zone"], node!.zone);
  assert.equal(disk!.spec.type, "gp2");
  const [attachment] = await world.attachments();
  assert.equal(attachment!.spec.attacher, "ebs.csi.aws.com");

  await world.change(claims, "data", { spec: { resources: { requests: { storage: "20Gi" } } } });
  await world.until("it is larger", async () => (await world.seenClaim("data")).status?.capacity?.storage === "20Gi");
  assert.equal(world.disks[0]!.spec.sizeGiB, 20);

  await world.remove(pods, "db");
  await world.pod("db2", other!, "data");
  await world.until("it has followed its pod", isAt(other!.id));
  await world.remove(pods, "db2");
  await world.remove(claims, "data");
  await world.until("nothing is left", async () => world.disks.length + (await world.persistentVolumes()).length === 0);
});

test("a class from before CSI that cannot be translated is told on the claim", async () => {
  const world = await claimWorld();
  await world.class("torn", {
    provisioner: inTree,
    volumeBindingMode: "Immediate",
    parameters: { zone: "us-east-1a" },
    allowedTopologies: [{ matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: ["us-east-1a"] }] }],
  });
  world.start();
  await world.claim("data", { storageClassName: "torn" });
  await world.until("it says why", async () => (await world.events("data")).has("ProvisioningFailed"));
  assert.match((await world.events("data")).get("ProvisioningFailed")!, /cannot simultaneously set allowed topologies and zone\/zones/);
  assert.equal(world.disks.length, 0);
});

test("a volume of a pod from before CSI is attached and detached by what its attachment says of it", async () => {
  const world = await claimWorld();
  const [node] = world.nodes;
  world.start();
  await world.claim("data");
  await world.pod("db", node!, "data");
  await world.until("there is a disk", () => world.disks.length === 1);
  await world.remove(pods, "db");
  await world.until("nobody has it", async () => (await world.attachments()).length === 0);
  const { id } = world.disks[0]!;
  const csi = { driver: "ebs.csi.aws.com", volumeHandle: id, fsType: "ext4", volumeAttributes: { partition: "0" } };
  await world.say("POST", "/apis/storage.k8s.io/v1/volumeattachments", {
    metadata: { name: "inline" },
    spec: {
      attacher: "ebs.csi.aws.com",
      nodeName: node!.privateDnsName,
      source: { inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], volumeMode: "Filesystem", csi } },
    },
  });
  await world.until("it is attached", () => world.disks[0]!.attachments[0]?.state === "attached");
  await world.until("the attachment says so", async () => (await world.attachments())[0]?.status?.attached === true);
  await world.remove(volumeAttachments, "inline");
  await world.until("it is detached again", async () => (await world.attachments()).length === 0);
  assert.deepEqual(world.disks[0]!.attachments, []);
});
