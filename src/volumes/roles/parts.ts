/** What the built-in roles share: the driver beside them, the objects they read, and how the driver is called. */

import type { SnapshotLookup } from "../../aws/snapshots.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { Nodes } from "../../identity/node-view.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer, type Trimmed } from "../../kube/informer.ts";
import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment } from "../../kube/types.ts";
import type { Host } from "../../runtime/host.ts";
import { TimedOut, within } from "../../runtime/world.ts";
import { CsiError } from "../csi/errors.ts";
import type { CreateVolumeRequest, VolumeAnswer } from "../csi/messages.ts";
import type { Methods } from "../csi/server.ts";
import { diskOf } from "../migration.ts";
import type { Rpc } from "../rpc.ts";
import { claims, csiNodes, persistentVolumes, storageClasses, volumeAttachments } from "../storage-resources.ts";

export type Claims = Informer<Trimmed<PersistentVolumeClaim>, "class" | "volume">;
export type Volumes = Informer<Trimmed<PersistentVolume>, "disk">;
export type Classes = Informer<Trimmed<StorageClass>>;
export type Attachments = Informer<Trimmed<VolumeAttachment>, "volume">;
export type CsiNodes = Informer<Trimmed<CSINode>>;

/** What each role is made from. */
export interface RoleParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  /** The driver's controller service, called without a socket. */
  readonly driver: Methods;
  /** Throws where the driver would refuse the request whatever EC2 says. */
  checkCreation(request: CreateVolumeRequest): void;
  /** The volume of a name that EC2 was asked for, by this process or one before it. */
  madeVolume(name: string, rpc: Rpc): Promise<VolumeAnswer | undefined>;
  /** What EC2 says of a snapshot. */
  snapshot(id: string, rpc: Rpc): Promise<SnapshotLookup>;
  readonly claims: Claims;
  readonly volumes: Volumes;
  readonly classes: Classes;
  readonly attachments: Attachments;
  readonly csiNodes: CsiNodes;
  readonly nodes: Nodes;
  readonly settings: RoleSettings;
}

export interface RoleSettings {
  /** Of volumes whose class names no file system. */
  readonly defaultFsType: string;
  /** How many objects of a kind are worked on at once. */
  readonly concurrency: number;
}

/** The informers of the roles, each made and followed once. */
export const roleInformers = {
  claims: {
    name: "persistentvolumeclaims",
    make: (client: KubeClient): Claims =>
      informer({
        client,
        of: claims,
        indexes: {
          class: ({ spec }) => (spec?.storageClassName ? [spec.storageClassName] : []),
          volume: ({ spec }) => (spec?.volumeName ? [spec.volumeName] : []),
        },
      }),
  },
  volumes: {
    name: "persistentvolumes",
    make: (client: KubeClient): Volumes =>
      informer({
        client,
        of: persistentVolumes,
        indexes: { disk: (volume) => [diskOf(volume) ?? []].flat() },
      }),
  },
  classes: { name: "storageclasses", make: (client: KubeClient): Classes => informer({ client, of: storageClasses }) },
  attachments: {
    name: "volumeattachments",
    make: (client: KubeClient): Attachments =>
      informer({
        client,
        of: volumeAttachments,
        indexes: { volume: ({ spec }) => (spec.source.persistentVolumeName ? [spec.source.persistentVolumeName] : []) },
      }),
  },
  csiNodes: { name: "csinodes", make: (client: KubeClient): CsiNodes => informer({ client, of: csiNodes }) },
};

/** Calls the driver; after so long the caller no longer waits, as the sidecars do not. */
export async function callDriver<T>(
  { driver, host }: Pick<RoleParts, "driver" | "host">,
  method: string,
  request: object,
  limitMs: number,
  signal: AbortSignal,
): Promise<T> {
  try {
    return (await within(host.world.clock, limitMs, method, signal, (inner) =>
      driver[method]!(request as never, { name: method, signal: inner }),
    )) as T;
  } catch (error) {
    if (error instanceof TimedOut) throw new CsiError("DeadlineExceeded", error.message, { cause: error });
    throw error;
  }
}

/** Whether what was asked for may still be carried out, so that it must be asked for again until it is known. */
export function mayStillHappen(error: unknown): boolean {
  return !(error instanceof CsiError) || ["Aborted", "Canceled", "DeadlineExceeded"].includes(error.code);
}

/** When, as the API writes it. */
export function timestamp({ world }: Host): string {
  return `${new Date(world.clock.now()).toISOString().slice(0, 19)}Z`;
}
