/** Fast snapshot restore: a snapshot made ready in a zone, so that volumes from it are at full speed at once. */
import {
  DescribeFastSnapshotRestores$,
  type DescribeFastSnapshotRestoresRequest,
  type DescribeFastSnapshotRestoresResult,
  DisableFastSnapshotRestores$,
  type DisableFastSnapshotRestoresRequest,
  type DisableFastSnapshotRestoresResult,
  EnableFastSnapshotRestores$,
  type EnableFastSnapshotRestoresRequest,
  type EnableFastSnapshotRestoresResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, read, write } from "../../service.ts";
import type { Table } from "../../store.ts";
import { type FilterTable, filtered } from "../filters.ts";
import { find, KINDS } from "../kinds.ts";
import { page } from "../pages.ts";
import type { Ec2 } from "../state.ts";
import { optedIn, type Zone, zoneNamed } from "../zones.ts";

const ENABLING_MS = 5000;
/** Optimizing takes an hour for each TiB; EC2's own figure. */
const OPTIMIZING_MS_PER_GIB = 3_600_000 / 1024;
const DISABLING_MS = 5000;
const MAX_SIZE_GIB = 16_384;

interface FastRestore {
  readonly snapshotId: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly state: "enabling" | "optimizing" | "enabled" | "disabling" | "disabled";
  readonly times: Readonly<Partial<Record<FastRestore["state"], number>>>;
}

/** The operations on fast snapshot restores. */
export function fastRestoreOperations(ec2: Ec2): Operations {
  return [
    write<EnableFastSnapshotRestoresRequest, EnableFastSnapshotRestoresResult>(EnableFastSnapshotRestores$, (input) =>
      inZones(ec2, input, enable),
    ),
    write<DisableFastSnapshotRestoresRequest, DisableFastSnapshotRestoresResult>(DisableFastSnapshotRestores$, (input) =>
      inZones(ec2, input, disable),
    ),
    read<DescribeFastSnapshotRestoresRequest, DescribeFastSnapshotRestoresResult>(DescribeFastSnapshotRestores$, (input) => {
      const { items, NextToken } = page(ec2, filtered(restores(ec2).values(), input.Filters, filters(ec2)), keyOf, input, {
        action: "DescribeFastSnapshotRestores",
        min: 0,
        max: 200,
        usual: 200,
      });
      return { FastSnapshotRestores: items.map((restore) => describe(ec2, restore)), NextToken };
    }),
  ];
}

/** Whether volumes made now from a snapshot in a zone need no initialisation. */
export function isFastRestored(ec2: Ec2, snapshotId: string, zone: string): boolean {
  return restores(ec2).get(`${snapshotId} ${zone}`)?.state === "enabled";
}

/** Restores end with their snapshot. */
export function forgetFastRestores(ec2: Ec2, snapshotId: string): void {
  for (const restore of restores(ec2).values()) if (restore.snapshotId === snapshotId) restores(ec2).delete(keyOf(restore));
}

interface InZones {
  readonly SourceSnapshotIds: readonly string[] | undefined;
  readonly AvailabilityZones?: readonly string[] | undefined;
  readonly AvailabilityZoneIds?: readonly string[] | undefined;
}

/** Every snapshot in every zone succeeds or fails on its own; the call itself succeeds. */
function inZones(ec2: Ec2, input: InZones, change: (ec2: Ec2, snapshotId: string, zone: Zone) => FastRestore) {
  const zones = [
    ...(input.AvailabilityZones ?? []).map((name) => ({ name, zone: zoneNamed(ec2, name, undefined) })),
    ...(input.AvailabilityZoneIds ?? []).map((name) => ({ name, zone: zoneNamed(ec2, undefined, name) })),
  ];
  if (zones.length === 0) throw new ServiceError("MissingParameter", "The request must contain the parameter availabilityZones");
  const outcomes = (input.SourceSnapshotIds ?? []).map((snapshotId) => ({
    snapshotId,
    parts: zones.map(({ name, zone }) => attempt(snapshotId, name, zone)),
  }));
  return {
    Successful: outcomes.flatMap(({ parts }) => parts.flatMap(({ restore }) => (restore === undefined ? [] : [describe(ec2, restore)]))),
    Unsuccessful: outcomes.flatMap(({ snapshotId, parts }) => {
      const errors = parts.flatMap(({ name, error }) =>
        error === undefined ? [] : [{ AvailabilityZone: name, Error: { Code: error.code, Message: error.message } }],
      );
      return errors.length === 0 ? [] : [{ SnapshotId: snapshotId, FastSnapshotRestoreStateErrors: errors }];
    }),
  };

  function attempt(snapshotId: string, name: string, zone: Zone | undefined): Outcome {
    try {
      if (zone === undefined || !optedIn(ec2, zone)) {
        throw new ServiceError("InvalidParameterValue", `Invalid availability zone: [${name}]`);
      }
      return { name, restore: change(ec2, snapshotId, zone) };
    } catch (error) {
      if (error instanceof ServiceError) return { name, error };
      throw error;
    }
  }
}

/** What became of one snapshot in one zone. */
interface Outcome {
  readonly name: string;
  readonly restore?: FastRestore;
  readonly error?: ServiceError;
}

function enable(ec2: Ec2, snapshotId: string, zone: Zone): FastRestore {
  const snapshot = find(ec2.snapshots, KINDS.snapshot, snapshotId);
  const current = restores(ec2).get(`${snapshotId} ${zone.name}`);
  if (current !== undefined && current.state !== "disabled" && current.state !== "disabling") return current;
  const most = ec2.account.settings().quotas.fastSnapshotRestores;
  const taken = new Set(
    restores(ec2)
      .values()
      .filter(isOn)
      .map((restore) => restore.snapshotId),
  );
  if (!taken.has(snapshotId) && taken.size >= most) {
    throw new ServiceError(
      "FastSnapshotRestoreLimitExceeded",
      `You have reached the limit of ${most} snapshots with fast restore in this Region.`,
    );
  }
  if (snapshot.sizeGiB > MAX_SIZE_GIB) {
    throw new ServiceError("InvalidParameterValue", `The snapshot '${snapshotId}' is larger than ${MAX_SIZE_GIB} GiB.`);
  }
  const restore = enter(ec2, { snapshotId, zone: zone.name, zoneId: zone.id, state: "enabling", times: {} }, "enabling");
  later(ec2, restore, "enabling", ENABLING_MS, "optimizing");
  later(ec2, restore, "optimizing", ENABLING_MS + OPTIMIZING_MS_PER_GIB * snapshot.sizeGiB, "enabled");
  return restore;
}

function disable(ec2: Ec2, snapshotId: string, zone: Zone): FastRestore {
  const current = restores(ec2).get(`${snapshotId} ${zone.name}`);
  if (current === undefined || !isOn(current)) {
    throw new ServiceError("InvalidFastSnapshotRestoreState", `Fast snapshot restore is not enabled for '${snapshotId}' in ${zone.name}.`);
  }
  const restore = enter(ec2, current, "disabling");
  later(ec2, restore, "disabling", DISABLING_MS, "disabled");
  return restore;
}

function isOn({ state }: FastRestore): boolean {
  return state === "enabling" || state === "optimizing" || state === "enabled";
}

function enter(ec2: Ec2, restore: FastRestore, state: FastRestore["state"]): FastRestore {
  return restores(ec2).put(keyOf(restore), { ...restore, state, times: { ...restore.times, [state]: ec2.account.time.now() } });
}

function later(ec2: Ec2, restore: FastRestore, from: FastRestore["state"], ms: number, to: FastRestore["state"]): void {
  ec2.account.time.after(ms, () => {
    const current = restores(ec2).get(keyOf(restore));
    if (current?.state === from) enter(ec2, current, to);
  });
}

function restores(ec2: Ec2): Table<FastRestore> {
  return ec2.account.store.table("ec2/fast-snapshot-restores");
}

function keyOf({ snapshotId, zone }: FastRestore): string {
  return `${snapshotId} ${zone}`;
}

function describe(ec2: Ec2, { snapshotId, zone, zoneId, state, times }: FastRestore) {
  const at = (name: FastRestore["state"]) => (times[name] === undefined ? undefined : new Date(times[name]));
  return {
    SnapshotId: snapshotId,
    AvailabilityZone: zone,
    AvailabilityZoneId: zoneId,
    State: state,
    StateTransitionReason: "Client.UserInitiated",
    OwnerId: ec2.account.id,
    EnablingTime: at("enabling"),
    OptimizingTime: at("optimizing"),
    EnabledTime: at("enabled"),
    DisablingTime: at("disabling"),
    DisabledTime: at("disabled"),
  };
}

function filters(ec2: Ec2): FilterTable<FastRestore> {
  return {
    "availability-zone": (restore) => restore.zone,
    "availability-zone-id": (restore) => restore.zoneId,
    "owner-id": () => ec2.account.id,
    "snapshot-id": (restore) => restore.snapshotId,
    state: (restore) => restore.state,
  };
}
