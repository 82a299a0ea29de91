/** The programs that are compared, as they are shipped, and how they are told to run. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../../deploy/build/bundle.ts";
import { referenceControllerManager } from "../../test/referees/reference.ts";

export type EntrantName = "fairlead" | "reference" | "reference-defaults";

/** A controller manager ready to be started. */
export interface Entrant {
  readonly name: EntrantName;
  readonly command: string;
  /** Before the flags that say where it is. */
  readonly args: readonly string[];
}

/** How people call them. */
export const entrantTitles: Readonly<Record<EntrantName, string>> = {
  fairlead: "Fairlead",
  reference: "Reference, tuned",
  "reference-defaults": "Reference, defaults",
};

/** What "tuned" means: as many workers and requests as people give it who run large clusters. */
export const tuning = [
  "--concurrent-node-syncs=20",
  "--concurrent-node-status-updates=20",
  "--concurrent-node-lifecycle-syncs=20",
  "--concurrent-service-syncs=20",
  "--kube-api-qps=200",
  "--kube-api-burst=400",
];

/** Builds what has to be built; the result gives each entrant, and is to be disposed of. */
export async function buildEntrants(say: (line: string) => void): Promise<Entrants> {
  const reference = await referenceControllerManager(say);
  const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
  await bundle(folder);
  const program = join(folder, "fairlead.js");
  const fairlead = [...(await nodeFlags(program)), program, "controller-manager"];
  return {
    byName: {
      fairlead: { name: "fairlead", command: process.execPath, args: fairlead },
      reference: { name: "reference", command: reference, args: tuning },
      "reference-defaults": { name: "reference-defaults", command: reference, args: [] },
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What the first line of the shipped program says to Node. */
export async function nodeFlags(program: string): Promise<readonly string[]> {
  const [first = ""] = (await readFile(program, "utf8")).split("\n", 1);
  return first.split(" ").filter((word) => word.startsWith("--"));
}

export interface Entrants extends AsyncDisposable {
  readonly byName: Readonly<Record<EntrantName, Entrant>>;
}
