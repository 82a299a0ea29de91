/**
 * Volumes from before CSI: classes, PersistentVolumes and inline volumes of `kubernetes.io/aws-ebs`, as the driver's own. The same
 * answers as Kubernetes' translation library gives, which scheduler, kubelet and kube-controller-manager go by; a referee compares.
 */
import type { Frozen } from "../kube/resource.ts";
import type { AWSElasticBlockStoreVolumeSource, PersistentVolume, StorageClass, TopologySelectorTerm, Volume } from "../kube/types.ts";
import { migratedZoneKey, withDriverTopology, withInTreeTopology } from "./migration-topology.ts";
import { contextKeys, driverName, topologyKeys } from "./names.ts";

/** The provisioner of classes from before CSI, and the name of their volumes' plugin. */
export const inTreeName = "kubernetes.io/aws-ebs";

/** The id of a volume, which used to be written `aws://ZONE/vol-…`, `aws:///vol-…` or `vol-…`. Throws on any other URL. */
export function volumeIdIn(written: string): string {
  if (!written.startsWith("aws://")) return written;
  const [, path = ""] = /^aws:\/\/[^/?#]*(\/[^?#]*)?/.exec(written) ?? [];
  const id = decoded(path, written).replace(/^\/+|\/+$/g, "");
  if (!/^vol-[^/]*$/.test(id)) throw new Error(`Invalid format for AWS volume (${written})`);
  return id;
}

function decoded(path: string, written: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new Error(`Invalid disk name (${written})`, { cause });
  }
}

/** A class with the parameters and topologies of the driver; its provisioner stays what it is. Throws where it contradicts itself. */
export function translatedClass(storageClass: Frozen<StorageClass>): StorageClass {
  const parameters: Record<string, string> = {};
  let zones: readonly string[] | undefined;
  for (const [key, value] of Object.entries(storageClass.parameters ?? {})) {
    const known = key.toLowerCase();
    if (known === "fstype") parameters["csi.storage.k8s.io/fstype"] = value;
    else if (known === "zone") zones = [value];
    else if (known === "zones") zones = value.split(",");
    else parameters[key] = value;
    // The plugin before us raised what was too low instead of refusing it.
    if (known === "iopspergb") parameters.allowautoiopspergbincrease = "true";
  }
  const allowed = (storageClass as StorageClass).allowedTopologies ?? [];
  if (zones !== undefined && allowed.length > 0) {
    throw new Error("cannot simultaneously set allowed topologies and zone/zones parameters");
  }
  const allowedTopologies = zones
    ? [{ matchLabelExpressions: [{ key: migratedZoneKey, values: [...zones] }] }]
    : allowed.map((term) => translatedTerm(term));
  return { ...(storageClass as StorageClass), parameters, ...(allowedTopologies.length > 0 && { allowedTopologies }) };
}

const zoneLabels: readonly string[] = ["failure-domain.beta.kubernetes.io/zone", topologyKeys.zone[0]];

function translatedTerm({ matchLabelExpressions = [] }: TopologySelectorTerm): TopologySelectorTerm {
  return {
    matchLabelExpressions: matchLabelExpressions.map((each) => (zoneLabels.includes(each.key) ? { ...each, key: migratedZoneKey } : each)),
  };
}

/** A PersistentVolume as one of the driver; itself when it is no in-tree EBS volume. */
export function translatedVolume<T extends Frozen<PersistentVolume>>(volume: T): T {
  const source = volume.spec?.awsElasticBlockStore;
  if (source === undefined) return volume;
  const { awsElasticBlockStore: _source, ...spec } = withDriverTopology(volume as PersistentVolume).spec!;
  return { ...volume, spec: { ...spec, csi: csiSource(source) } };
}

function csiSource({ volumeID, fsType, readOnly, partition = 0 }: Frozen<AWSElasticBlockStoreVolumeSource>) {
  return {
    driver: driverName,
    volumeHandle: volumeIdIn(volumeID),
    ...(readOnly && { readOnly }),
    ...(fsType && { fsType }),
    volumeAttributes: { [contextKeys.partition]: String(partition) },
  };
}

/** The id of the EBS volume behind a PersistentVolume; undefined when there is none, or what is written is no id. */
export function diskOf({ spec }: Frozen<PersistentVolume>): string | undefined {
  if (spec?.csi !== undefined) return spec.csi.driver === driverName ? spec.csi.volumeHandle : undefined;
  try {
    return spec?.awsElasticBlockStore && volumeIdIn(spec.awsElasticBlockStore.volumeID);
  } catch {
    return undefined;
  }
}

/** The PersistentVolume that is attached for a pod's own in-tree volume. */
export function translatedInline({ awsElasticBlockStore: source }: Volume): PersistentVolume {
  if (source === undefined) throw new Error("volume is nil or AWS EBS not defined on volume");
  const csi = csiSource(source);
  return {
    metadata: { name: `${driverName}-${csi.volumeHandle}` },
    spec: { accessModes: ["ReadWriteOnce"], csi, volumeMode: "Filesystem" },
  };
}

/** A PersistentVolume of the driver as an in-tree one: what was made for a class of the in-tree plugin. */
export function asInTree(volume: PersistentVolume): PersistentVolume {
  const placed = withInTreeTopology(volume);
  const { csi, ...spec } = placed.spec ?? {};
  if (csi === undefined) throw new Error("pv is nil or CSI source not defined on pv");
  const { volumeHandle: volumeID, fsType, readOnly, volumeAttributes } = csi;
  const partition = volumeAttributes?.[contextKeys.partition];
  if (partition !== undefined && !/^[+-]?\d+$/.test(partition)) {
    throw new Error(`failed to convert partition ${partition} to integer`);
  }
  const awsElasticBlockStore = {
    volumeID,
    ...(fsType && { fsType }),
    ...(readOnly && { readOnly }),
    ...(partition !== undefined && Number(partition) !== 0 && { partition: Number(partition) }),
  };
  return { ...placed, spec: { ...spec, awsElasticBlockStore } };
}
