/** Archives with the same bytes for the same files: sorted, of nobody, at one time. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export interface ArchivedFile {
  /** With "/" between its parts, at most 255 characters. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable?: boolean;
}

const block = 512;

/** A tar archive (POSIX ustar) of files. `epoch`, in seconds, is what every file is dated. */
export function tar(files: readonly ArchivedFile[], epoch: number): Buffer {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const members = sorted.flatMap((file) => [header(file, epoch), file.content, Buffer.alloc(padding(file.content.length))]);
  return Buffer.concat([...members, Buffer.alloc(2 * block)]);
}

/** The same, compressed. The bytes also depend on the version of zlib in Node. */
export function tarball(files: readonly ArchivedFile[], epoch: number): Buffer {
  return gzipSync(tar(files, epoch), { level: 9 });
}

/** Every file below a folder, its path below `prefix`. */
export async function filesBelow(folder: string, prefix = ""): Promise<ArchivedFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(
    paths.map(async (path) => ({
      path: `${prefix}${path.slice(folder.length).replace(/^\/*/, prefix === "" || prefix.endsWith("/") ? "" : "/")}`,
      content: await readFile(path),
      executable: ((await stat(path)).mode & 0o100) !== 0,
    })),
  );
}

function header({ path, content, executable = false }: ArchivedFile, epoch: number): Buffer {
  const bytes = Buffer.alloc(block);
  const [prefix, name] = split(path);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  const fields: readonly (readonly [number, string])[] = [
    [0, name],
    [100, octal(executable ? 0o755 : 0o644, 7)],
    [108, octal(0, 7)],
    [116, octal(0, 7)],
    [124, octal(content.length, 11)],
    [136, octal(epoch, 11)],
    // The checksum is taken with blanks in its own place.
    [148, " ".repeat(8)],
    [156, "0"],
    [257, "ustar\0" + "00"],
    [345, prefix],
  ];
  for (const [offset, text] of fields) bytes.write(text, offset, "utf8");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "utf8");
  return bytes;
}

/** ustar keeps a long path in two parts, cut at a "/". */
function split(path: string): readonly [string, string] {
  if (Buffer.byteLength(path) <= 100) return ["", path];
  const at = path.lastIndexOf("/", 155);
  if (at < 0 || Buffer.byteLength(path.slice(at + 1)) > 100) throw new Error(`${path}: too long for a tar archive`);
  return [path.slice(0, at), path.slice(at + 1)];
}

function padding(length: number): number {
  return (block - (length % block)) % block;
}
