/** The mounts of this machine, as /proc/self/mountinfo shows them. */
import type { System } from "./system.ts";

export interface Mount {
  /** `major:minor` of the device. */
  readonly device: string;
  /** The part of its file system that is mounted; `/` for all of it. */
  readonly root: string;
  readonly path: string;
  readonly options: readonly string[];
  readonly type: string;
  /** As given to mount: `/dev/nvme1n1`. */
  readonly source: string;
}

/** What is mounted now, in the order in which it was. */
export async function mounts(system: System): Promise<readonly Mount[]> {
  return parseMountInfo(await system.read("/proc/self/mountinfo"));
}

/** What is mounted at a path: the last of several, which hides the others. */
export async function mountAt(path: string, system: System): Promise<Mount | undefined> {
  return (await mounts(system)).findLast((mount) => mount.path === path);
}

/**
 * `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`: between the options and the dash there
 * may be any number of further fields, also none.
 */
export function parseMountInfo(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after] = line.split(" - ", 2);
    const [, , device, root, path, options] = before.split(" ");
    const [type, source] = after?.split(" ") ?? [];
    if (device === undefined || root === undefined || path === undefined || options === undefined || type === undefined) return [];
    return [{ device, root: unescaped(root), path: unescaped(path), options: options.split(","), type, source: unescaped(source ?? "") }];
  });
}

/** The kernel writes spaces, tabs, newlines and backslashes as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
