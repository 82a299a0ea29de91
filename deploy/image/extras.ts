/** What some images have beside Node and the bundle: a table, so that an image is a row. */
import { chmod, copyFile, glob, mkdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Architecture } from "../build/architecture.ts";
import { credentialProvider } from "../build/credential-provider.ts";
import { mountTools } from "../build/debian.ts";

interface Extra {
  /** What it adds and nothing else. */
  readonly expected: readonly RegExp[];
  add(folder: string, architecture: Architecture): Promise<void>;
}

/** The programs that the node service of the EBS CSI driver runs, and those that they run themselves. */
const tools: Readonly<Record<"usr/sbin" | "usr/bin", readonly string[]>> = {
  "usr/sbin": ["blkid", "blockdev", "e2fsck", "fsck", "fsck.xfs", "mke2fs", "mkfs.xfs", "nvme", "resize2fs", "xfs_growfs"],
  "usr/bin": ["dash", "lsblk", "mount", "umount"],
};
/** One program under several names: it does what it is called. */
const names: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["ext2", "ext3", "ext4"].map((type) => [`mkfs.${type}`, "mke2fs"])),
  ...Object.fromEntries(["ext2", "ext3", "ext4"].map((type) => [`fsck.${type}`, "e2fsck"])),
};
const libraries = [
  [
    "libblkid.so.1",
    "libcap.so.2",
    "libcom_err.so.2",
    "libcrypto.so.3",
    "libdbus-1.so.3",
    "libe2p.so.2",
    "libext2fs.so.2",
    "libgcrypt.so.20",
  ],
  [
    "libgpg-error.so.0",
    "libinih.so.1",
    "libjson-c.so.5",
    "liblz4.so.1",
    "liblzma.so.5",
    "libmount.so.1",
    "libnvme-mi.so.1",
    "libnvme.so.1",
  ],
  [
    "libpcre2-8.so.0",
    "libselinux.so.1",
    "libsmartcols.so.1",
    "libsystemd.so.0",
    "libudev.so.1",
    "liburcu.so.8",
    "libuuid.so.1",
    "libz.so.1",
  ],
  ["libzstd.so.1"],
].flat();

const table = {
  "credential-provider": {
    expected: [/^app\/ecr-credential-provider$/],
    add: async (folder, architecture) => place(await credentialProvider(architecture), join(folder, "app/ecr-credential-provider")),
  },
  "mount-tools": {
    expected: [/^usr\/s?bin\/[\w.]+$/, /^usr\/lib\/lib[\w-]+\.so\.\d+$/, /^etc\/mke2fs\.conf$/, /^var\/lib\/dpkg\/status\.d\/[\w.-]+$/],
    add: addMountTools,
  },
} satisfies Readonly<Record<string, Extra>>;

export type ExtraName = keyof typeof table;

export const extras: Readonly<Record<ExtraName, Extra>> = table;

/**
 * Everything goes below /usr, whether or not the base has /bin and /lib as folders of their own: the loader looks for libraries
 * in /usr/lib on either.
 */
async function addMountTools(folder: string, architecture: Architecture): Promise<void> {
  const from = await mountTools(architecture);
  for (const [into, programs] of Object.entries(tools)) {
    for (const name of programs) await place(await found(from, `{usr/,}{s,}bin/${name}`), join(folder, into, name));
  }
  for (const [name, program] of Object.entries(names)) await symlink(program, join(folder, "usr/sbin", name));
  for (const name of libraries) await place(await found(from, `{usr/,}lib/*-linux-gnu/${name}`), join(folder, "usr/lib", name), 0o644);
  await place(join(from, "etc/mke2fs.conf"), join(folder, "etc/mke2fs.conf"), 0o644);
  for await (const note of glob("var/lib/dpkg/status.d/*", { cwd: from })) await place(join(from, note), join(folder, note), 0o644);
  const script = join(folder, "usr/sbin/fsck.xfs");
  await writeFile(script, (await readFile(script, "utf8")).replace(/^#!\/bin\/sh/, "#!/usr/bin/dash"));
}

async function found(folder: string, pattern: string): Promise<string> {
  for await (const path of glob(pattern, { cwd: folder })) return await realpath(join(folder, path));
  throw new Error(`${basename(pattern)} is in none of the packages: has Debian moved it?`);
}

/** Copies a file with just this mode: nothing is setuid in an image. */
export async function place(from: string, to: string, mode = 0o755): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
  await chmod(to, mode);
}
