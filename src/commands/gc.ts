/** `fairlead gc`: volumes and snapshots that carry the cluster's mark and have no object, as a plan; deleted only if they are named. */
import { deleteSnapshot, deleteVolume } from "../aws/ec2-actions.ts";
import { claimedInstance } from "../identity/node-view.ts";
import { hasClusterTag } from "../identity/ownership.ts";
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, duration, oneOf, strings } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { openGate } from "../runtime/gate.ts";
import { tagKeys } from "../volumes/names.ts";
import { type Inventory, type Orphan, orphansOf } from "../volumes/orphans.ts";
import {
  claims,
  persistentVolumes,
  servesSnapshots,
  type VolumeSnapshotContent,
  volumeSnapshotContents,
} from "../volumes/storage-resources.ts";
import type { Command, Console } from "./command.ts";
import { failure } from "./failure.ts";
import { type Live, liveFlags, type Network, NotPossible, openLive } from "./live.ts";
import { marks, painter } from "./plan-text.ts";

const flags = {
  plan: flag(bool, false, "Print what would be deleted, and delete nothing; so it is without --delete too."),
  delete: flag(strings, [], "Delete these, given by their ids; only what the plan lists is."),
  "older-than": flag(duration, 60 * 60_000, "Leave alone what is younger: it may be in the making."),
  output: flag(oneOf("text", "json"), "text", "Output format.", { shorthand: "o" }),
  ...liveFlags,
};

const usage = `Lists volumes and snapshots that the EBS CSI driver made for this cluster and that no PersistentVolume, claim or
VolumeSnapshotContent knows. Volumes that were kept on purpose (reclaim policy Retain) and whose PersistentVolume was
deleted are among them: look before you delete.

Usage:
  fairlead gc --plan [flags]
  fairlead gc --delete=vol-0123456789abcdef0,snap-0123456789abcdef0 [flags]

Exit status: 0 when there is nothing, or what was named is deleted; 2 when there is something; 1 when it cannot be told or
done; 64 for a wrong command line.`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Garbage", flags }];

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => collectGarbage(invocation);

/** Runs the command where the network says. */
export async function collectGarbage({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Network = {}): Promise<number> {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
    const named = values.delete;
    if (values.plan && named.length > 0) throw new FlagError("give either --plan or --delete");
    const live = await openLive(values, world, "fairlead gc", stopSignal(), network, named.length > 0 ? openGate() : undefined);
    try {
      for (const note of live.notes) console.err(`fairlead gc: ${note}\n`);
      await provenCluster(live);
      const inventory = await inventoryOf(live, world.clock.now(), values["older-than"]);
      if (inventory.contents === undefined)
        console.err("fairlead gc: snapshots are not looked at: the definitions of VolumeSnapshot are not installed\n");
      const orphans = orphansOf(inventory);
      if (named.length > 0) return await deleteNamed(named, orphans, live, console);
      console.out(values.output === "json" ? `${JSON.stringify(orphans, undefined, 2)}\n` : asText(orphans, console));
      return orphans.length > 0 ? exitStatus.changes : exitStatus.done;
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("gc", error, console);
  }
}

/** Nodes whose machines are gone are few. */
const maxWitnesses = 20;

/** Seen from another cluster, everything of this one would look forgotten: a machine of its own must carry the same mark. */
async function provenCluster({ nodes, cloud, self, ask }: Live): Promise<void> {
  const ids = nodes.list().flatMap((node) => claimedInstance(node) ?? []);
  const lookups = await Promise.all(ids.slice(0, maxWitnesses).map((id) => cloud.instances.lookup(id, ask)));
  if (lookups.some((lookup) => lookup.kind === "found" && hasClusterTag(lookup.instance.tags, self.cluster))) return;
  throw new NotPossible(
    `no Node of this cluster is an instance that carries the tag of cluster ${self.cluster.id}: is it the right kubeconfig, account and cluster id?`,
  );
}

async function inventoryOf({ kube, cloud, self, ask }: Live, now: number, minAgeMs: number): Promise<Inventory> {
  const { signal } = ask;
  const { cluster } = self;
  const [key, value] = cluster.legacy ? [tagKeys.legacyCluster, cluster.id] : [tagKeys.clusterPrefix + cluster.id, "owned"];
  // AWS first: what is made in between is then too young, and what the cluster gains in between is known.
  const [volumes, snapshots] = await Promise.all([cloud.volumes.tagged(key, value, ask), cloud.snapshots.tagged(key, value, ask)]);
  const [known, claimed, contents] = await Promise.all([
    kube.list(persistentVolumes, { signal }),
    kube.list(claims, { signal }),
    snapshotContents({ kube, ask }),
  ]);
  return { cluster, volumes, snapshots, persistentVolumes: known.items, claims: claimed.items, contents, now, minAgeMs };
}

async function snapshotContents({ kube, ask }: Pick<Live, "kube" | "ask">): Promise<readonly VolumeSnapshotContent[] | undefined> {
  if (!(await servesSnapshots(kube))) return undefined;
  return (await kube.list(volumeSnapshotContents, { signal: ask.signal })).items;
}

function asText(orphans: readonly Orphan[], console: Console): string {
  if (orphans.length === 0) return "nothing is left over\n";
  const paint = painter(console);
  const lines = orphans.map(({ kind, what, why }) => paint(`  ${marks.delete} delete ${kind} ${what}  (${why})`, "delete"));
  const ids = orphans.map(({ id }) => id).join(",");
  return `${lines.join("\n")}\n\nTo delete them, after a look at each: fairlead gc --delete=${ids}\n`;
}

/** What is named and listed, one after the other; the first that AWS refuses ends it. */
async function deleteNamed(named: readonly string[], orphans: readonly Orphan[], { cloud, ask }: Live, console: Console): Promise<number> {
  const wrong = named.filter((id) => !orphans.some((orphan) => orphan.id === id));
  if (wrong.length > 0) throw new NotPossible(`${wrong.join(", ")} are not among what nothing knows: see fairlead gc --plan`);
  for (const { id, kind } of orphans.filter((orphan) => named.includes(orphan.id))) {
    const options = { ...ask, target: id, repeatable: true };
    if (kind === "volume") await cloud.call(deleteVolume, { VolumeId: id }, options);
    else await cloud.call(deleteSnapshot, { SnapshotId: id }, options);
    console.out(`deleted ${kind} ${id}\n`);
  }
  return exitStatus.done;
}
