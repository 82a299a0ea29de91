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
  {
    name: "claim-is-not-held",
    world: "volumes",
    file: "src/volumes/roles/provisioner.ts",
    changes: [["await addFinalizer(kube, claims,", "if (Number.isNaN(callMs)) await addFinalizer(kube, claims,"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "retained-volume-is-deleted",
    world: "volumes",
    file: "src/volumes/roles/provision-plan.ts",
    changes: [
      [
        'status?.phase === "Released" && spec?.persistentVolumeReclaimPolicy === "Delete"',
        'status?.phase === "Released" && spec !== undefined',
      ],
    ],
    killedBy: "what is retained is never deleted",
  },
  {
    name: "volume-in-use-is-reclaimed",
    world: "volumes",
    file: "src/volumes/roles/provision-plan.ts",
    changes: [['status?.phase === "Released" && spec?.', "status !== undefined && spec?."]],
    killedBy: "the disk of a claim is never deleted",
  },
  {
    name: "unmarked-volume-is-deleted",
    world: "volumes",
    file: "src/volumes/controller/delete-volume.ts",
    changes: [
      ["if (isMarked(tags, context.settings.tags.clusterId)) return", "if (isMarked(tags, undefined) || tags !== undefined) return"],
    ],
    killedBy: "nothing foreign is touched",
  },
  {
    name: "all-finalizers-are-removed",
    world: "volumes",
    file: "src/volumes/roles/finalizers.ts",
    changes: [
      ["present.filter((each) => each !== finalizer)", 'present.filter((each) => each === "none")'],
      ["return [...present, finalizer];", "return [finalizer];"],
    ],
    killedBy: "a finalizer of somebody else stays",
  },
  {
    name: "volume-is-named-after-its-claim",
    world: "volumes",
    file: "src/volumes/roles/provision-plan.ts",
    changes: [["{metadata.uid}`;", '{[metadata.namespace, metadata.name].join("-")}`;']],
    killedBy: "a claim's data is never another's",
  },
  {
    name: "attachment-is-told-whatever-comes",
    world: "volumes",
    file: "src/volumes/roles/attacher.ts",
    changes: [
      [
        '"ControllerPublishVolume", request, callMs, signal);',
        '"ControllerPublishVolume", request, callMs, signal).catch(() => ({ publishContext: {} }));',
      ],
    ],
    killedBy: "what is said to be attached is",
  },
  {
    name: "detachment-is-told-whatever-comes",
    world: "volumes",
    file: "src/volumes/roles/attacher.ts",
    changes: [
      ['await callDriver(parts, "ControllerUnpublishVolume", { volumeId, nodeId }, callMs, signal);', "host.log.v(9)?.info(nodeId);"],
    ],
    killedBy: "what is said to be detached is",
  },
  {
    name: "next-node-does-not-wait",
    world: "volumes",
    file: "src/volumes/roles/attacher.ts",
    changes: [
      ['await callDriver(parts, "ControllerUnpublishVolume", { volumeId, nodeId }, callMs, signal);', "host.log.v(9)?.info(nodeId);"],
      [
        '"ControllerPublishVolume", request, callMs, signal);',
        '"ControllerPublishVolume", request, callMs, signal).catch(() => ({ publishContext: {} }));',
      ],
    ],
    killedBy: "a volume is at one instance at a time",
  },
  {
    name: "snapshot-is-not-waited-for",
    world: "volumes",
    file: "src/volumes/roles/snapshotter.ts",
    changes: [["return snapshot.readyToUse ? done : again(", "return snapshot.readyToUse || snapshot.snapshotId ? done : again("]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "snapshot-is-asked-about-for-ever",
    world: "volumes",
    file: "src/volumes/roles/snapshotter.ts",
    changes: [
      ["return content.status?.readyToUse && !isBeingCreated ? done :", "return content.status === null ? done :"],
      ["return snapshot.readyToUse ? done : again(", "return again("],
    ],
    killedBy: "what is in order is left alone",
  },
];
