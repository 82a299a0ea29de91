/** EBS snapshots: by id and by tag, or a page of all that are this account's. */
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { ById, ByTag, isNotFound } from "./described.ts";
import { describeSnapshots } from "./ec2-actions.ts";
import type { Filter } from "./instances.ts";
import { type Page, scanPages } from "./pages.ts";
import { type Snapshot, snapshotsPage } from "./volume-shapes.ts";

export type { Snapshot } from "./volume-shapes.ts";

/** What is known of one id. Only `not-found` says that AWS does not know it. */
export type SnapshotLookup =
  | { readonly kind: "found"; readonly snapshot: Snapshot }
  | { readonly kind: "not-found" }
  /** Missing from an answer that should have it. Proves nothing. */
  | { readonly kind: "absent" };

export class Snapshots {
  readonly #caller: Caller;
  readonly #byId: ById<Snapshot>;
  readonly #byTag: ByTag<Snapshot>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#byId = new ById(
      clock,
      (SnapshotIds, options) => scanPages(caller, describeSnapshots, { SnapshotIds }, snapshotsPage, options),
      ({ id }) => id,
    );
    this.#byTag = new ByTag(clock, (Filters, options) =>
      scanPages(caller, describeSnapshots, { OwnerIds: ["self"], Filters }, snapshotsPage, options),
    );
  }

  /** What AWS says of one snapshot, asked for by its id, which must have the form of one. */
  async lookup(id: string, ask: Ask): Promise<SnapshotLookup> {
    try {
      const snapshot = await this.#byId.get(id, ask);
      return snapshot === undefined ? { kind: "absent" } : { kind: "found", snapshot };
    } catch (error) {
      if (isNotFound(error, id)) return { kind: "not-found" };
      throw error;
    }
  }

  /** The snapshots of this account that carry a tag with this value. */
  tagged(key: string, value: string, ask: Ask): Promise<readonly Snapshot[]> {
    return this.#byTag.get(key, value, ask);
  }

  /** One page of this account's snapshots that match the filters. AWS takes 5 for the smallest page. */
  page(filters: readonly Filter[], most: number | undefined, token: string | undefined, ask: Ask): Promise<Page<Snapshot>> {
    const input = {
      OwnerIds: ["self"],
      Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })),
      ...(most === undefined ? {} : { MaxResults: most }),
      ...(token === undefined ? {} : { NextToken: token }),
    };
    return this.#caller.scan(describeSnapshots, input, snapshotsPage, { urgency: "user", ...ask });
  }
}
