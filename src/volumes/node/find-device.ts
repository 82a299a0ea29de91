/** The device file of a volume. The name that EC2 was given is a wish: an NVMe disk is found by its serial number. */
import { type Clock, sleep } from "../../runtime/world.ts";
import { textOf } from "../csi/errors.ts";
import type { System } from "./system.ts";

/** A device that has just been attached may show up a moment later. */
const appearsWithinMs = 3_000;
const pauseMs = 250;

/** The device file, with the partition if one is meant. Rejects when there is none, or it is another volume's. */
export async function findDevice(
  volumeId: string,
  devicePath: string,
  partition: string,
  system: System,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const until = clock.monotonic() + appearsWithinMs;
  for (;;) {
    const device = await locate(volumeId, devicePath, system);
    if (device !== undefined) {
      await verify(device, volumeId, system);
      return withPartition(device, partition);
    }
    if (clock.monotonic() >= until)
      throw new Error(`no device path for device ${JSON.stringify(devicePath)} volume ${JSON.stringify(volumeId)} found`);
    await sleep(clock, pauseMs, signal);
  }
}

async function locate(volumeId: string, devicePath: string, system: System): Promise<string | undefined> {
  if ((await system.stat(devicePath)) !== undefined) return system.realPath(devicePath);
  const serial = serialOf(volumeId);
  const link = `/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${serial}`;
  if ((await system.stat(link)) !== undefined) {
    const device = await system.realPath(link);
    if (device === link || !device.startsWith("/dev/")) throw new Error(`${link} is not a link to a device`);
    return device;
  }
  return bySysfs(serial, system);
}

/** Where udev has made no link: the kernel's own list of controllers. */
async function bySysfs(serial: string, system: System): Promise<string | undefined> {
  const controllers = await system.list("/sys/class/nvme").catch(() => []);
  for (const controller of controllers) {
    const found = await system.read(`/sys/class/nvme/${controller}/serial`).catch(() => "");
    const device = `/dev/${controller}n1`;
    if (found.trim() === serial && (await system.stat(device)) !== undefined) return device;
  }
  return undefined;
}

function serialOf(volumeId: string): string {
  return volumeId.replaceAll("-", "");
}

/** A device that says which volume it is must be this one. What could be taken for an option of a tool is refused too. */
async function verify(device: string, volumeId: string, system: System): Promise<void> {
  if (!/^\/dev\/[A-Za-z0-9]+$/.test(device)) {
    throw new Error(`refusing to mount ${device} because it does not appear to be a valid device`);
  }
  const listed = await system.run("lsblk", ["--noheadings", "--ascii", "--nodeps", "--output", "SERIAL", "--", device]);
  const expected = serialOf(volumeId);
  const other = listed.out.match(/vol[a-z0-9]+/g)?.find((serial) => serial !== expected);
  if (other !== undefined) throw new Error(`refusing to mount ${device} because it claims to be ${other} but should be ${expected}`);
}

/** `/dev/nvme1n1` → `/dev/nvme1n1p2`, `/dev/xvdba` → `/dev/xvdba2`. */
function withPartition(device: string, partition: string): string {
  if (partition === "" || partition === "0") return device;
  return device.startsWith("/dev/nvme") ? `${device}p${partition}` : device + partition;
}

/** The text of a missing device, for its refusal. */
export function deviceMissing(path: string, error: unknown): string {
  return `Failed to find device path ${path}. ${textOf(error)}`;
}
