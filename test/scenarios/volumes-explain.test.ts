/** `fairlead explain pvc/NAME` and `pv/NAME`: from the claim to the disk and the node that has it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explainService } from "../../src/commands/explain.ts";
import { pods } from "../../src/kube/builtin.ts";
import { claims, persistentVolumes } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";
import { command } from "../bed/command.ts";

async function page(world: ClaimWorld, word: string): Promise<string> {
  const { out, err, status } = await command(world.surroundings, explainService, word);
  assert.equal(status, 0, err);
  return out;
}

/** One section of a page. */
function section(text: string, name: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.startsWith(`  ${name} `));
  const next = lines.findIndex((line, index) => index > at && /^ {2}\S/.test(line));
  return lines
    .slice(at, next < 0 ? undefined : next)
    .map((line) => line.slice(line === lines[at] ? name.length + 2 : 0).trim())
    .filter(Boolean)
    .join("\n");
}

async function attached(): Promise<ClaimWorld> {
  const world = await claimWorld();
  world.start();
  await world.claim("data");
  await world.pod("db", world.nodes[0]!, "data");
  await world.until("it is attached", async () => (await world.attachments())[0]?.status?.attached === true);
  return world;
}

test("a claim that works: claim, class, pod, volume, disk, attachment and device", async () => {
  const world = await attached();
  const [node] = world.nodes;
  const [disk] = world.disks;
  const text = await page(world, "pvc/data");
  assert.match(text, /^claim default\/data\n/);
  assert.equal(section(text, "claim"), "default/data asks for 10Gi ReadWriteOnce\nBound, has 10Gi");
  assert.equal(section(text, "class"), "fast of ebs.csi.aws.com, WaitForFirstConsumer, Delete");
  assert.match(section(text, "pods"), new RegExp(`^db on ${node!.privateDnsName}`));
  assert.match(section(text, "volume"), new RegExp(`Bound, Delete\nfor nodes in ${node!.zone}$`));
  assert.match(
    section(text, "disk"),
    new RegExp(`^${disk!.id}, 10 GiB, gp3, 3000 IOPS, 125 MiB/s, in ${node!.zone}, in-use\nnot encrypted$`),
  );
  assert.match(section(text, "attachments"), new RegExp(`^to ${node!.privateDnsName}: attached\nEC2: attached at ${node!.id} `));
  assert.match(section(text, "device"), /^\/dev\/xvdaa on the node/);
  assert.equal(section(text, "wrong"), "none");
  assert.equal(section(text, "next"), "nothing");
  const [volume] = await world.persistentVolumes();
  const other = await page(world, `pv/${volume!.metadata.name}`);
  assert.equal(section(other, "disk"), section(text, "disk"));
});

test("a claim without a pod waits, one of a class that is not there is told", async () => {
  const world = await claimWorld();
  world.start();
  await world.claim("data");
  await world.claim("odd", { storageClassName: "none" });
  await world.world.advance(10_000);
  assert.match(section(await page(world, "pvc/data"), "wrong"), /waits for its first pod: StorageClass fast is WaitForFirstConsumer/);
  assert.equal(section(await page(world, "pvc/odd"), "wrong"), "there is no StorageClass none");
});

test("what the driver refuses is on the page, with its age", async () => {
  const world = await claimWorld();
  await world.class("typo", { volumeBindingMode: "Immediate", parameters: { typ: "gp3" } });
  world.start();
  await world.claim("data", { storageClassName: "typo" });
  await world.until("it is refused", async () => (await world.events("data")).has("ProvisioningFailed"));
  const text = await page(world, "pvc/data");
  assert.match(section(text, "warnings"), /s ago: ProvisioningFailed: .*Invalid parameter key typ for CreateVolume/);
  assert.match(section(text, "wrong"), /could not be created: see the warnings/);
});

test("a disk that somebody deleted, and one that somebody attached elsewhere", async () => {
  const world = await attached();
  const [disk] = world.disks;
  const other = world.nodes[3]!;
  const { volumes } = world.aws.account.ec2;
  const [own] = disk!.attachments;
  volumes.update(disk!.id, { attachments: [{ ...own!, instanceId: other.id }] });
  const elsewhere = await page(world, "pvc/data");
  assert.match(
    section(elsewhere, "wrong"),
    new RegExp(`${disk!.id} is attached at ${other.id} \\(node ${other.privateDnsName}\\), and no Volume`),
  );
  assert.match(section(elsewhere, "next"), /aws ec2 detach-volume/);
  volumes.delete(disk!.id);
  const gone = await page(world, "pvc/data");
  assert.match(section(gone, "wrong"), new RegExp(`names ${disk!.id}, which EC2 does not know`));
});

test("a pod in another zone than its disk, and a claim that is deleted while it is used", async () => {
  const world = await attached();
  const [, elsewhere] = world.nodes;
  await world.pod("lost", elsewhere!, "data");
  await world.remove(claims, "data");
  const text = section(await page(world, "pvc/data"), "wrong");
  assert.match(text, new RegExp(`is in ${world.nodes[0]!.zone}, and node ${elsewhere!.privateDnsName} in ${elsewhere!.zone}`));
  assert.match(text, /is to be deleted, and db, lost still use it/);
});

test("a released volume that is kept, by its policy or for want of a tag", async () => {
  const world = await attached();
  const [volume] = await world.persistentVolumes();
  const name = volume!.metadata.name;
  await world.change(persistentVolumes, name, { spec: { persistentVolumeReclaimPolicy: "Retain" } });
  await world.remove(pods, "db");
  await world.remove(claims, "data");
  await world.until("it is released", async () => (await world.persistentVolumes())[0]?.status?.phase === "Released");
  assert.match(section(await page(world, `pv/${name}`), "wrong"), /reclaim policy is Retain: the disk stays/);
  world.aws.account.ec2.volumes.update(world.disks[0]!.id, { tags: {} });
  await world.change(persistentVolumes, name, { spec: { persistentVolumeReclaimPolicy: "Delete" } });
  assert.match(section(await page(world, `pv/${name}`), "wrong"), /carries none of the tags .*: it is not deleted with its claim/);
});

test("what does not exist, and what names nothing", async () => {
  const world = await claimWorld();
  for (const [word, complaint] of [
    ["pvc/none", /there is no PersistentVolumeClaim default\/none/],
    ["pv/none", /there is no PersistentVolume none/],
    ["pv/a/b", /names no volume: write pvc\/NAME or pv\/NAME/],
  ] as const) {
    const { err, status } = await command(world.surroundings, explainService, word);
    assert.equal(status, 1);
    assert.match(err, complaint);
  }
});
