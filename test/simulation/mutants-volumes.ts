/** Known faults of the driver of volumes. */
import type { Mutant } from "./mutants.ts";

export const volumeMutants: readonly Mutant[] = [
  {
    name: "volume-tokens-differ",
    world: "volumes",
    file: "src/volumes/client-tokens.ts",
    changes: [["count === 1 ? name :", "count === 1 ? name + this.#clock.monotonic() :"]],
    killedBy: "a name has one volume at a time",
  },
  {
    name: "attachment-is-believed",
    world: "volumes",
    file: "src/volumes/controller/attachment-wait.ts",
    changes: [['return own.state === "attached" && isRight ? true : undefined;', "return own.device === undefined || isRight || true;"]],
    killedBy: "what is said to be attached is",
  },
  {
    name: "detachment-is-believed",
    world: "volumes",
    file: "src/volumes/controller/attachment-wait.ts",
    changes: [
      [
        "if (own === undefined) return clock.monotonic() - askedAt >= lagMs ? true : undefined;",
        "if (own === undefined || askedAt >= 0) return true;",
      ],
    ],
    killedBy: "what is said to be detached is",
  },
  {
    name: "unseen-volume-counts-as-deleted",
    world: "volumes",
    file: "src/volumes/controller/delete-volume.ts",
    changes: [
      ["if (context.made.has(id)) return context.made.detail(id);", ""],
      [
        "    await sleep(context.host.world.clock, lagMs, rpc.signal);\n    found = await context.cloud.volumes.lookup(id, ask(rpc));\n",
        "",
      ],
    ],
    killedBy: "no volume without an owner remains",
  },
  {
    name: "snapshot-is-asked-for-twice",
    world: "volumes",
    file: "src/volumes/controller/create-snapshot.ts",
    changes: [["if (certainInMs <= 0) return undefined;", "if (certainInMs <= Number.POSITIVE_INFINITY) return undefined;"]],
    killedBy: "no snapshot without an owner remains",
  },
  {
    name: "snapshot-is-refused-for-good",
    world: "volumes",
    file: "src/volumes/controller/create-snapshot.ts",
    changes: [["if (!isAwsError(error) || error.mayHaveHappened) {", "if (!isAwsError(error)) {"]],
    killedBy: "no snapshot without an owner remains",
  },
];
