/** What the cluster holds of volumes, as a history looks at it: by name, and only what is asked about. */
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { driverName } from "../../src/volumes/names.ts";

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ClaimObject {
  readonly metadata: Metadata;
  readonly spec: {
    readonly volumeName?: string;
    readonly storageClassName: string;
    readonly dataSource?: { readonly kind: string; readonly name: string };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: { readonly storage?: string };
    readonly allocatedResourceStatuses?: { readonly storage?: string };
    readonly currentVolumeAttributesClassName?: string;
  };
}

export interface VolumeObject {
  readonly metadata: Metadata;
  readonly spec: {
    readonly accessModes: readonly string[];
    readonly capacity?: { readonly storage?: string };
    readonly claimRef?: { readonly name: string; readonly uid: string };
    readonly persistentVolumeReclaimPolicy: string;
    readonly csi?: { readonly volumeHandle: string };
    readonly awsElasticBlockStore?: { readonly volumeID: string };
    readonly nodeAffinity?: object;
  };
  readonly status?: { readonly phase?: string };
}

export interface AttachmentObject {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName: string; readonly source: { readonly persistentVolumeName: string } };
  readonly status?: { readonly attached?: boolean };
}

export interface SnapshotObject {
  readonly metadata: Metadata;
  readonly spec: { readonly volumeSnapshotClassName: string; readonly source: { readonly persistentVolumeClaimName: string } };
  readonly status?: { readonly boundVolumeSnapshotContentName?: string; readonly readyToUse?: boolean };
}

export interface ContentObject {
  readonly metadata: Metadata;
  readonly spec: { readonly deletionPolicy: string; readonly source: { readonly volumeHandle?: string } };
  readonly status?: { readonly snapshotHandle?: string; readonly readyToUse?: boolean };
}

interface PodObject {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName: string };
}

interface CsiNodeObject {
  readonly metadata: Metadata;
  readonly spec: { readonly drivers: readonly { readonly name: string; readonly nodeID: string }[] };
}

export class RolesObjects {
  readonly #cluster: EmbeddedCluster;

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster;
  }

  claims = () => this.#all<ClaimObject>("persistentvolumeclaims");
  volumes = () => this.#all<VolumeObject>("persistentvolumes");
  attachments = () => this.#all<AttachmentObject>("volumeattachments.storage.k8s.io");
  snapshots = () => this.#all<SnapshotObject>("volumesnapshots.snapshot.storage.k8s.io");
  contents = () => this.#all<ContentObject>("volumesnapshotcontents.snapshot.storage.k8s.io");
  nodes = () => this.#all<PodObject>("nodes").map(({ metadata }) => metadata.name);

  claim = (name: string) => named(this.claims(), name);
  volume = (name: string) => named(this.volumes(), name);
  snapshot = (name: string) => named(this.snapshots(), name);
  content = (name: string | undefined) => named(this.contents(), name ?? "");
  pod = (name: string) => named(this.#all<PodObject>("pods"), name);
  class = (name: string) =>
    named(this.#all<{ metadata: Metadata; parameters?: Readonly<Record<string, string>> }>("storageclasses.storage.k8s.io"), name);

  /** The instance that a node says it is. */
  nodeId(node: string): string | undefined {
    const { drivers = [] } = named(this.#all<CsiNodeObject>("csinodes.storage.k8s.io"), node)?.spec ?? {};
    return drivers.find(({ name }) => name === driverName)?.nodeID;
  }

  /** Those of an object, `persistentvolumes/NAME`. */
  finalizers(what: string): readonly string[] {
    const [kind = "", name = ""] = what.split("/");
    return named(this.#all<PodObject>(kind), name)?.metadata.finalizers ?? [];
  }

  /** Messages of an object's Events. */
  events(name: string): readonly string[] {
    return this.#all<{ involvedObject: { name: string }; message: string }>("events").flatMap(({ involvedObject, message }) =>
      involvedObject.name === name ? [message] : [],
    );
  }

  #all<T>(kind: string): readonly T[] {
    return this.#cluster.objects(kind) as unknown as readonly T[];
  }
}

function named<T extends { readonly metadata: Metadata }>(objects: readonly T[], name: string): T | undefined {
  return objects.find(({ metadata }) => metadata.name === name);
}

/** The disk that a PersistentVolume is of, by CSI or from before it. */
export function handleOf({ csi, awsElasticBlockStore }: VolumeObject["spec"]): string {
  return csi?.volumeHandle ?? awsElasticBlockStore?.volumeID.replace(/^aws:\/\/[^/]*\//, "") ?? "";
}
