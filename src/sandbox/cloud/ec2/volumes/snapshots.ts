/** Snapshots of volumes: CreateSnapshot, DescribeSnapshots and DeleteSnapshot. */
import {
  CreateSnapshot$,
  type CreateSnapshotRequest,
  DeleteSnapshot$,
  type DeleteSnapshotRequest,
  DescribeSnapshots$,
  type DescribeSnapshotsRequest,
  type DescribeSnapshotsResult,
  type Snapshot as SnapshotAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, read, write } from "../../service.ts";
import { type FilterTable, filtered, tagFilters } from "../filters.ts";
import { find, KINDS } from "../kinds.ts";
import { page } from "../pages.ts";
import type { Ec2 } from "../state.ts";
import { needsCreateTags, specifiedTags, tagList } from "../tags.ts";
import { forgetFastRestores } from "./fast-restores.ts";
import { isLocked } from "./locks.ts";
import { atMost, recordsAsked } from "./queries.ts";
import type { Snapshot, Volume } from "./state.ts";

const MAX_SNAPSHOTS = 1000;
/** A snapshot copies for a while, the longer the larger its volume. */
const BASE_MS = 10_000;
const PER_GIB_MS = 200;
/** Snapshots of one volume need this long between them. */
const SPACING_MS = 15_000;
/** How many snapshots of one volume may be pending: throughput-optimised and cold disks bear one. */
const MAX_PENDING = { usual: 5, slow: 1 };

/** The operations on snapshots. */
export function snapshotOperations(ec2: Ec2): Operations {
  return [
    write<CreateSnapshotRequest, SnapshotAnswer>(CreateSnapshot$, (input) => describeSnapshot(ec2, create(ec2, input)), needsCreateTags),
    read<DescribeSnapshotsRequest, DescribeSnapshotsResult>(DescribeSnapshots$, (input) => {
      const asked = recordsAsked(ec2.snapshots, KINDS.snapshot, input.SnapshotIds, input.MaxResults, MAX_SNAPSHOTS);
      const owned = asked.filter((snapshot) => isOwnedBy(ec2, snapshot, input.OwnerIds));
      const { items, NextToken } = page(
        ec2,
        filtered(owned, input.Filters, snapshotFilters(ec2)),
        ({ id }) => id,
        atMost(input, MAX_SNAPSHOTS),
        {
          action: "DescribeSnapshots",
          min: 5,
          max: MAX_SNAPSHOTS,
        },
      );
      return { Snapshots: items.map((snapshot) => describeSnapshot(ec2, snapshot)), NextToken };
    }),
    write<DeleteSnapshotRequest, void>(DeleteSnapshot$, (input) => {
      const snapshot = find(ec2.snapshots, KINDS.snapshot, input.SnapshotId!);
      if (snapshot.ownerId !== ec2.account.id) {
        throw new ServiceError("UnauthorizedOperation", `You do not own the snapshot '${snapshot.id}'.`, 403);
      }
      if (isLocked(ec2, snapshot))
        throw new ServiceError("OperationNotPermitted", `The snapshot '${snapshot.id}' is locked and cannot be deleted.`);
      forgetFastRestores(ec2, snapshot.id);
      ec2.snapshots.delete(snapshot.id);
    }),
  ];
}

/** A snapshot that another account shares with everybody, as AWS and many others do: DescribeSnapshots lists it unless asked for owners. */
export function shareSnapshot(ec2: Ec2, shared: Pick<Snapshot, "ownerId" | "sizeGiB"> & Partial<Snapshot>): Snapshot {
  const id = ec2.account.ids.resource("snap");
  const now = ec2.account.time.now();
  return ec2.snapshots.put(id, {
    id,
    volumeId: "vol-ffffffff",
    ownerAlias: undefined,
    state: "completed",
    started: now,
    completes: now,
    description: "",
    encrypted: false,
    kmsKeyArn: undefined,
    outpostArn: undefined,
    lock: undefined,
    tags: {},
    ...shared,
  });
}

function create(ec2: Ec2, input: CreateSnapshotRequest): Snapshot {
  const { time, ids, settings, id: ownerId } = ec2.account;
  const volume = find(ec2.volumes, KINDS.volume, input.VolumeId!);
  if (volume.state !== "available") {
    throw new ServiceError("IncorrectState", `The volume '${volume.id}' is in the '${volume.state}' state.`);
  }
  const owned = ec2.snapshots.values().filter((snapshot) => snapshot.ownerId === ownerId);
  if (owned.length >= settings().quotas.snapshots) {
    throw new ServiceError(
      "SnapshotLimitExceeded",
      `You have reached the limit of ${settings().quotas.snapshots} snapshots in this Region.`,
    );
  }
  checkPace(ec2, volume, owned);
  const now = time.now();
  const ms = BASE_MS + PER_GIB_MS * volume.spec.sizeGiB;
  const id = ids.resource("snap");
  const snapshot = ec2.snapshots.put(id, {
    id,
    volumeId: volume.id,
    ownerId,
    ownerAlias: undefined,
    state: "pending",
    started: now,
    completes: now + ms / time.speed,
    sizeGiB: volume.spec.sizeGiB,
    description: input.Description ?? "",
    encrypted: volume.encrypted,
    kmsKeyArn: volume.kmsKeyArn,
    outpostArn: input.OutpostArn || undefined,
    lock: undefined,
    tags: specifiedTags(input.TagSpecifications, KINDS.snapshot),
  });
  time.after(ms, () => {
    if (ec2.snapshots.has(id)) ec2.snapshots.update(id, { state: "completed" });
  });
  return snapshot;
}

/** One volume gives its snapshots one after another, and only so many at once. */
function checkPace(ec2: Ec2, volume: Volume, owned: readonly Snapshot[]): void {
  const pending = owned.filter((snapshot) => snapshot.volumeId === volume.id && snapshot.state === "pending");
  const most = volume.spec.type === "st1" || volume.spec.type === "sc1" ? MAX_PENDING.slow : MAX_PENDING.usual;
  if (pending.length >= most) {
    throw new ServiceError("ConcurrentSnapshotLimitExceeded", `Maximum allowed in-progress snapshots for ${volume.id} exceeded.`);
  }
  const { time } = ec2.account;
  const since = time.now() - SPACING_MS / time.speed;
  if (pending.some(({ started }) => started > since)) {
    throw new ServiceError(
      "SnapshotCreationPerVolumeRateExceeded",
      "The maximum per volume CreateSnapshot request rate has been exceeded. Use an increasing or variable sleep interval between requests.",
    );
  }
}

/** A snapshot as CreateSnapshot and DescribeSnapshots show it. */
function describeSnapshot(ec2: Ec2, snapshot: Snapshot): SnapshotAnswer {
  return {
    SnapshotId: snapshot.id,
    VolumeId: snapshot.volumeId,
    OwnerId: snapshot.ownerId,
    OwnerAlias: snapshot.ownerAlias,
    State: snapshot.state,
    Progress: progressOf(ec2, snapshot),
    StartTime: new Date(snapshot.started),
    CompletionTime: snapshot.state === "completed" ? new Date(snapshot.completes) : undefined,
    VolumeSize: snapshot.sizeGiB,
    Description: snapshot.description,
    Encrypted: snapshot.encrypted,
    KmsKeyId: snapshot.kmsKeyArn,
    OutpostArn: snapshot.outpostArn,
    StorageTier: "standard",
    Tags: tagList(snapshot.tags),
  };
}

function progressOf(ec2: Ec2, { state, started, completes }: Snapshot): string {
  if (state === "completed") return "100%";
  const elapsed = ec2.account.time.now() - started;
  return elapsed === 0 ? "0%" : `${Math.min(99, Math.floor((100 * elapsed) / (completes - started)))}%`;
}

/** `self` and `amazon` stand for accounts. */
function isOwnedBy(ec2: Ec2, snapshot: Snapshot, owners: readonly string[] | undefined): boolean {
  if (!owners?.length) return true;
  return owners.some((owner) =>
    owner === "self" ? snapshot.ownerId === ec2.account.id : owner === snapshot.ownerId || owner === snapshot.ownerAlias,
  );
}

function snapshotFilters(ec2: Ec2): FilterTable<Snapshot> {
  return {
    ...tagFilters<Snapshot>(),
    description: (snapshot) => snapshot.description,
    encrypted: (snapshot) => snapshot.encrypted,
    "owner-alias": (snapshot) => snapshot.ownerAlias,
    "owner-id": (snapshot) => snapshot.ownerId,
    progress: (snapshot) => progressOf(ec2, snapshot),
    "snapshot-id": (snapshot) => snapshot.id,
    "start-time": (snapshot) => new Date(snapshot.started).toISOString(),
    status: (snapshot) => snapshot.state,
    "storage-tier": () => "standard",
    "volume-id": (snapshot) => snapshot.volumeId,
    "volume-size": (snapshot) => snapshot.sizeGiB,
  };
}
