/** Cases of volumes: from a claim to a disk in EC2 and back to nothing. */
import type { Volume } from "../aws/volumes.ts";
import { claimedInstance, nodeView } from "../identity/node-view.ts";
import { nodes, pods } from "../kube/builtin.ts";
import type { PersistentVolumeClaim } from "../kube/types.ts";
import type { Case } from "./cases.ts";
import { type Context, eventually, expect, gone, labelsOf, mark, NotHere, nameOf } from "./context.ts";
import { startPod } from "./pods.ts";
import { claims, drivers, listIfServed, persistentVolumes, snapshotClasses, snapshots, storageClasses } from "./resources.ts";

const driver = "ebs.csi.aws.com";
const gib = (count: number) => `${count}Gi`;

async function needDriver({ kube, ask }: Context): Promise<void> {
  const { items } = await kube.list(drivers, { signal: ask.signal });
  if (!items.some(({ metadata }) => metadata.name === driver)) throw new NotHere(`the EBS CSI driver (CSIDriver ${driver})`);
}

/** A class of the suite's own: what is made by it carries the mark. */
async function createClass(context: Context, what: string, volumeBindingMode: "Immediate" | "WaitForFirstConsumer"): Promise<string> {
  const { kube, run, ask } = context;
  const name = nameOf(context, what);
  await kube.create(
    storageClasses,
    {
      metadata: { name, labels: labelsOf(context) },
      provisioner: driver,
      parameters: { type: "gp3", tagSpecification_1: `${mark}=${run}` },
      reclaimPolicy: "Delete",
      allowVolumeExpansion: true,
      volumeBindingMode,
    },
    { signal: ask.signal },
  );
  return name;
}

async function createClaim(context: Context, what: string, storageClassName: string, more: Partial<PersistentVolumeClaim["spec"]> = {}) {
  const { kube, namespace, ask } = context;
  const name = nameOf(context, what);
  await kube.create(
    claims,
    {
      metadata: { name, namespace, labels: labelsOf(context) },
      spec: { storageClassName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: gib(1) } }, ...more },
    },
    { signal: ask.signal },
  );
  return name;
}

interface Bound {
  readonly persistentVolume: string;
  readonly id: string;
}

/** The disk of a claim, when it has one. */
function bound(context: Context, name: string): Promise<Bound> {
  const { kube, namespace, ask } = context;
  return eventually(context, async () => {
    const { spec, status } = await kube.get(claims, { namespace, name }, { signal: ask.signal });
    expect(status?.phase === "Bound" && spec?.volumeName !== undefined, `claim ${name} is ${status?.phase ?? "unknown"}, not Bound`);
    const { spec: volume } = await kube.get(persistentVolumes, { name: spec.volumeName }, { signal: ask.signal });
    expect(volume?.csi?.driver === driver, `claim ${name} has a volume of ${volume?.csi?.driver ?? "another kind"}`);
    return { persistentVolume: spec.volumeName, id: volume.csi.volumeHandle };
  });
}

async function disk({ cloud, ask }: Context, id: string): Promise<Volume> {
  const found = await cloud.volumes.lookup(id, ask);
  expect(found.kind === "found", `EC2 does not know volume ${id}`);
  return found.volume;
}

/** Deletes a claim; its volume and its disk must be gone. */
async function deleteClaim(context: Context, name: string, { persistentVolume, id }: Bound): Promise<void> {
  const { kube, namespace, ask, cloud } = context;
  await gone(kube.delete(claims, { namespace, name }, { signal: ask.signal }));
  await eventually(context, async () => {
    const left = await kube.list(persistentVolumes, { fieldSelector: `metadata.name=${persistentVolume}`, signal: ask.signal });
    expect(left.items.length === 0, `PersistentVolume ${persistentVolume} is still there`);
    const found = await cloud.volumes.lookup(id, ask);
    const isGone = found.kind === "not-found" || (found.kind === "found" && /^delet/.test(found.volume.state));
    expect(isGone, `volume ${id} is still there`);
  });
}

async function deletePod(context: Context, what: string): Promise<void> {
  const { kube, namespace, ask } = context;
  await gone(kube.delete(pods, { namespace, name: nameOf(context, what) }, { signal: ask.signal }));
}

/** A pod with the claim mounted runs on a node, and EC2 has attached the disk there. */
async function attachedTo(context: Context, what: string, id: string): Promise<void> {
  const { kube, namespace, ask } = context;
  const { spec } = await kube.get(pods, { namespace, name: nameOf(context, what) }, { signal: ask.signal });
  const node = nodeView(await kube.get(nodes, { name: spec?.nodeName ?? "" }, { signal: ask.signal }));
  const { attachments } = await disk(context, id);
  const there = attachments.filter(({ state }) => state === "attached").map(({ instanceId }) => instanceId);
  expect(there.join() === claimedInstance(node), `volume ${id} is attached to ${there.join() || "nothing"}, not ${claimedInstance(node)}`);
}

export const volumeCases: readonly Case[] = [
  {
    name: "volume-life",
    checks: "a claim gets a disk with our tag, which is attached to the node of its pod, grown, detached, and deleted with the claim",
    async run(context) {
      await needDriver(context);
      const { kube, namespace, ask, run } = context;
      const storageClass = await createClass(context, "life", context.pods ? "WaitForFirstConsumer" : "Immediate");
      const name = await createClaim(context, "data", storageClass);
      if (context.pods) await startPod(context, "user", { args: ["pause"], claim: name }, "Running");
      else context.leftOut("attachment to the node of a pod, and growth of its file system");
      const made = await bound(context, name);
      const { sizeGiB, type, tags } = await disk(context, made.id);
      expect(sizeGiB === 1 && type === "gp3", `the disk is ${type} of ${sizeGiB} GiB`);
      expect(tags[mark] === run, `the disk lacks the tag ${mark}`);
      if (context.pods) await attachedTo(context, "user", made.id);
      await kube.patch(
        claims,
        { namespace, name },
        { merge: { spec: { resources: { requests: { storage: gib(2) } } } } },
        { signal: ask.signal },
      );
      await eventually(context, async () => {
        expect((await disk(context, made.id)).sizeGiB === 2, "the disk has not grown");
        const { status } = await kube.get(claims, { namespace, name }, { signal: ask.signal });
        // Without a pod the file system grows when one comes.
        const size = status?.capacity?.storage;
        expect(size === gib(2) || !context.pods, `the claim has ${size}, not ${gib(2)}`);
      });
      if (context.pods) {
        await deletePod(context, "user");
        await eventually(context, async () => {
          const { state } = await disk(context, made.id);
          expect(state === "available", `without its pod the disk is ${state}, not available`);
        });
      }
      await deleteClaim(context, name, made);
    },
  },
  {
    name: "volume-data",
    checks: "what one pod wrote on a volume is read by the next",
    async run(context) {
      await needDriver(context);
      if (!context.pods) throw new NotHere("pods that run");
      const claim = await createClaim(context, "kept", await createClass(context, "data-class", "WaitForFirstConsumer"));
      const write = ["sh", "-c", `echo ${context.run} > /data/run && sync`];
      await startPod(context, "writer", { command: write, claim }, "Succeeded");
      await deletePod(context, "writer");
      await startPod(context, "reader", { command: ["sh", "-c", `grep -qx ${context.run} /data/run`], claim }, "Succeeded");
      await deletePod(context, "reader");
      await deleteClaim(context, claim, await bound(context, claim));
    },
  },
  {
    name: "volume-snapshot",
    checks: "a snapshot of a claim with our tag; a claim made from it gets a disk made from the snapshot; all of it is deleted",
    async run(context) {
      await needDriver(context);
      const { kube, namespace, ask, run, cloud } = context;
      if ((await listIfServed(kube, snapshots, { namespace, signal: ask.signal })) === undefined)
        throw new NotHere("the definitions of VolumeSnapshot, and the snapshot controller");
      const storageClass = await createClass(context, "snap-class", "Immediate");
      const source = await createClaim(context, "source", storageClass);
      const original = await bound(context, source);
      const className = nameOf(context, "snaps");
      const name = nameOf(context, "snap");
      await kube.create(
        snapshotClasses,
        {
          metadata: { name: className, labels: labelsOf(context) },
          driver,
          deletionPolicy: "Delete",
          parameters: { tagSpecification_1: `${mark}=${run}` },
        },
        { signal: ask.signal },
      );
      const spec = { volumeSnapshotClassName: className, source: { persistentVolumeClaimName: source } };
      await kube.create(snapshots, { metadata: { name, namespace, labels: labelsOf(context) }, spec }, { signal: ask.signal });
      await eventually(context, async () => {
        const { status } = await kube.get(snapshots, { namespace, name }, { signal: ask.signal });
        expect(status?.readyToUse === true, `snapshot ${name} is not ready: ${status?.error?.message ?? "no reason is given"}`);
      });
      const tagged = await cloud.snapshots.tagged(mark, run, ask);
      const [{ id, volumeId } = { id: "", volumeId: "" }] = tagged;
      expect(tagged.length === 1 && volumeId === original.id, `${tagged.length} snapshots carry our tag, of ${volumeId || "nothing"}`);
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name };
      const restored = await createClaim(context, "restored", storageClass, { dataSource });
      const copy = await bound(context, restored);
      const { snapshotId } = await disk(context, copy.id);
      expect(snapshotId === id, `the disk of the second claim is made from ${snapshotId ?? "nothing"}, not ${id}`);
      await deleteClaim(context, restored, copy);
      await gone(kube.delete(snapshots, { namespace, name }, { signal: ask.signal }));
      await eventually(context, async () => {
        expect((await cloud.snapshots.tagged(mark, run, ask)).length === 0, `snapshot ${id} is still there`);
      });
      await deleteClaim(context, source, original);
    },
  },
];
