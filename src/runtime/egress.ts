/** How requests leave the machine, by its environment: which proxy they pass, and whose certificates are trusted. */
import { proxyFor } from "./proxy.ts";
import { machineRoots } from "./trust.ts";
import type { World } from "./world.ts";

export interface Egress {
  /** Undefined to go straight. */
  proxyFor(url: URL): URL | undefined;
  /** Certificates to trust where a connection names none of its own, in PEM; undefined for the runtime's. Read once. */
  roots(): Promise<string | undefined>;
}

/** Requests leave as those of a Go program would. Certificates are read when the first secure connection needs them. */
export function egressOf(world: World, readRoots: (world: World) => Promise<string | undefined> = machineRoots): Egress {
  let roots: Promise<string | undefined> | undefined;
  return {
    proxyFor: (url) => proxyFor(url, world.environment),
    roots() {
      // A failure is not kept: the file it came from may be put right.
      roots ??= readRoots(world).catch((error: unknown) => {
        roots = undefined;
        throw error;
      });
      return roots;
    },
  };
}
