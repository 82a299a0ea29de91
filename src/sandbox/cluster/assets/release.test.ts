import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { realWorld } from "../../../runtime/world.ts";
import { fetchRelease } from "./release.ts";

const quiet = () => {};

test("a release whose checksum is right is unpacked and made executable; redirects are followed", async (t) => {
  const { base, folder, serve } = await publisher(t);
  await mkdir(join(folder, "src/etcd-v1"), { recursive: true });
  await writeFile(join(folder, "src/etcd-v1/etcd"), "the program");
  await promisify(execFile)("tar", ["-czf", join(folder, "etcd-v1.tar.gz"), "-C", join(folder, "src"), "etcd-v1"]);
  const archive = await readFile(join(folder, "etcd-v1.tar.gz"));
  serve("/moved/etcd-v1.tar.gz", archive);
  serve("/etcd-v1.tar.gz", "", "/moved/etcd-v1.tar.gz");
  serve("/SHA256SUMS", `${"0".repeat(64)}  other.tar.gz\n${createHash("sha256").update(archive).digest("hex")}  etcd-v1.tar.gz\n`);

  const target = join(folder, "cache-etcd");
  const release = { url: `${base}/etcd-v1.tar.gz`, checksums: `${base}/SHA256SUMS`, algorithm: "sha256", member: "etcd-v1/etcd" } as const;
  await fetchRelease(release, target, realWorld(), quiet);
  assert.equal(await readFile(target, "utf8"), "the program");
  assert.equal((await stat(target)).mode & 0o777, 0o755);
});

test("a file that is not what was published is not used, and nothing of it stays", async (t) => {
  const { base, folder, serve } = await publisher(t);
  serve("/kube-apiserver", "something else");
  serve("/kube-apiserver.sha512", createHash("sha512").update("the program").digest("hex"));
  const release = { url: `${base}/kube-apiserver`, checksums: `${base}/kube-apiserver.sha512`, algorithm: "sha512" } as const;
  await assert.rejects(fetchRelease(release, join(folder, "cached"), realWorld(), quiet), /its sha512 is .*, published is .*; not used/);
  assert.deepEqual(await readdir(folder), []);
});

test("a publisher that does not have it is named with its status", async (t) => {
  const { base, folder } = await publisher(t);
  const release = { url: `${base}/x`, checksums: `${base}/x.sha512`, algorithm: "sha512" } as const;
  await assert.rejects(fetchRelease(release, join(folder, "cached"), realWorld(), quiet), { message: `${base}/x.sha512: HTTP 404` });
});

async function publisher(t: TestContext) {
  const files = new Map<string, { body: string | Buffer; location?: string }>();
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? "");
    if (!file) response.writeHead(404).end();
    else if (file.location) response.writeHead(302, { location: file.location }).end();
    else response.end(file.body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-release-"));
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    folder,
    serve: (path: string, body: string | Buffer, location?: string) => void files.set(path, { body, ...(location && { location }) }),
  };
}
