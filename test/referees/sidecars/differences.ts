/** Where the built-in roles differ from the sidecars, and why. */
import assert from "node:assert/strict";
import type { Acts } from "./script.ts";

interface Difference {
  /** From the act down to the value. */
  readonly path: readonly string[];
  readonly theirs: unknown;
  readonly ours: unknown;
  readonly why: string;
}

const absentClass =
  "the API describes the target as the class that is being reconciled; csi-resizer 1.14 leaves it empty while it is pending";
const noAttacher = "csi-attacher, which puts it there, cannot be built here";
const attachFinalizer = "external-attacher/ebs-csi-aws-com";
const provisionerFinalizers = ["external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection"];

const differences: readonly Difference[] = [
  ...["refused", "recovered", "restored"].map((act) => ({
    path: [act, "claims", "raw", "status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
    theirs: undefined,
    ours: "absent",
    why: absentClass,
  })),
  ...["grown", "refused", "recovered", "restored"].map((act) => ({
    path: [act, "volumes", "pvc-data", "finalizers"],
    theirs: provisionerFinalizers,
    ours: [attachFinalizer, ...provisionerFinalizers],
    why: noAttacher,
  })),
];

/** Events that are not compared, and why. */
const otherEvents: readonly (readonly [about: RegExp, why: string])[] = [
  [/^Lease /, "the sidecars elect no leader here"],
  [/^Service kubernetes /, "the API server repairs its own Service's address when it looks before its caches are filled"],
  [
    /^PersistentVolumeClaim data Warning VolumeResizeFailed$/,
    "csi-resizer's two controllers sometimes write to the claim at the same time",
  ],
];

/** Without those that are not compared. */
export function comparedEvents(events: readonly string[]): readonly string[] {
  return events.filter((event) => !otherEvents.some(([about]) => about.test(event)));
}

/** Both without what differs, after a check that it does and that it is as listed. */
export function alike(theirs: Acts, ours: Acts): readonly [Acts, Acts] {
  const copies = [structuredClone(theirs), structuredClone(ours)] as const;
  for (const { path, why, ...expected } of differences) {
    const found = { theirs: take(copies[0], path), ours: take(copies[1], path) };
    assert.deepEqual(found, expected, `${path.join(" ")}: ${why}`);
  }
  return copies;
}

/** Takes a value out of an object, and returns it. */
function take(from: object, path: readonly string[]): unknown {
  const last = path.at(-1)!;
  const holder = path
    .slice(0, -1)
    .reduce<Record<string, unknown> | undefined>(
      (at, key) => at?.[key] as Record<string, unknown> | undefined,
      from as Record<string, unknown>,
    );
  const value = holder?.[last];
  if (holder !== undefined) delete holder[last];
  return value;
}
