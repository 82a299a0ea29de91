/** The resizer where a claim changes its mind, or its class of attributes is not there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolumeClaimStatus } from "../../src/kube/types.ts";
import { claims, persistentVolumes } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

const driver = "ebs.csi.aws.com";
const asking = (size: string) => ({ spec: { resources: { requests: { storage: size } } } });
const statusOf = async (world: ClaimWorld): Promise<PersistentVolumeClaimStatus> => (await world.seenClaim("data")).status ?? {};
const has = (world: ClaimWorld, size: string) => async () => (await statusOf(world)).capacity?.storage === size;
const modifications = (world: ClaimWorld) => world.aws.controls.journal.calls("ec2:ModifyVolume");

/** A claim that is bound; no pod uses it, so that nobody grows its file system. */
async function idle(): Promise<ClaimWorld> {
  const world = await claimWorld();
  world.start();
  await world.class("now", { volumeBindingMode: "Immediate" });
  await world.claim("data", { storageClassName: "now" });
  await world.until("it is bound", async () => (await statusOf(world)).phase === "Bound");
  return world;
}

test("a claim that grows again before its node has grown the file system waits for the node", async () => {
  const world = await idle();
  await world.change(claims, "data", asking("20Gi"));
  await world.until(
    "it is the node's turn",
    async () => (await statusOf(world)).allocatedResourceStatuses?.storage === "NodeResizePending",
  );
  await world.change(claims, "data", asking("30Gi"));
  await world.world.advance(10 * 60_000);
  assert.equal(world.disks[0]!.spec.sizeGiB, 20);
  assert.equal((await statusOf(world)).allocatedResources?.storage, "20Gi");
  await world.pod("db", world.nodes.find(({ zone }) => zone === world.disks[0]!.zone)!, "data");
  await world.until("it has all it asks for", has(world, "30Gi"), 8 * 60 * 60_000);
  assert.equal(world.disks[0]!.spec.sizeGiB, 30);
});

test("a claim that is made smaller while EC2 may still carry its growth out gets the growth", async () => {
  const world = await idle();
  const fault = world.aws.controls.faults.add({ action: "ec2:ModifyVolume", effect: { kind: "lose-answer" } });
  await world.change(claims, "data", asking("100Gi"));
  await world.until("it failed", async () => (await world.events("data")).has("VolumeResizeFailed"), 30 * 60_000);
  await world.change(claims, "data", asking("50Gi"));
  await world.world.advance(30_000);
  world.aws.controls.faults.remove(fault);
  await world.until(
    "the disk's size is known",
    async () => (await statusOf(world)).allocatedResourceStatuses?.storage === "NodeResizePending",
    60 * 60_000,
  );
  const [volume] = await world.persistentVolumes();
  assert.deepEqual([volume!.spec?.capacity?.storage, (await statusOf(world)).allocatedResources?.storage], ["100Gi", "100Gi"]);
  assert.equal(world.disks[0]!.spec.sizeGiB, 100);
});

test("a claim that asked for more than EC2 allows, and then for less, gets the less", async () => {
  const world = await idle();
  const fault = world.aws.controls.faults.add({
    action: "ec2:ModifyVolume",
    effect: { kind: "fail", code: "VolumeModificationSizeLimitExceeded", status: 400 },
  });
  await world.change(claims, "data", asking("100Gi"));
  await world.until(
    "it is refused",
    async () => (await statusOf(world)).conditions?.some(({ type }) => type === "ControllerResizeError") === true,
  );
  assert.equal((await statusOf(world)).allocatedResourceStatuses?.storage, "ControllerResizeInProgress");
  world.aws.controls.faults.remove(fault);
  await world.change(claims, "data", asking("50Gi"));
  await world.until(
    "it is grown",
    async () => (await statusOf(world)).allocatedResourceStatuses?.storage === "NodeResizePending",
    30 * 60_000,
  );
  assert.equal(world.disks[0]!.spec.sizeGiB, 50);
  assert.deepEqual((await statusOf(world)).conditions?.map(({ type }) => type).sort(), ["FileSystemResizePending", "Resizing"]);
});

test("a class of attributes that is not there is waited for, and said to be missing; growth does not wait for it", async () => {
  const world = await idle();
  await world.change(claims, "data", { spec: { ...asking("20Gi").spec, volumeAttributesClassName: "busy" } });
  await world.until("it is said", async () => (await statusOf(world)).modifyVolumeStatus?.status === "Pending");
  assert.equal((await world.events("data")).get("VolumeModifyFailed"), "VAC busy does not exist.");
  await world.until("the disk grows", () => world.disks[0]!.spec.sizeGiB === 20);
  await world.say("POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", {
    metadata: { name: "busy" },
    driverName: driver,
    parameters: { tagSpecification_1: "a=b" },
  });
  await world.until("it has the class", async () => (await statusOf(world)).currentVolumeAttributesClassName === "busy", 20 * 60_000);
  assert.equal(world.disks[0]!.tags.a, "b");
});

test("a claim that goes back to its class while another one may have been brought to its volume gets its own back", async () => {
  const world = await idle();
  for (const name of ["calm", "busy"]) {
    const parameters = { tagSpecification_1: `mood=${name}` };
    await world.say("POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", { metadata: { name }, driverName: driver, parameters });
  }
  await world.change(claims, "data", { spec: { volumeAttributesClassName: "calm" } });
  await world.until("it has the class", async () => (await statusOf(world)).currentVolumeAttributesClassName === "calm");
  const fault = world.aws.controls.faults.add({ action: "ec2:CreateTags", effect: { kind: "lose-answer" } });
  await world.change(claims, "data", { spec: { volumeAttributesClassName: "busy" } });
  await world.until("it is told", async () => (await world.events("data")).has("VolumeModifyFailed"));
  assert.equal(world.disks[0]!.tags.mood, "busy");
  await world.change(claims, "data", { spec: { volumeAttributesClassName: "calm" } });
  world.aws.controls.faults.remove(fault);
  await world.until("nothing is under way", async () => (await statusOf(world)).modifyVolumeStatus === undefined);
  assert.deepEqual([world.disks[0]!.tags.mood, (await statusOf(world)).currentVolumeAttributesClassName], ["calm", "calm"]);
});

test("a class of attributes of another driver is told, and does not keep the volume from growing", async () => {
  const world = await idle();
  await world.say("POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", { metadata: { name: "other" }, driverName: "other.example" });
  await world.change(claims, "data", { spec: { ...asking("20Gi").spec, volumeAttributesClassName: "other" } });
  await world.until("the disk grows", () => world.disks[0]!.spec.sizeGiB === 20);
  await world.until("it is told", async () => (await statusOf(world)).modifyVolumeStatus?.status === "Infeasible");
  assert.match((await world.events("data")).get("VolumeModifyFailed")!, /is of the driver other.example/);
});

test("classes of attributes are found on a server that serves them in their beta version only", async () => {
  const world = await idle();
  const { send } = world.cluster;
  await world.say("POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", {
    metadata: { name: "busy" },
    driverName: driver,
    parameters: { tagSpecification_1: "a=b" },
  });
  Object.assign(world.cluster, {
    send: (request: Parameters<typeof send>[0]) => {
      const { pathname } = request.url;
      const to = (path: string) => send({ ...request, url: new URL(path, request.url) });
      // What a server of 1.33 knows in this version, as far as it matters here.
      if (pathname === "/apis/storage.k8s.io/v1") return to("/apis/coordination.k8s.io/v1");
      if (!pathname.includes("/volumeattributesclasses/")) return send(request);
      return to(pathname.includes("/v1beta1/") ? pathname.replace("/v1beta1/", "/v1/") : "/nothing");
    },
  });
  await world.change(claims, "data", { spec: { volumeAttributesClassName: "busy" } });
  await world.until("it has the class", async () => (await statusOf(world)).currentVolumeAttributesClassName === "busy");
  await world.claim("new", { storageClassName: "now", volumeAttributesClassName: "busy" });
  await world.until("a new one is bound", async () => (await world.seenClaim("new")).status?.phase === "Bound");
  assert.deepEqual(
    world.disks.map(({ tags }) => tags.a),
    ["b", "b"],
  );
});

test("a claim that was made again under the same name does not change the volume of the former one", async () => {
  const world = await idle();
  const [volume] = await world.persistentVolumes();
  await world.change(persistentVolumes, volume!.metadata.name, { spec: { claimRef: { uid: "of-the-former-one" } } });
  await world.change(claims, "data", asking("20Gi"));
  await world.world.advance(5 * 60_000);
  assert.equal(modifications(world), 0);
  assert.equal((await statusOf(world)).allocatedResourceStatuses, undefined);
});
