import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { realWorld, type World } from "../../../runtime/world.ts";
import { AssetsUnavailable, cacheFolder, type Maker, obtainAssets } from "./assets.ts";

test("what KUBEBUILDER_ASSETS holds is used before PATH and before the cache", async (t) => {
  const machine = await newMachine(t);
  await machine.program("given", "etcd", "etcd Version: 3.6.1");
  await machine.program("given", "kube-apiserver", "Kubernetes v1.35.0");
  await machine.program("path", "etcd", "etcd Version: 3.7.0");
  const assets = await obtainAssets({
    world: machine.world({ KUBEBUILDER_ASSETS: machine.folder("given") }),
    say: machine.say,
    makers: [],
  });
  assert.deepEqual(assets, { etcd: machine.folder("given/etcd"), kubeApiserver: machine.folder("given/kube-apiserver") });
  assert.deepEqual(machine.said, []);
});

test("an etcd too old for streaming lists is passed over with a note, and the next place is tried", async (t) => {
  const machine = await newMachine(t);
  await machine.program("given", "etcd", "etcd Version: 3.4.30");
  await machine.program("path", "etcd", "etcd Version: 3.5.13");
  await machine.program("path", "kube-apiserver", "Kubernetes v1.36.3");
  const assets = await obtainAssets({
    world: machine.world({ KUBEBUILDER_ASSETS: machine.folder("given") }),
    say: machine.say,
    makers: [],
  });
  assert.equal(assets.etcd, machine.folder("path/etcd"));
  assert.deepEqual(machine.said, [
    `KUBEBUILDER_ASSETS: ${machine.folder("given/etcd")} is 3.4.30, older than 3.5.13, which streaming lists need; passed over`,
  ]);
});

test("with no Go and no network one message says what was tried, what went wrong and what to do", async (t) => {
  const machine = await newMachine(t);
  await machine.program("path", "etcd", "etcd Version: 3.4.30");
  const noNetwork: Maker = {
    name: "release archive",
    make: async () => {
      throw new Error("https://example.org/etcd: getaddrinfo ENOTFOUND example.org");
    },
  };
  const { buildWithGo } = await import("./build.ts");
  const makers = [noNetwork, { name: "build with Go", make: buildWithGo }];
  await assert.rejects(obtainAssets({ world: machine.world(), say: machine.say, makers }), (error: unknown) => {
    assert.ok(error instanceof AssetsUnavailable);
    assert.match(error.message, /^cannot prepare etcd 3\.7\.3 .* Tried:\n/);
    assert.match(error.message, /- KUBEBUILDER_ASSETS: not set\n/);
    assert.match(error.message, /- PATH: .*etcd is 3\.4\.30, older than 3\.5\.13/);
    assert.match(error.message, /- cache: .* is not there\n/);
    assert.match(error.message, /- release archive: .*ENOTFOUND/);
    assert.match(error.message, /- build with Go: the go command is not on PATH\n/);
    assert.match(error.message, /Install Go 1\.26 or newer .* or set KUBEBUILDER_ASSETS/);
    return true;
  });
  assert.deepEqual(await readdir(machine.folder("cache")), [], "neither a lock nor half a build is left behind");
});

test("a Go that is too old is reported in its own words", async (t) => {
  const machine = await newMachine(t);
  const complaint = "go: go.mod requires go >= 1.26.0 (running go 1.21.0; GOTOOLCHAIN=local)";
  await machine.script("path", "go", `echo '${complaint}' >&2; exit 1`);
  const { buildWithGo } = await import("./build.ts");
  const makers = [{ name: "build with Go", make: buildWithGo }];
  await assert.rejects(obtainAssets({ world: machine.world(), say: machine.say, makers }), (error: Error) =>
    error.message.includes(`build with Go: go mod ended with status 1: ${complaint}`),
  );
});

test("two processes that need the same program make it once: the second waits and says so", async (t) => {
  const machine = await newMachine(t);
  const gate = Promise.withResolvers<void>();
  let made = 0;
  const slow: Maker = {
    name: "slow",
    async make(_program, _platform, target) {
      made++;
      await gate.promise;
      await writeFile(target, "", { mode: 0o755 });
    },
  };
  const said: string[] = [];
  const first = obtainAssets({ world: machine.world(), say: machine.say, makers: [slow] });
  while (made === 0) await turn();
  const second = obtainAssets({
    world: machine.world(),
    makers: [slow],
    say: (line) => {
      said.push(line);
      gate.resolve();
    },
  });
  assert.deepEqual(await second, await first);
  assert.equal(made, 2, "etcd once, kube-apiserver once");
  assert.match(said[0]!, /another process is preparing etcd 3\.7\.3; waiting for it \(0s so far\)/);
});

test("the lock of a process that died is taken over, and what it left half-made is removed", async (t) => {
  const machine = await newMachine(t);
  let lock = "";
  const maker: Maker = {
    name: "quick",
    async make(_program, _platform, target) {
      lock = `${target}.lock`;
      assert.ok(existsSync(lock));
      await writeFile(target, "", { mode: 0o755 });
    },
  };
  const options = { world: machine.world(), say: machine.say, makers: [maker] };
  const assets = await obtainAssets(options);
  await rm(assets.kubeApiserver);
  await writeFile(lock, "");
  await mkdir(`${assets.kubeApiserver}.build-aBc123`);
  // The dead one's last heartbeat lies an hour back by our clock.
  const world = { ...options.world, clock: { ...options.world.clock, now: () => options.world.clock.now() + 3_600_000 } };
  assert.deepEqual(await obtainAssets({ ...options, world }), assets);
  assert.equal((await readdir(machine.folder("cache"))).length, 2);
});

test("the cache is FAIRLEAD_CACHE, else below XDG_CACHE_HOME, else below the home folder", () => {
  assert.equal(cacheFolder({ FAIRLEAD_CACHE: "/c", XDG_CACHE_HOME: "/x", HOME: "/h" }), "/c");
  assert.equal(cacheFolder({ XDG_CACHE_HOME: "/x", HOME: "/h" }), "/x/fairlead");
  assert.equal(cacheFolder({ HOME: "/h" }), "/h/.cache/fairlead");
});

/** A machine with nothing on it but what the test puts there. */
async function newMachine(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "fairlead-assets-"));
  t.after(() => rm(root, { recursive: true }));
  const said: string[] = [];
  const folder = (path: string) => join(root, path);
  await mkdir(folder("path"));
  const script = async (place: string, name: string, body: string) => {
    await mkdir(folder(place), { recursive: true });
    await writeFile(folder(`${place}/${name}`), `#!/bin/sh\n${body}\n`);
    await chmod(folder(`${place}/${name}`), 0o755);
  };
  return {
    said,
    say: (line: string) => void said.push(line),
    folder,
    script,
    program: (place: string, name: string, version: string) => script(place, name, `echo '${version}'`),
    world: (environment: Record<string, string> = {}): World => ({
      ...realWorld(),
      environment: { PATH: [folder("path"), folder("empty")].join(delimiter), FAIRLEAD_CACHE: folder("cache"), ...environment },
    }),
  };
}
