/** The node service on a machine whose tools fail as they are told to; test/integration/volumes-node.test.ts has real ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ScriptedMachine } from "../../../test/bed/scripted-machine.ts";
import { blockCapability, mountCapability, refusedWith } from "../../../test/bed/volume-world.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { InFlight } from "../in-flight.ts";
import { findDevice } from "./find-device.ts";
import { nodeMethods } from "./methods.ts";
import type { Finished } from "./system.ts";

const volumeId = "vol-0123456789abcdef0";
const device = "/dev/xvdaa";
const [staging, target] = ["/staging", "/pods/target"];
const signal = new AbortController().signal;
const failing = (status: number): Finished => ({ status, out: "", err: "it broke" });

function node(machine = new ScriptedMachine()) {
  const world = virtualWorld(1);
  const methods = nodeMethods({
    host: { world, log: silentLog, metrics: newRegistry() },
    system: machine,
    settings: { legacyXfs: false, limits: { attachLimit: -1, reserved: -1 } },
    inFlight: new InFlight(),
    facts: () => assert.fail("nobody asks for them"),
  });
  const request = {
    volumeId,
    stagingTargetPath: staging,
    targetPath: target,
    volumePath: target,
    volumeCapability: mountCapability,
    publishContext: { devicePath: device },
    volumeContext: {},
    readonly: false,
  };
  const call = (method: string, more: object = {}) =>
    methods[method]!({ ...request, ...more } as never, { name: method, signal }) as Promise<object>;
  return { machine, world, call };
}

for (const [tool, status, content, asks] of [
  ["blkid", 4, undefined, /blkid .* ended with status 4: it broke/],
  ["mkfs.ext4", 1, undefined, /mkfs.ext4 -F -m0 \/dev\/xvdaa ended with status 1/],
  ["fsck", 4, "ext4", /fsck -a \/dev\/xvdaa ended with status 4/],
  ["mount", 32, "ext4", /mount -t ext4 -o defaults \/dev\/xvdaa \/staging ended with status 32/],
  ["resize2fs", 1, "ext4", /resize2fs \/dev\/xvdaa ended with status 1/],
  ["blockdev", 1, "ext4", /blockdev --getro \/dev\/xvdaa ended with status 1/],
] as const) {
  test(`staging fails, and says why, when ${tool} ends with status ${status}`, async () => {
    const { machine, call } = node();
    if (content !== undefined) machine.content.set(device, content);
    machine.failures.set(tool, failing(status));
    const text = await refusedWith(call("NodeStageVolume"), "Internal");
    assert.ok(text.startsWith(`could not format "${device}" and mount it at "${staging}": `), text);
    assert.match(text, asks);
  });
}

test("fsck that repaired, or could not be run, does not keep a volume from being mounted", async () => {
  for (const status of [1, 8]) {
    const { machine, call } = node();
    machine.content.set(device, "ext4");
    machine.failures.set("fsck", failing(status));
    await call("NodeStageVolume");
    assert.deepEqual(
      machine.mounted.map(({ path }) => path),
      [staging],
    );
  }
});

test("a staged volume is staged again without a command; partition 0 is the whole disk, another is that part of it", async () => {
  const { machine, call } = node();
  await call("NodeStageVolume", { volumeContext: { partition: "0" } });
  const before = machine.commands.filter((command) => !command.startsWith("lsblk")).length;
  await call("NodeStageVolume");
  assert.equal(machine.commands.filter((command) => !command.startsWith("lsblk")).length, before);
  const other = node();
  other.machine.content.set(`${device}2`, "ext4");
  await other.call("NodeStageVolume", { volumeContext: { partition: "2" } });
  assert.equal(other.machine.mounted[0]!.source, `${device}2`);
  assert.equal(
    await refusedWith(other.call("NodeStageVolume", { volumeContext: { partition: "two" } }), "InvalidArgument"),
    "Volume Attribute is not valid",
  );
});

test("an unformatted disk is not mounted for reading only", async () => {
  const { call } = node();
  const volumeCapability = { ...mountCapability, mount: { fsType: "", mountFlags: ["ro"] } };
  assert.match(await refusedWith(call("NodeStageVolume", { volumeCapability }), "Internal"), /cannot mount unformatted disk/);
});

test("a second call for the volume is refused while the first one works", async () => {
  const { call } = node();
  const first = call("NodeStageVolume");
  assert.match(await refusedWith(call("NodeStageVolume"), "Aborted"), /already in progress/);
  await first;
});

test("a target whose mount is corrupted is mounted again by the same call", async () => {
  for (const code of ["ESTALE", "ENOTCONN", "EIO"]) {
    const { machine, call } = node();
    await call("NodeStageVolume");
    await call("NodePublishVolume");
    machine.unreadable.set(target, code);
    await call("NodePublishVolume");
    assert.equal(machine.mounted.filter(({ path }) => path === target).length, 1);
    assert.ok(machine.commands.includes(`umount ${target}`), code);
  }
  const { machine, call } = node();
  await call("NodeStageVolume");
  machine.unreadable.set(target, "ELOOP");
  await refusedWith(call("NodePublishVolume"), "Internal");
});

test("a block device is given for reading only, of a partition, and not when it is not there", async () => {
  const { machine, world, call } = node();
  machine.devices.set(`${device}1`, "202:2");
  const block = { volumeCapability: blockCapability };
  await call("NodePublishVolume", { ...block, readonly: true, volumeContext: { partition: "1" } });
  assert.deepEqual(
    machine.mounted.map(({ source, path, options }) => [source, path, options]),
    [[`${device}1`, target, "bind,remount,ro"]],
  );
  assert.equal(
    await refusedWith(call("NodePublishVolume", { ...block, volumeContext: { partition: "-1" } }), "InvalidArgument"),
    "Volume Attribute is invalid",
  );
  const missing = call("NodePublishVolume", { ...block, targetPath: "/other", publishContext: { devicePath: "/dev/xvdzz" } });
  missing.catch(() => {});
  await world.advance(10_000);
  assert.match(await refusedWith(missing, "NotFound"), /^Failed to find device path \/dev\/xvdzz\./);
});

test("what is not mounted is unpublished and unstaged; what is mounted twice is unstaged too; a busy one is an error", async () => {
  const { machine, call } = node();
  await call("NodeUnpublishVolume");
  await call("NodeUnstageVolume");
  await call("NodeStageVolume");
  await call("NodePublishVolume");
  await call("NodeUnstageVolume");
  assert.deepEqual(
    machine.mounted.map(({ path }) => path),
    [target],
  );
  machine.failures.set("umount", { status: 32, out: "", err: "target is busy" });
  assert.match(await refusedWith(call("NodeUnpublishVolume"), "Internal"), /^Could not unmount "\/pods\/target": .*target is busy/);
});

test("a block device needs no growing, by its capability or its path; a file system is grown, and a failure told", async () => {
  const { machine, call } = node();
  assert.deepEqual(await call("NodeExpandVolume", { volumeCapability: blockCapability }), {});
  assert.deepEqual(await call("NodeExpandVolume", { volumeCapability: null, volumePath: device }), { capacityBytes: "1073741824" });
  await refusedWith(call("NodeExpandVolume", { volumeCapability: null, volumePath: "/nothing" }), "NotFound");
  await call("NodeStageVolume");
  await call("NodePublishVolume");
  assert.deepEqual(await call("NodeExpandVolume"), { capacityBytes: "1073741824" });
  machine.failures.set("resize2fs", failing(1));
  assert.match(
    await refusedWith(call("NodeExpandVolume"), "Internal"),
    /^Could not resize volume "vol-0123456789abcdef0" \("\/dev\/xvdaa"\)/,
  );
  machine.mounted = [];
  assert.match(await refusedWith(call("NodeExpandVolume"), "Internal"), /nothing is mounted there/);
});

test("statistics are exact beyond 53 bits, leave out inodes where there are none, and need a path that is there", async () => {
  const { machine, call } = node();
  machine.files.add(target);
  const total = 2n ** 72n;
  assert.deepEqual(await call("NodeGetVolumeStats"), {
    usage: [{ unit: "BYTES", total: String(total), available: String(9n * 4096n), used: String(total / 2n) }],
  });
  assert.deepEqual(await call("NodeGetVolumeStats", { volumePath: device }), { usage: [{ unit: "BYTES", total: "1073741824" }] });
  assert.equal(await refusedWith(call("NodeGetVolumeStats", { volumePath: "/nothing" }), "NotFound"), "path /nothing does not exist");
});

const own = "vol0123456789abcdef0";
for (const [what, serial, isRight] of [
  ["no serial number", "", true],
  ["its own", own, true],
  ["its own, several times", `${own}\n${own}\n`, true],
  ["its own among spaces", `  ${own}  \n`, true],
  ["its own beside other words", `Amazon ${own} EBS`, true],
  ["another volume's", "vol0fedcba9876543210", false],
  ["its own and another's", `${own}\nvol0fedcba9876543210`, false],
] as const) {
  test(`a device with ${what} is ${isRight ? "used" : "refused"}`, async () => {
    const machine = new ScriptedMachine();
    machine.serial = serial;
    const found = findDevice(volumeId, device, "", machine, virtualWorld(1).clock, signal);
    if (isRight) assert.equal(await found, device);
    else await assert.rejects(found, /refusing to mount \/dev\/xvdaa because it claims to be vol0fedcba9876543210 but should be/);
  });
}

test("a device that lsblk cannot tell of is used, and a path that is none is refused", async () => {
  const machine = new ScriptedMachine();
  machine.failures.set("lsblk", failing(32));
  const { clock } = virtualWorld(1);
  assert.equal(await findDevice(volumeId, device, "", machine, clock, signal), device);
  for (const path of ["--option", "/dev/../x", "/dev/mapper/x"]) {
    machine.devices.set(path, "1:1");
    await assert.rejects(findDevice(volumeId, path, "", machine, clock, signal), /does not appear to be a valid device/);
  }
});
