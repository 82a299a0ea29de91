/** Making, checking, mounting and growing file systems, with the tools of the system. */
import type { StringMap } from "../csi/messages.ts";
import { mountAt, mounts } from "./mounts.ts";
import type { Finished, System } from "./system.ts";

/** A tool failed. Says which, how, and what it wrote. */
export class ToolFailed extends Error {
  override readonly name = "ToolFailed";
  constructor(tool: string, args: readonly string[], { status, out, err }: Finished) {
    const written = [err, out].map((text) => text.trim()).find((text) => text !== "") ?? "no output";
    super(`${tool} ${args.join(" ")} ${status === undefined ? "could not be run" : `ended with status ${status}`}: ${written}`);
  }
}

export interface FormatRequest {
  readonly device: string;
  readonly path: string;
  readonly type: string;
  readonly mountFlags: readonly string[];
  /** Options of its making, by their key in the volume context. */
  readonly options: StringMap;
  readonly legacyXfs: boolean;
}

export type Warn = (message: string) => void;

/** Mounts a device, with a new file system if it has nothing on it. What is there is checked and never overwritten. */
export async function formatAndMount(request: FormatRequest, system: System, warn: Warn): Promise<void> {
  const { device, path, type, mountFlags } = request;
  const readOnly = mountFlags.includes("ro");
  const found = await contentOf(device, system);
  if (found === "") {
    if (readOnly) throw new Error(`cannot mount unformatted disk ${device} as it is in read-only mode`);
    // blkid answers the same of a device that is empty and of one that it cannot read.
    await system.readable(device);
    await must(`mkfs.${type}`, mkfsArguments(request), system);
  } else {
    if (found !== type) warn(`${device} has ${found}, and ${type} was asked for`);
    if (!readOnly) await check(device, system, warn);
  }
  const flags = [...new Set([...mountFlags, ...(type === "xfs" ? ["nouuid"] : []), "defaults"])];
  await must("mount", ["-t", type, "-o", flags.join(","), device, path], system);
}

/** What is on a device: a file system's name, `unknown data` for anything that is not ours to touch, empty for nothing. */
export async function contentOf(device: string, system: System): Promise<string> {
  const args = ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device];
  const finished = await system.run("blkid", args);
  if (finished.status === 2) return "";
  if (finished.status !== 0) throw new ToolFailed("blkid", args, finished);
  const facts = new Map<string, string>();
  for (const line of `${finished.out}\n${finished.err}`.split("\n")) {
    if (line.trim() === "") continue;
    const [key = "", value, ...more] = line.split("=");
    if (value === undefined || more.length > 0) throw new Error(`blkid says of ${device} what cannot be read: ${line}`);
    facts.set(key, value);
  }
  if (facts.has("PTTYPE")) return "unknown data, probably partitions";
  return facts.get("TYPE") ?? "";
}

/** How each format option is given to mkfs; xfs has its own words for some. */
const mkfsOptions: readonly (readonly [
  key: string,
  ext: (value: string) => readonly string[],
  xfs?: (value: string) => readonly string[],
])[] = [
  ["blocksize", (value) => ["-b", value], (value) => ["-b", `size=${value}`]],
  ["inodesize", (value) => ["-I", value], (value) => ["-i", `size=${value}`]],
  ["bytesperinode", (value) => ["-i", value]],
  ["numberofinodes", (value) => ["-N", value]],
  ["ext4bigalloc", () => ["-O", "bigalloc"]],
  ["ext4clustersize", (value) => ["-C", value]],
  ["ext4encryptionsupport", () => ["-O", "encrypt"]],
];
/** Features that kernels before 5.15 cannot mount. */
const legacyXfs = ["-m", "bigtime=0,inobtcount=0,reflink=0", "-i", "nrext64=0"];
const fixedOptions: Readonly<Record<string, readonly string[]>> = { ext3: ["-F", "-m0"], ext4: ["-F", "-m0"], xfs: ["-f"] };

/** The arguments of mkfs. */
export function mkfsArguments(request: Pick<FormatRequest, "device" | "type" | "options" | "legacyXfs">): readonly string[] {
  const isXfs = request.type === "xfs";
  const chosen = mkfsOptions.flatMap(([key, ext, xfs]) => {
    const value = request.options[key];
    return value === undefined ? [] : ((isXfs ? xfs : undefined) ?? ext)(value);
  });
  return [...chosen, ...(isXfs && request.legacyXfs ? legacyXfs : []), ...(fixedOptions[request.type] ?? []), request.device];
}

/** Repairs what can be repaired without asking; refuses a file system that is beyond that. */
async function check(device: string, system: System, warn: Warn): Promise<void> {
  const finished = await system.run("fsck", ["-a", device]);
  if (finished.status === 4) throw new ToolFailed("fsck", ["-a", device], finished);
  if (finished.status === 1) warn(`fsck repaired ${device}: ${finished.out.trim()}`);
  else if (finished.status !== 0) warn(`fsck could not check ${device}: ${finished.err.trim() || finished.out.trim()}`);
}

/** Flags of a mount that a bind mount of it must keep: the kernel refuses to lift them. */
const keptFlags: ReadonlySet<string> = new Set(["ro", "nodev", "noexec", "nosuid", "noatime", "relatime", "nodiratime"]);

/** Mounts a directory or device at another place. What a bind mount cannot be given at once is given in a second step. */
export async function bindMount(source: string, target: string, flags: readonly string[], type: string, system: System): Promise<void> {
  await must("mount", [...typed(type), "-o", "bind", source, target], system);
  try {
    await remountBound(source, target, flags, type, system);
  } catch (error) {
    // Mounted for writing where it was to be read-only is worse than not mounted.
    await unmount(target, system);
    throw error;
  }
}

/** The second step: the flags of a bind mount, and those of its source that it must keep. */
export async function remountBound(source: string, target: string, flags: readonly string[], type: string, system: System): Promise<void> {
  const kept = (await mountAt(source, system))?.options.filter((option) => keptFlags.has(option)) ?? [];
  const rest = [...new Set([...flags.filter((flag) => flag !== "bind"), ...kept])];
  if (rest.length > 0) await must("mount", [...typed(type), "-o", ["bind", "remount", ...rest].join(","), source, target], system);
}

function typed(type: string): readonly string[] {
  return type === "" ? [] : ["-t", type];
}

/** Unmounts whatever is at a path, also what lies under it. Nothing there is fine. */
export async function unmount(path: string, system: System): Promise<void> {
  for (;;) {
    const finished = await system.run("umount", [path]);
    if (finished.status !== 0) {
      if (/not mounted|no mount point/.test(finished.err + finished.out)) return;
      throw new ToolFailed("umount", [path], finished);
    }
    if (!(await mounts(system)).some((mount) => mount.path === path)) return;
  }
}

/** Grows a file system to the size of its device; a tool that finds nothing to do does nothing. */
export async function grow(device: string, path: string, system: System): Promise<void> {
  const type = await contentOf(device, system);
  if (type === "") return;
  if (type === "ext3" || type === "ext4") await must("resize2fs", [device], system);
  else if (type === "xfs") await must("xfs_growfs", ["-d", path], system);
  else if (type === "btrfs") await must("btrfs", ["filesystem", "resize", "max", path], system);
  else throw new Error(`resize of ${type} is not supported for device ${device} mounted at ${path}`);
}

/** Whether a device cannot be written to. */
export async function isReadOnly(device: string, system: System): Promise<boolean> {
  return (await must("blockdev", ["--getro", device], system)).trim() === "1";
}

/** The bytes of a device. */
export async function deviceSize(device: string, system: System): Promise<string> {
  return (await must("blockdev", ["--getsize64", device], system)).trim();
}

async function must(tool: string, args: readonly string[], system: System): Promise<string> {
  const finished = await system.run(tool, args);
  if (finished.status !== 0) throw new ToolFailed(tool, args, finished);
  return finished.out;
}
