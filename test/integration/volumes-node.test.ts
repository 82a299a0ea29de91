/** The node service on real devices and mounts. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as declare, type TestContext } from "node:test";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { InFlight } from "../../src/volumes/in-flight.ts";
import { nodeMethods } from "../../src/volumes/node/methods.ts";
import { mountAt } from "../../src/volumes/node/mounts.ts";
import { linuxSystem } from "../../src/volumes/node/system.ts";
import { hasTool, LoopDisks, whyNoLoopDisks } from "../bed/loop-disks.ts";
import { blockCapability, mountCapability, refusedWith } from "../bed/volume-world.ts";

const missing = whyNoLoopDisks();
const noXfs = missing ?? (hasTool("mkfs.xfs") ? undefined : "mkfs.xfs is not installed");
const mib = 2 ** 20;
const device = "/dev/xvdaa";
const volumeId = "vol-0123456789abcdef0";

/** A node service with one attached disk, and the paths kubelet would use. */
function bed(t: TestContext, bytes = 64 * mib) {
  const disks = new LoopDisks();
  t.after(() => disks.close());
  disks.attach(volumeId, device, bytes);
  const system = linuxSystem();
  const methods = nodeMethods({
    host: { world: realWorld(), log: silentLog, metrics: newRegistry() },
    system,
    settings: { legacyXfs: false, limits: { attachLimit: -1, reserved: -1 } },
    inFlight: new InFlight(),
    facts: () => Promise.reject(new Error("not asked for here")),
  });
  const call = <T = object>(method: string, request: object): Promise<T> =>
    methods[method]!(request as never, { name: method, signal: new AbortController().signal }) as Promise<T>;
  const staging = join(disks.folder, "staging");
  const target = join(disks.folder, "pods/a/mount");
  const common = { volumeId, publishContext: { devicePath: device }, volumeContext: {}, volumeCapability: mountCapability };
  mkdirSync(join(disks.folder, "pods/a"), { recursive: true });
  return {
    disks,
    system,
    call,
    staging,
    target,
    stage: (more: object = {}) => call("NodeStageVolume", { ...common, stagingTargetPath: staging, ...more }),
    publish: (more: object = {}) =>
      call("NodePublishVolume", { ...common, stagingTargetPath: staging, targetPath: target, readonly: false, ...more }),
    unpublish: (path = target) => call("NodeUnpublishVolume", { volumeId, targetPath: path }),
    unstage: () => call("NodeUnstageVolume", { volumeId, stagingTargetPath: staging }),
  };
}

function test(name: string, skip: string | undefined, work: (t: TestContext) => Promise<void>): void {
  declare(name, { skip: skip ?? false }, work);
}

const withFs = (fsType: string, mountFlags: readonly string[] = []) => ({ ...mountCapability, mount: { fsType, mountFlags } });

test("an empty disk gets ext4, a pod writes to it, and what it wrote is there at the next attachment", missing, async (t) => {
  const { disks, system, stage, publish, unpublish, unstage, staging, target } = bed(t);
  await stage();
  await stage();
  assert.equal((await mountAt(staging, system))?.type, "ext4");
  await publish();
  await publish();
  writeFileSync(join(target, "precious"), "kept");
  await unpublish();
  await unpublish();
  assert.equal(existsSync(target), false);
  await unstage();
  await unstage();
  assert.equal(await mountAt(staging, system), undefined);
  disks.detach(volumeId);
  disks.attach(volumeId, device, 64 * mib);
  await stage();
  await publish();
  assert.equal(readFileSync(join(target, "precious"), "utf8"), "kept");
});

test("two pods of a node share a volume, one of them for reading only", missing, async (t) => {
  const { disks, stage, publish, unpublish, target } = bed(t);
  await stage();
  await publish();
  const second = join(disks.folder, "pods/b");
  await publish({ targetPath: second, readonly: true });
  writeFileSync(join(target, "a"), "x");
  assert.equal(readFileSync(join(second, "a"), "utf8"), "x");
  assert.throws(() => writeFileSync(join(second, "b"), "x"), { code: "EROFS" });
  await unpublish(second);
  assert.equal(readFileSync(join(target, "a"), "utf8"), "x");
});

test("a volume that is not staged is not published: the pod would write to the node's own disk", missing, async (t) => {
  const { system, stage, unstage, publish, staging, target } = bed(t);
  await stage();
  await unstage();
  mkdirSync(staging);
  assert.match(await refusedWith(publish(), "FailedPrecondition"), /is not staged/);
  assert.equal(await mountAt(target, system), undefined);
  await stage();
  await publish();
});

test("a mount that is to be read-only, and was left half-done, becomes read-only", missing, async (t) => {
  const { stage, publish, target, staging } = bed(t);
  await stage();
  mkdirSync(target);
  execFileSync("mount", ["-o", "bind", staging, target]);
  await publish({ readonly: true });
  assert.throws(() => writeFileSync(join(target, "a"), "x"), { code: "EROFS" });
});

test("mount flags of the capability are set for pod and node", missing, async (t) => {
  const { system, stage, publish, target, staging } = bed(t);
  const volumeCapability = withFs("ext4", ["noatime", "noexec"]);
  await stage({ volumeCapability });
  await publish({ volumeCapability });
  for (const path of [staging, target]) {
    const options = (await mountAt(path, system))?.options ?? [];
    assert.ok(options.includes("noatime") && options.includes("noexec"), `${path}: ${options}`);
  }
});

test("a raw device is given to the pod as it is", missing, async (t) => {
  const { call, stage, publish, unpublish, unstage, target, staging } = bed(t);
  await stage({ volumeCapability: blockCapability });
  await publish({ volumeCapability: blockCapability });
  await publish({ volumeCapability: blockCapability });
  assert.equal(execFileSync("blockdev", ["--getsize64", target], { encoding: "utf8" }).trim(), String(64 * mib));
  assert.deepEqual(await call("NodeGetVolumeStats", { volumeId, volumePath: target }), {
    usage: [{ unit: "BYTES", total: String(64 * mib) }],
  });
  assert.deepEqual(await call("NodeExpandVolume", { volumeId, volumePath: target, volumeCapability: null }), {
    capacityBytes: String(64 * mib),
  });
  await unpublish();
  assert.equal(existsSync(target), false);
  assert.equal(existsSync(staging), false);
  await unstage();
});

test("a disk with partitions is not formatted", missing, async (t) => {
  const { stage } = bed(t);
  writeFileSync(device, partitioned(64 * mib));
  assert.match(await refusedWith(stage(), "Internal"), /^could not format "\/dev\/loop\d+" and mount it at/);
  const kind = execFileSync("blkid", ["-p", "-s", "PTTYPE", "-o", "value", device], { encoding: "utf8" }).trim();
  assert.equal(kind, "dos");
});

/** A disk with one partition, as the oldest kind of partition table has it. */
function partitioned(bytes: number): Buffer {
  const disk = Buffer.alloc(bytes);
  disk.writeUInt8(0x83, 446 + 4);
  disk.writeUInt32LE(2048, 446 + 8);
  disk.writeUInt32LE(bytes / 512 - 2048, 446 + 12);
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
}

test("a file system beyond repair is refused", missing, async (t) => {
  const { stage, unstage } = bed(t);
  await stage();
  await unstage();
  // The superblock stays, so that blkid knows it; what it describes does not.
  execFileSync("dd", ["if=/dev/urandom", `of=${device}`, "bs=4096", "seek=1", "count=4000", "conv=notrunc"], { stdio: "ignore" });
  assert.match(await refusedWith(stage(), "Internal"), /fsck -a .* ended with status 4/);
});

test("format options reach mkfs", missing, async (t) => {
  const { stage } = bed(t);
  const volumeContext = {
    blocksize: "1024",
    inodesize: "512",
    ext4bigalloc: "true",
    ext4clustersize: "16384",
    ext4encryptionsupport: "true",
  };
  await stage({ volumeContext });
  const facts = execFileSync("dumpe2fs", ["-h", device], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  for (const fact of [/Block size:\s+1024/, /Inode size:\s+512/, /bigalloc/, /Cluster size:\s+16384/, /encrypt/]) assert.match(facts, fact);
});

test("a disk that is not there is not found, and one with another volume's serial number is refused", missing, async (t) => {
  const { disks, stage } = bed(t);
  const text = await refusedWith(stage({ publishContext: { devicePath: "/dev/xvdzz" } }), "NotFound");
  assert.match(text, /^Failed to find device path \/dev\/xvdzz\. no device path/);
  const tools = join(disks.folder, "bin");
  mkdirSync(tools);
  writeFileSync(join(tools, "lsblk"), "#!/bin/sh\necho vol0fedcba9876543210\n", { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${tools}:${before}`;
  t.after(() => {
    process.env.PATH = before;
  });
  assert.match(await refusedWith(stage(), "NotFound"), /claims to be vol0fedcba9876543210 but should be vol0123456789abcdef0/);
});

test("an NVMe disk is found by its serial number when it has another name", missing, async (t) => {
  const { disks, system, stage, staging } = bed(t);
  const link = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0";
  mkdirSync("/dev/disk/by-id", { recursive: true });
  const real = execFileSync("readlink", ["-f", device], { encoding: "utf8" }).trim();
  symlinkSync(real, link);
  t.after(() => execFileSync("rm", ["-f", link]));
  await stage({ publishContext: { devicePath: "/dev/xvdzz" } });
  assert.equal((await mountAt(staging, system))?.source, real);
  assert.ok(disks.has(volumeId));
});

test("a mount of another device at the staging path is replaced", missing, async (t) => {
  const { disks, system, stage, staging } = bed(t);
  await stage();
  const old = (await mountAt(staging, system))?.device;
  disks.attach("vol-other", "/dev/xvdab", 64 * mib);
  await stage({ publishContext: { devicePath: "/dev/xvdab" } });
  const now = (await mountAt(staging, system))?.device;
  assert.notEqual(now, old);
});

test("statistics tell bytes and inodes", missing, async (t) => {
  const { call, stage, publish, target } = bed(t);
  await stage();
  await publish();
  writeFileSync(join(target, "a"), "x".repeat(mib));
  const { usage } = await call<{ usage: { unit: string; total: string; used: string; available: string }[] }>("NodeGetVolumeStats", {
    volumeId,
    volumePath: target,
  });
  assert.deepEqual(
    usage.map(({ unit }) => unit),
    ["BYTES", "INODES"],
  );
  assert.ok(Number(usage[0]!.used) >= mib && Number(usage[0]!.total) <= 64 * mib);
  await refusedWith(call("NodeGetVolumeStats", { volumeId, volumePath: "/none/there" }), "NotFound");
  await refusedWith(call("NodeExpandVolume", { volumeId, volumePath: "some/path", volumeCapability: null }), "NotFound");
});

test("a larger disk makes the file system larger: xfs while it is mounted", noXfs, async (t) => {
  const { call, disks, stage, publish, target } = bed(t, 320 * mib);
  const volumeCapability = withFs("xfs");
  await stage({ volumeCapability });
  await publish({ volumeCapability });
  disks.grow(volumeId, 640 * mib);
  assert.deepEqual(await call("NodeExpandVolume", { volumeId, volumePath: target, volumeCapability }), {
    capacityBytes: String(640 * mib),
  });
  const { usage } = await call<{ usage: { total: string }[] }>("NodeGetVolumeStats", { volumeId, volumePath: target });
  assert.ok(Number(usage[0]!.total) > 500 * mib);
});

for (const [what, more, code, text] of [
  ["no volume", { volumeId: "" }, "InvalidArgument", "Volume ID not provided"],
  ["no staging path", { stagingTargetPath: "" }, "InvalidArgument", "Staging target not provided"],
  ["no capability", { volumeCapability: null }, "InvalidArgument", "Volume capability not provided"],
  ["no device", { publishContext: {} }, "InvalidArgument", "Device path not provided"],
  ["an unknown file system", { volumeCapability: withFs("zfs") }, "InvalidArgument", "NodeStageVolume: invalid fstype zfs"],
  ["a partition that is none", { volumeContext: { partition: "-1" } }, "InvalidArgument", "Volume Attribute is not valid"],
  ["a bad option", { volumeContext: { blocksize: "a;b" } }, "InvalidArgument", "Invalid blocksize (aborting!): <nil>"],
  [
    "an option of another file system",
    { volumeContext: { numberofinodes: "9" }, volumeCapability: withFs("xfs") },
    "InvalidArgument",
    "Cannot use numberofinodes with fstype xfs",
  ],
] as const) {
  test(`staging with ${what} is refused`, missing, async (t) => {
    assert.equal(await refusedWith(bed(t).stage(more), code), text);
  });
}
