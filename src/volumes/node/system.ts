/** What the node service needs of the machine: its tools, its files, its mounts. The only file of it that touches them. */
import { spawn } from "node:child_process";
import { mkdir, open, readdir, readFile, realpath, rm, rmdir, stat, statfs } from "node:fs/promises";

/** How a tool ended. One that cannot be started has no status. */
export interface Finished {
  readonly status: number | undefined;
  readonly out: string;
  readonly err: string;
}

export interface FileFacts {
  readonly kind: "block" | "directory" | "other";
  /** `major:minor` of the device that a block device file stands for. */
  readonly device: string;
}

/** Sizes and counts of a file system. */
export interface FilesystemFacts {
  readonly blockSize: bigint;
  readonly blocks: bigint;
  readonly freeBlocks: bigint;
  readonly availableBlocks: bigint;
  readonly inodes: bigint;
  readonly freeInodes: bigint;
}

export interface System {
  /** Runs a tool to its end. It is not cut when the caller gives up: half a file system is worse than a late one. */
  run(tool: string, args: readonly string[]): Promise<Finished>;
  /** The same for a tool whose output is not text. */
  runForBytes(tool: string, args: readonly string[]): Promise<Omit<Finished, "out"> & { readonly bytes: Uint8Array }>;
  /** Undefined when there is nothing; rejects when it cannot be told. */
  stat(path: string): Promise<FileFacts | undefined>;
  realPath(path: string): Promise<string>;
  list(path: string): Promise<readonly string[]>;
  read(path: string): Promise<string>;
  /** Rejects when the first part of a device cannot be read. */
  readable(device: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
  /** An empty file, unless there is one. */
  makeFile(path: string): Promise<void>;
  /** Removes a file or an empty directory, if it is there. */
  remove(path: string): Promise<void>;
  filesystem(path: string): Promise<FilesystemFacts>;
}

/** Every file system has something in this much of its start. */
const probeBytes = 64 * 1024;

/** The machine as it is. */
export function linuxSystem(): System {
  return {
    run: async (tool, args) => {
      const { bytes, ...end } = await finished(tool, args);
      return { ...end, out: bytes.toString("utf8") };
    },
    runForBytes: finished,
    async stat(path) {
      try {
        const facts = await stat(path);
        const kind = facts.isBlockDevice() ? "block" : facts.isDirectory() ? "directory" : "other";
        return { kind, device: deviceNumber(facts.rdev) };
      } catch (error) {
        if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
        throw error;
      }
    },
    realPath: (path) => realpath(path),
    list: (path) => readdir(path),
    read: (path) => readFile(path, "utf8"),
    async readable(device) {
      const file = await open(device, "r");
      try {
        const { bytesRead } = await file.read(Buffer.alloc(probeBytes), 0, probeBytes, 0);
        if (bytesRead < probeBytes) throw new Error(`only ${bytesRead} bytes of ${device} can be read`);
      } finally {
        await file.close();
      }
    },
    makeDirectory: async (path) => void (await mkdir(path, { recursive: true, mode: 0o755 })),
    makeFile: async (path) => (await open(path, "a", 0o644)).close(),
    async remove(path) {
      try {
        if ((await stat(path)).isDirectory()) await rmdir(path);
        else await rm(path);
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
      }
    },
    async filesystem(path) {
      const facts = await statfs(path, { bigint: true });
      return {
        blockSize: facts.bsize,
        blocks: facts.blocks,
        freeBlocks: facts.bfree,
        availableBlocks: facts.bavail,
        inodes: facts.files,
        freeInodes: facts.ffree,
      };
    },
  };
}

function finished(tool: string, args: readonly string[]): Promise<Omit<Finished, "out"> & { readonly bytes: Buffer }> {
  return new Promise((resolve) => {
    const child = spawn(tool, args, { stdio: ["ignore", "pipe", "pipe"] });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    const end = (status: number | undefined, said: string) => resolve({ status, bytes: Buffer.concat(out), err: said });
    child.on("error", (error) => end(undefined, error.message));
    child.on("close", (code, signal) => {
      const said = Buffer.concat(err).toString("utf8");
      end(code ?? undefined, signal === null ? said : `${said} (${signal})`);
    });
  });
}

/** The code of a system call's error, as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return (error as { readonly code?: string }).code;
}

/** As glibc takes a device number apart: 12 bits of major number and 20 of minor, each in two pieces. */
function deviceNumber(rdev: number): string {
  const number = BigInt(rdev);
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & ~0xfffn);
  const minor = (number & 0xffn) | ((number >> 12n) & ~0xffn & 0xffffffffn);
  return `${major}:${minor}`;
}
