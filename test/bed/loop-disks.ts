/** Disks that are files: a loop device for each, under the name that EC2 would have given it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Why this machine has no loop devices; undefined when it has. */
export function whyNoLoopDisks(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-probe-"));
  try {
    const file = join(folder, "disk");
    writeFileSync(file, "");
    truncateSync(file, 2 ** 24);
    const device = tool("losetup", "-f", "--show", file);
    try {
      tool("mkfs.ext4", "-q", "-F", device);
      tool("mount", device, folder);
      tool("umount", folder);
    } finally {
      tool("losetup", "-d", device);
    }
    return undefined;
  } catch (error) {
    return `this machine mounts no loop devices: ${(error as Error).message.split("\n")[0]}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether the system has a tool. */
export function hasTool(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, name)));
}

export class LoopDisks {
  readonly folder = mkdtempSync(join(tmpdir(), "fairlead-disks-"));
  readonly #disks = new Map<string, { readonly file: string; readonly device: string; readonly link: string }>();

  /** A disk of so many bytes, seen under the name. */
  attach(id: string, name: string, bytes: number): void {
    const file = join(this.folder, id);
    if (!existsSync(file)) writeFileSync(file, "");
    truncateSync(file, bytes);
    const device = tool("losetup", "-f", "--show", file);
    if (existsSync(name)) unlinkSync(name);
    symlinkSync(device, name);
    this.#disks.set(id, { file, device, link: name });
  }

  grow(id: string, bytes: number): void {
    const { file, device } = this.#disks.get(id)!;
    truncateSync(file, bytes);
    tool("losetup", "-c", device);
  }

  /** What is written on it stays for the next attachment. */
  detach(id: string): void {
    const disk = this.#disks.get(id);
    if (disk === undefined) return;
    rmSync(disk.link, { force: true });
    tool("losetup", "-d", disk.device);
    this.#disks.delete(id);
  }

  has(id: string): boolean {
    return this.#disks.has(id);
  }

  close(): void {
    const mounted = execFileSync("cat", ["/proc/self/mounts"], { encoding: "utf8" })
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "")
      .filter((path) => path.startsWith(this.folder))
      .reverse();
    for (const path of mounted) tool("umount", path);
    for (const id of [...this.#disks.keys()]) this.detach(id);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function tool(name: string, ...args: readonly string[]): string {
  return execFileSync(name, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}
