/** `fairlead explain pvc/NAME` and `pv/NAME`: reads what the page is made from. */
import { claimedInstance } from "../identity/node-view.ts";
import { events, pods } from "../kube/builtin.ts";
import { isApiError } from "../kube/errors.ts";
import type { KubeObject, Resource, Stored } from "../kube/resource.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../kube/types.ts";
import { ageText } from "../runtime/age-text.ts";
import { explainVolume } from "../volumes/explain.ts";
import type { ExplainedNode, VolumeFacts } from "../volumes/explain-facts.ts";
import { diskOf } from "../volumes/migration.ts";
import { driverName, isVolumeId } from "../volumes/names.ts";
import { annotations } from "../volumes/roles/provision-plan.ts";
import { claims, csiNodes, persistentVolumes, storageClasses, volumeAttachments } from "../volumes/storage-resources.ts";
import { warningsIn } from "./event-history.ts";
import { type Live, NotPossible } from "./live.ts";

/** What a word names. */
export type NamedVolume =
  | { readonly kind: "claim"; readonly namespace: string; readonly name: string }
  | { readonly kind: "volume"; readonly name: string };

/** `pvc/data`, `pvc/shop/data`, `pv/pvc-…`; undefined when the word names something else. */
export function volumeNamed(word: string, namespace: string): NamedVolume | undefined {
  const [, kind = "", path = ""] = /^(pvc|persistentvolumeclaims?|pv|persistentvolumes?)\/(.*)$/.exec(word) ?? [];
  if (kind === "") return undefined;
  const isClaim = kind === "pvc" || kind.startsWith("persistentvolumeclaim");
  const [first = "", second, ...more] = path.split("/");
  if (first === "" || second === "" || more.length > 0 || (!isClaim && second !== undefined)) {
    throw new NotPossible(`${JSON.stringify(word)} names no volume: write pvc/NAME or pv/NAME`);
  }
  if (!isClaim) return { kind: "volume", name: first };
  return second === undefined ? { kind: "claim", namespace, name: first } : { kind: "claim", namespace: first, name: second };
}

/** The page. */
export async function explainNamedVolume(named: NamedVolume, live: Live, now: number): Promise<string> {
  const found = named.kind === "claim" ? await ofClaim(named, live) : await ofVolume(named.name, live);
  const title = named.kind === "claim" ? `claim ${named.namespace}/${named.name}` : `persistent volume ${named.name}`;
  return explainVolume(title, await factsAbout(found, live, now));
}

interface Found {
  readonly claim: Stored<PersistentVolumeClaim> | undefined;
  readonly volume: Stored<PersistentVolume> | undefined;
}

async function ofClaim({ namespace, name }: { readonly namespace: string; readonly name: string }, live: Live): Promise<Found> {
  const claim = await read(live, claims, { namespace, name });
  if (claim === undefined) throw new NotPossible(`there is no PersistentVolumeClaim ${namespace}/${name}`);
  const volumeName = claim.spec?.volumeName ?? `pvc-${claim.metadata.uid}`;
  return { claim, volume: await read(live, persistentVolumes, { name: volumeName }) };
}

async function ofVolume(name: string, live: Live): Promise<Found> {
  const volume = await read(live, persistentVolumes, { name });
  if (volume === undefined) throw new NotPossible(`there is no PersistentVolume ${name}`);
  const ref = volume.spec?.claimRef;
  const claim = ref && (await read(live, claims, { namespace: ref.namespace ?? "", name: ref.name ?? "" }));
  return { volume, claim: claim?.metadata.uid === ref?.uid ? claim : undefined };
}

async function factsAbout({ claim, volume }: Found, live: Live, now: number): Promise<VolumeFacts> {
  const { kube, cloud, ask, self } = live;
  const { signal } = ask;
  const namespace = claim?.metadata.namespace ?? "";
  const className = claim?.spec?.storageClassName ?? volume?.spec?.storageClassName;
  const id = volume && diskOf(volume);
  const [storageClass, all, users, drivers, lookup, modification] = await Promise.all([
    className ? read(live, storageClasses, { name: className }) : undefined,
    kube.list(volumeAttachments, { signal }),
    claim ? kube.list(pods, { namespace, signal }) : undefined,
    kube.list(csiNodes, { signal }),
    id === undefined ? undefined : isVolumeId(id) ? cloud.volumes.lookup(id, ask) : ({ kind: "not-found" } as const),
    id !== undefined && isVolumeId(id) ? cloud.volumes.modification(id, ask) : undefined,
  ]);
  const own = all.items.filter(({ spec }) => volume !== undefined && spec.source.persistentVolumeName === volume.metadata.name);
  const using = (users?.items ?? []).filter((pod) => uses(pod, claim?.metadata.name ?? ""));
  const selected = claim?.metadata.annotations?.[annotations.selectedNode];
  const holders = lookup?.kind === "found" ? lookup.volume.attachments.map(({ instanceId }) => instanceId) : [];
  const named = new Set(
    [...own.map(({ spec }) => spec.nodeName), ...using.flatMap(({ spec }) => spec?.nodeName ?? []), selected ?? []].flat(),
  );
  const held = live.nodes.list().filter((node) => holders.includes(claimedInstance(node)));
  for (const { metadata } of held) named.add(metadata.name);
  const nodes = [...named].map((name): ExplainedNode => {
    const node = live.nodes.list().find(({ metadata }) => metadata.name === name);
    return {
      name,
      exists: node !== undefined,
      zone: node?.metadata.labels["topology.kubernetes.io/zone"],
      instanceId: node && claimedInstance(node),
      csiNode: drivers.items.find(({ metadata }) => metadata.name === name),
      attached: all.items.filter(({ spec }) => spec.nodeName === name && spec.attacher === driverName).length,
    };
  });
  return {
    claim,
    storageClass,
    volume,
    attachments: own,
    pods: using,
    nodes,
    disk: id === undefined ? undefined : { id, lookup: lookup! },
    modification,
    clusterId: self.cluster.id,
    warnings: await warningsAbout([claim, volume], live, now),
  };
}

function uses({ spec }: Stored<Pod>, claimName: string): boolean {
  return spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claimName) ?? false;
}

async function warningsAbout(objects: readonly (Stored<KubeObject> | undefined)[], { kube, ask }: Live, now: number): Promise<string[]> {
  const lists = objects.map(async (object) => {
    if (object === undefined) return [];
    const { uid, namespace = "default" } = object.metadata;
    return (await kube.list(events, { namespace, fieldSelector: `involvedObject.uid=${uid}`, signal: ask.signal })).items;
  });
  return warningsIn((await Promise.all(lists)).flat()).map(({ text, atMs }) => `${ageText(atMs, now)}: ${text}`);
}

async function read<T extends KubeObject>(
  { kube, ask }: Live,
  of: Resource<T>,
  target: { readonly name: string; readonly namespace?: string },
): Promise<Stored<T> | undefined> {
  try {
    return await kube.get(of, target, { signal: ask.signal });
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}
