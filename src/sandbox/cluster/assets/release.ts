/** Official release files, where the network allows. Fails within seconds where it does not. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { EnvHttpProxyAgent, request } from "undici";
import type { World } from "../../../runtime/world.ts";
import type { Platform, Program } from "./programs.ts";
import { sayProgress } from "./progress.ts";

interface Release {
  readonly url: string;
  /** A text that holds the file's checksum: alone, or in a line that ends in the file's name. */
  readonly checksums: string;
  readonly algorithm: "sha256" | "sha512";
  /** Path of the program within the archive; undefined when the file is the program. */
  readonly member?: string;
}

/** Downloads the program's release to `target`, its checksum verified. */
export async function downloadRelease(
  program: Program,
  platform: Platform,
  target: string,
  { world, say }: { readonly world: World; readonly say: (line: string) => void },
): Promise<void> {
  const release = releaseOf(program, platform);
  if (!release) throw new Error(`${program.name} is not released for ${platform.os}/${platform.arch}`);
  await fetchRelease(release, target, world, say);
}

/** Where the projects publish. kube-apiserver is published for Linux only. */
function releaseOf({ name, version }: Program, { os, arch }: Platform): Release | undefined {
  if (os !== "linux") return undefined;
  if (name === "kube-apiserver") {
    const url = `https://dl.k8s.io/release/v${version}/bin/${os}/${arch}/kube-apiserver`;
    return { url, checksums: `${url}.sha512`, algorithm: "sha512" };
  }
  const folder = `https://github.com/etcd-io/etcd/releases/download/v${version}`;
  const stem = `etcd-v${version}-${os}-${arch}`;
  return { url: `${folder}/${stem}.tar.gz`, checksums: `${folder}/SHA256SUMS`, algorithm: "sha256", member: `${stem}/etcd` };
}

/** The part that knows no project: fetch, verify, unpack, move into place in one step. */
export async function fetchRelease(release: Release, target: string, world: World, say: (line: string) => void): Promise<void> {
  // A proxy named in the environment is used. No byte for 20 s ends a download that has died.
  const agent = new EnvHttpProxyAgent({ connectTimeout: 3_000, headersTimeout: 10_000, bodyTimeout: 20_000 });
  const folder = await mkdtemp(`${target}.download-`);
  try {
    const wanted = checksumIn((await get(release.checksums, agent)).toString("utf8"), release);
    const file = join(folder, "file");
    await download(release, file, wanted, agent, world, say);
    if (release.member) await promisify(execFile)("tar", ["-xzf", file, "-C", folder, release.member]);
    const program = release.member ? join(folder, release.member) : file;
    await chmod(program, 0o755);
    await rename(program, target);
  } finally {
    await agent.destroy();
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(
  release: Release,
  file: string,
  wanted: string,
  agent: EnvHttpProxyAgent,
  world: World,
  say: (line: string) => void,
): Promise<void> {
  const hash = createHash(release.algorithm);
  let received = 0;
  const stop = sayProgress(world, say, (time) => `downloading ${release.url}: ${Math.round(received / 1e6)} MB (${time})`);
  try {
    const measure = new Transform({
      transform(chunk: Buffer, _, done) {
        received += chunk.length;
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await pipeline(await open(release.url, agent), measure, createWriteStream(file));
  } finally {
    stop();
  }
  const actual = hash.digest("hex");
  if (actual !== wanted) throw new Error(`${release.url}: its ${release.algorithm} is ${actual}, published is ${wanted}; not used`);
}

async function get(url: string, agent: EnvHttpProxyAgent): Promise<Buffer> {
  return Buffer.concat(await (await open(url, agent)).toArray());
}

async function open(url: string, agent: EnvHttpProxyAgent): Promise<Readable> {
  for (let location = url, hop = 0; hop < 5; hop++) {
    const answer = await request(location, { dispatcher: agent }).catch((cause: Error) => {
      throw new Error(`${url}: ${cause.message}`, { cause });
    });
    if (answer.statusCode === 200) return answer.body;
    await answer.body.dump();
    const next = answer.headers.location;
    if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof next !== "string")
      throw new Error(`${url}: HTTP ${answer.statusCode}`);
    location = new URL(next, location).href;
  }
  throw new Error(`${url}: redirected too often`);
}

function checksumIn(text: string, release: Release): string {
  const name = release.url.slice(release.url.lastIndexOf("/") + 1);
  const lines = text.trim().split("\n");
  const line = lines.length === 1 ? lines[0] : lines.find((each) => each.trim().endsWith(name));
  const checksum = line?.trim().split(/\s+/)[0];
  if (!checksum || !/^[0-9a-f]{64,128}$/.test(checksum)) throw new Error(`${release.checksums}: holds no checksum for ${name}`);
  return checksum;
}
