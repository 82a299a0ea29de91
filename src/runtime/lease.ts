/** What leader election needs of wherever leases are kept. `kube/` implements it on coordination.k8s.io/v1. */

export interface LeaseRecord {
  /** Empty when the last holder gave it up. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

export interface LeaseStore {
  /** Where the lease is, for messages: `kube-system/cloud-controller-manager`. */
  readonly name: string;
  /** The record and its version; undefined when there is none yet. */
  read(signal: AbortSignal): Promise<{ readonly record: LeaseRecord; readonly version: string } | undefined>;
  /** Both return the new version, and reject with `LeaseConflict` when another candidate was faster. */
  create(record: LeaseRecord, signal: AbortSignal): Promise<string>;
  update(record: LeaseRecord, version: string, signal: AbortSignal): Promise<string>;
}

export class LeaseConflict extends Error {
  override readonly name = "LeaseConflict";
}
