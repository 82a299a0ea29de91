/** The objects of a cluster and of an account in a form that can be compared: names for ids, and no times. */
import type { SidecarWorld } from "./world.ts";

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: object;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const paths = {
  claims: "/api/v1/persistentvolumeclaims",
  volumes: "/api/v1/persistentvolumes",
  contents: "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents",
  snapshots: "/apis/snapshot.storage.k8s.io/v1/volumesnapshots",
} as const;

/** The objects of the cluster and the volumes and snapshots of the account. */
export async function observed({ kube, aws }: SidecarWorld): Promise<object> {
  const read = async (path: string) => (JSON.parse(await kube.raw(path)) as { items: readonly Listed[] }).items;
  const [claims, volumes, contents, snapshots] = await Promise.all(Object.values(paths).map(read));
  const named = withoutIds([...claims!, ...snapshots!], aws);
  const byName = (items: readonly Listed[]) => sorted(items.map((item) => [item.metadata.name, shown(item)]));
  aws.account.time.settle();
  const disks = [...aws.account.ec2.volumes.values()].filter(({ tags, state }) => tags.CSIVolumeName !== undefined && state !== "deleting");
  const copies = [...aws.account.ec2.snapshots.values()].filter(({ tags }) => tags.CSIVolumeSnapshotName !== undefined);
  return named({
    claims: byName(claims!),
    volumes: byName(volumes!),
    contents: byName(contents!),
    disks: sorted(
      disks.map(({ tags, spec, zone, encrypted, snapshotId, sourceVolumeId }) => [
        tags.CSIVolumeName!,
        { tags: sorted(Object.entries(tags)), spec, zone, encrypted, snapshotId, sourceVolumeId },
      ]),
    ),
    copies: sorted(
      copies.map(({ tags, volumeId, sizeGiB }) => [tags.CSIVolumeSnapshotName!, { tags: sorted(Object.entries(tags)), volumeId, sizeGiB }]),
    ),
  });
}

/** Kind, name, type and reason of every Event. */
export async function recordedEvents({ kube, aws }: SidecarWorld): Promise<readonly string[]> {
  interface RecordedEvent {
    readonly involvedObject: { readonly kind: string; readonly name: string };
    readonly type: string;
    readonly reason: string;
  }
  const { items } = JSON.parse(await kube.raw("/api/v1/events")) as { items: readonly RecordedEvent[] };
  const claims = (JSON.parse(await kube.raw(paths.claims)) as { items: readonly Listed[] }).items;
  const named = withoutIds(claims, aws);
  const lines = items.map(({ involvedObject: { kind, name }, type, reason }) => named(`${kind} ${name} ${type} ${reason}`));
  return [...new Set(lines)].sort();
}

/** What an object says, in an order of its own. Conditions without their times. */
function shown({ metadata, spec, status }: Listed): object {
  const conditions = status?.conditions?.map(({ type, status: value }) => `${type} ${value}`).sort();
  return {
    annotations: sorted(Object.entries(metadata.annotations ?? {})),
    finalizers: [...(metadata.finalizers ?? [])].sort(),
    spec,
    status: status && { ...status, ...(conditions && { conditions }) },
  };
}

function sorted<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Puts names in the place of ids, and words in that of times. */
function withoutIds(named: readonly Listed[], aws: SidecarWorld["aws"]): <T>(value: T) => T {
  const { volumes, snapshots } = aws.account.ec2;
  const ids = [
    ...[...volumes.values()].map(({ id, tags }) => [id, `disk of ${tags.CSIVolumeName}`] as const),
    ...[...snapshots.values()].map(({ id, tags }) => [id, `copy of ${tags.CSIVolumeSnapshotName}`] as const),
    ...named.map(({ metadata: { name, uid } }) => [uid, name] as const),
  ];
  return <T>(value: T): T => {
    let text = JSON.stringify(value);
    for (const [id, name] of ids) text = text.replaceAll(id, name);
    text = text
      .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"some"')
      .replaceAll(/"(creationTime|time|lastPhaseTransitionTime)":("[^"]*"|\d+)/g, '"$1":"some time"')
      .replaceAll(/\d+-\d+-ebs\.csi\.aws\.com/g, "some process");
    return JSON.parse(text) as T;
  };
}
