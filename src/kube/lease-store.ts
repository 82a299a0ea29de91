/** Leases of coordination.k8s.io/v1, for leader election. */
import type { LeaseRecord, LeaseStore } from "../runtime/lease.ts";
import { LeaseConflict } from "../runtime/lease.ts";
import { leases } from "./builtin.ts";
import type { KubeClient } from "./client.ts";
import type { ApiErrorReason } from "./errors.ts";
import { isApiError } from "./errors.ts";
import type { Stored } from "./resource.ts";
import type { Lease } from "./types.ts";

export interface LeaseStoreOptions {
  readonly namespace: string;
  readonly name: string;
  /** A request may take half of it, and never less than a second. */
  readonly renewDeadlineMs: number;
}

/** One Lease. The client must have an open gate: without a lease there is no right to write, and this is how it is got. */
export function leaseStore(of: KubeClient, options: LeaseStoreOptions): LeaseStore {
  const client = of.as({ urgent: true });
  const { namespace, name } = options;
  const timeoutMs = Math.max(1_000, options.renewDeadlineMs / 2);
  /** As last seen: an update replaces the whole object, and must not drop what others put on it. */
  let seen: Stored<Lease> | undefined;
  const remember = (lease: Stored<Lease>): string => {
    seen = lease;
    return lease.metadata.resourceVersion;
  };
  return {
    name: `${namespace}/${name}`,
    async read(signal) {
      try {
        const lease = await client.get(leases, { namespace, name }, { signal, timeoutMs });
        return { version: remember(lease), record: recordOf(lease) };
      } catch (error) {
        if (isApiError(error, "not-found")) return undefined;
        throw error;
      }
    },
    create(record, signal) {
      return client
        .create(leases, { metadata: { namespace, name }, spec: specOf(record) }, { signal, timeoutMs })
        .then(remember, conflictIf("already-exists"));
    },
    update(record, version, signal) {
      const metadata = { uid: "", ...seen?.metadata, namespace, name, resourceVersion: version };
      const lease: Stored<Lease> = {
        ...seen,
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata,
        spec: { ...seen?.spec, ...specOf(record) },
      };
      // Not found means that somebody deleted it: what we know of it is as outdated as after a conflict.
      return client.replaceLease(lease, { signal, timeoutMs }).then(remember, conflictIf("conflict", "not-found"));
    },
  };
}

function recordOf({ spec = {} }: Stored<Lease>): LeaseRecord {
  return {
    holderIdentity: spec.holderIdentity ?? "",
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? "",
    renewTime: spec.renewTime ?? "",
    leaseTransitions: spec.leaseTransitions ?? 0,
  };
}

function specOf(record: LeaseRecord): NonNullable<Lease["spec"]> {
  return {
    holderIdentity: record.holderIdentity,
    leaseDurationSeconds: record.leaseDurationSeconds,
    acquireTime: microTime(record.acquireTime),
    renewTime: microTime(record.renewTime),
    leaseTransitions: record.leaseTransitions,
  };
}

/** The API server takes exactly six digits after the point. Empty stays away: the server refuses an empty time. */
function microTime(time: string): string | undefined {
  const parts = /^(.*:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  return parts === null ? undefined : `${parts[1]}.${(parts[2] ?? "").slice(0, 6).padEnd(6, "0")}${parts[3]}`;
}

function conflictIf(...reasons: readonly ApiErrorReason[]): (error: unknown) => never {
  return (error) => {
    throw isApiError(error, ...reasons) ? new LeaseConflict(error.message, { cause: error }) : error;
  };
}
