/**
 * Where a real cluster's programs come from: what is at hand (KUBEBUILDER_ASSETS, PATH, our cache), else an official
 * release, else a build with Go. The last two end in the cache, so they happen once a machine.
 */
import { readdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { World } from "../../../runtime/world.ts";
import { atHand } from "./at-hand.ts";
import { buildWithGo } from "./build.ts";
import { withLock } from "./lock.ts";
import { etcd, kubeApiserver, type Platform, type Program, thisPlatform } from "./programs.ts";
import { downloadRelease } from "./release.ts";

/** Paths of the two programs. */
export interface Assets {
  readonly etcd: string;
  readonly kubeApiserver: string;
}

export interface AssetOptions {
  readonly world: World;
  /** Told what is going on while the slow preparation lasts. */
  readonly say: (line: string) => void;
  /** How a missing program is made, in this order; given by tests. */
  readonly makers?: readonly Maker[];
}

/** A way to make a program that is not at hand. */
export interface Maker {
  readonly name: string;
  /** Leaves the program at `target`, or rejects with what went wrong. */
  make(program: Program, platform: Platform, target: string, options: Pick<AssetOptions, "world" | "say">): Promise<void>;
}

/** No place has the program and none of the ways to make it worked. */
export class AssetsUnavailable extends Error {
  override readonly name = "AssetsUnavailable";
  constructor(program: Program, tried: readonly string[]) {
    super(
      [
        `cannot prepare ${program.name} ${program.version} for the Kubernetes API of tests and sandbox. Tried:`,
        ...tried.map((line) => `  - ${line}`),
        `Install Go 1.26 or newer (https://go.dev/dl) so that it can be built, or set KUBEBUILDER_ASSETS to a folder that holds`,
        `etcd (${etcd.minimum} or newer) and kube-apiserver (${kubeApiserver.minimum} or newer).`,
      ].join("\n"),
    );
  }
}

/** Finds both programs, or makes them. */
export async function obtainAssets(options: AssetOptions): Promise<Assets> {
  return { etcd: await obtain(etcd, options), kubeApiserver: await obtain(kubeApiserver, options) };
}

/** Both programs where they are already; undefined when one of them would have to be obtained. Changes nothing. */
export async function assetsAtHand(world: World): Promise<Assets | undefined> {
  const found = await Promise.all([etcd, kubeApiserver].map((program) => atHand(program, cachedPath(program, world), world)));
  const [etcdPath, apiserverPath] = found.map(({ path }) => path);
  return etcdPath && apiserverPath ? { etcd: etcdPath, kubeApiserver: apiserverPath } : undefined;
}

/** `$FAIRLEAD_CACHE`, else `$XDG_CACHE_HOME/fairlead`, else `~/.cache/fairlead`. */
export function cacheFolder(environment: World["environment"]): string {
  if (environment.FAIRLEAD_CACHE) return environment.FAIRLEAD_CACHE;
  return join(environment.XDG_CACHE_HOME || join(environment.HOME || homedir(), ".cache"), "fairlead");
}

const usualMakers: readonly Maker[] = [
  { name: "release archive", make: downloadRelease },
  { name: "build with Go", make: buildWithGo },
];

async function obtain(program: Program, options: AssetOptions): Promise<string> {
  const { world, say, makers = usualMakers } = options;
  const platform = thisPlatform();
  const cached = cachedPath(program, world);
  const found = await atHand(program, cached, world);
  for (const note of found.refused) say(note);
  if (found.path) return found.path;

  return withLock(`${cached}.lock`, { world, say, what: `${program.name} ${program.version}` }, async () => {
    // Whoever held the lock before us may have made it meanwhile.
    const meanwhile = await atHand(program, cached, world);
    if (meanwhile.path) return meanwhile.path;
    await removeLeftovers(cached);
    const tried = [...meanwhile.tried];
    for (const maker of makers) {
      try {
        await maker.make(program, platform, cached, options);
        return cached;
      } catch (error) {
        tried.push(`${maker.name}: ${error instanceof Error ? error.message : error}`);
      }
    }
    throw new AssetsUnavailable(program, tried);
  });
}

function cachedPath(program: Program, world: World): string {
  const { os, arch } = thisPlatform();
  return join(cacheFolder(world.environment), `${program.name}-${program.version}-${os}-${arch}`);
}

/** What a maker that was killed half-way left beside the place. Only for who holds the lock. */
async function removeLeftovers(cached: string): Promise<void> {
  const names = await readdir(dirname(cached));
  const leftovers = names.filter((name) => /\.(build|download)-\w+$/.test(name) && name.startsWith(`${basename(cached)}.`));
  await Promise.all(leftovers.map((name) => rm(join(dirname(cached), name), { recursive: true, force: true })));
}
