/** Locks that keep snapshots from being deleted: LockSnapshot, UnlockSnapshot and DescribeLockedSnapshots. */
import {
  DescribeLockedSnapshots$,
  type DescribeLockedSnapshotsRequest,
  type DescribeLockedSnapshotsResult,
  LockSnapshot$,
  type LockSnapshotRequest,
  type LockSnapshotResult,
  UnlockSnapshot$,
  type UnlockSnapshotRequest,
  type UnlockSnapshotResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, read, write } from "../../service.ts";
import { filtered } from "../filters.ts";
import { find, findAll, KINDS } from "../kinds.ts";
import { page } from "../pages.ts";
import type { Ec2 } from "../state.ts";
import type { Snapshot, SnapshotLock } from "./state.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = { min: 1, max: 36_500 };
const COOL_OFF_HOURS = { min: 1, max: 72 };

/** The operations on locks. */
export function snapshotLockOperations(ec2: Ec2): Operations {
  return [
    write<LockSnapshotRequest, LockSnapshotResult>(LockSnapshot$, (input) => {
      const snapshot = find(ec2.snapshots, KINDS.snapshot, input.SnapshotId!);
      if (snapshot.ownerId !== ec2.account.id) {
        throw new ServiceError("UnauthorizedOperation", `You do not own the snapshot '${snapshot.id}'.`, 403);
      }
      const lock = wantedLock(ec2, input);
      const current = lockState(ec2, snapshot);
      if (current === "compliance" && (lock.mode !== "compliance" || lock.expires < snapshot.lock!.expires)) {
        throw new ServiceError("OperationNotPermitted", `The compliance lock on '${snapshot.id}' can only be extended.`);
      }
      return describe(ec2, ec2.snapshots.update(snapshot.id, { lock }));
    }),
    write<UnlockSnapshotRequest, UnlockSnapshotResult>(UnlockSnapshot$, (input) => {
      const snapshot = find(ec2.snapshots, KINDS.snapshot, input.SnapshotId!);
      const state = lockState(ec2, snapshot);
      if (state === undefined || state === "expired") {
        throw new ServiceError("InvalidSnapshot.NotLocked", `The snapshot '${snapshot.id}' is not locked.`);
      }
      if (state === "compliance")
        throw new ServiceError("OperationNotPermitted", `The compliance lock on '${snapshot.id}' cannot be removed.`);
      ec2.snapshots.update(snapshot.id, { lock: undefined });
      return { SnapshotId: snapshot.id };
    }),
    read<DescribeLockedSnapshotsRequest, DescribeLockedSnapshotsResult>(DescribeLockedSnapshots$, (input) => {
      const asked = input.SnapshotIds?.length ? findAll(ec2.snapshots, KINDS.snapshot, input.SnapshotIds) : ec2.snapshots.values();
      const locked = filtered(
        asked.filter((snapshot) => snapshot.lock !== undefined),
        input.Filters,
        { "lock-state": (snapshot: Snapshot) => lockState(ec2, snapshot) },
      );
      const { items, NextToken } = page(ec2, locked, ({ id }) => id, input, { action: "DescribeLockedSnapshots", min: 5, max: 1000 });
      return { Snapshots: items.map((snapshot) => ({ OwnerId: snapshot.ownerId, ...describe(ec2, snapshot) })), NextToken };
    }),
  ];
}

/** Whether a snapshot cannot be deleted. */
export function isLocked(ec2: Ec2, snapshot: Snapshot): boolean {
  const state = lockState(ec2, snapshot);
  return state !== undefined && state !== "expired";
}

function lockState(ec2: Ec2, { lock }: Snapshot): "governance" | "compliance-cooloff" | "compliance" | "expired" | undefined {
  if (lock === undefined) return undefined;
  const now = ec2.account.time.now();
  if (now >= lock.expires) return "expired";
  if (lock.mode === "governance") return "governance";
  return now < lock.created + (lock.coolOffHours ?? 0) * HOUR_MS ? "compliance-cooloff" : "compliance";
}

function wantedLock(ec2: Ec2, input: LockSnapshotRequest): SnapshotLock {
  const { LockMode: mode, LockDuration: days, ExpirationDate: date, CoolOffPeriod: coolOffHours } = input;
  if (mode !== "compliance" && mode !== "governance") {
    throw new ServiceError("InvalidParameterValue", `Value (${mode}) for parameter lockMode is invalid. Expected: compliance, governance.`);
  }
  if ((days === undefined) === (date === undefined)) {
    throw new ServiceError("InvalidParameterCombination", "A lock needs either lockDuration or expirationDate, and not both.");
  }
  if (coolOffHours !== undefined && mode !== "compliance") {
    throw new ServiceError("InvalidParameterCombination", "The parameter coolOffPeriod is for the compliance mode only.");
  }
  if (coolOffHours !== undefined) checkRange("coolOffPeriod", coolOffHours, COOL_OFF_HOURS);
  const created = ec2.account.time.now();
  const expires = date === undefined ? created + days! * DAY_MS : date.getTime();
  const durationDays = days ?? Math.ceil((expires - created) / DAY_MS);
  checkRange(date === undefined ? "lockDuration" : "expirationDate", durationDays, DAYS);
  return { mode, created, coolOffHours, durationDays, expires };
}

function checkRange(parameter: string, value: number, { min, max }: { readonly min: number; readonly max: number }): void {
  if (value >= min && value <= max) return;
  throw new ServiceError("InvalidParameterValue", `The value of ${parameter} must be between ${min} and ${max}, not ${value}.`);
}

function describe(ec2: Ec2, snapshot: Snapshot): LockSnapshotResult {
  const lock = snapshot.lock!;
  return {
    SnapshotId: snapshot.id,
    LockState: lockState(ec2, snapshot)!,
    LockDuration: lock.durationDays,
    CoolOffPeriod: lock.coolOffHours,
    CoolOffPeriodExpiresOn: lock.coolOffHours === undefined ? undefined : new Date(lock.created + lock.coolOffHours * HOUR_MS),
    LockCreatedOn: new Date(lock.created),
    LockDurationStartTime: new Date(lock.created),
    LockExpiresOn: new Date(lock.expires),
  };
}
