/** EBS volumes: by id and by tag, with their last modification and how far they are filled from their snapshot. */
import type { DescribeVolumesRequest } from "@aws-sdk/client-ec2";
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import type { Caller, CallOptions } from "./caller.ts";
import { ById, ByTag, isNotFound } from "./described.ts";
import { describeVolumeStatus, describeVolumes, describeVolumesModifications } from "./ec2-actions.ts";
import type { Filter } from "./instances.ts";
import { scanPages } from "./pages.ts";
import {
  modificationsPage,
  statusesPage,
  type Volume,
  type VolumeInitialization,
  type VolumeModification,
  volumesPage,
} from "./volume-shapes.ts";

export type { Volume, VolumeAttachment, VolumeInitialization, VolumeModification } from "./volume-shapes.ts";

/** What is known of one id. Only `not-found` says that AWS does not know it: it was asked for by id, and named in the refusal. */
export type VolumeLookup =
  | { readonly kind: "found"; readonly volume: Volume }
  | { readonly kind: "not-found" }
  /** Missing from an answer that should have it. Proves nothing. */
  | { readonly kind: "absent" };

export class Volumes {
  readonly #list: (filters: readonly Filter[], ask: Ask) => Promise<readonly Volume[]>;
  readonly #byId: ById<Volume>;
  readonly #byTag: ByTag<Volume>;
  readonly #modifications: ById<VolumeModification>;
  readonly #statuses: ById<VolumeInitialization>;

  constructor(caller: Caller, clock: Clock) {
    const volumes = (input: DescribeVolumesRequest, options: CallOptions) =>
      scanPages(caller, describeVolumes, input, volumesPage, options);
    this.#list = (filters, ask) =>
      volumes({ MaxResults: 500, Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })) }, ask);
    this.#byId = new ById(
      clock,
      (VolumeIds, options) => volumes({ VolumeIds }, options),
      ({ id }) => id,
    );
    this.#byTag = new ByTag(clock, (Filters, options) => volumes({ Filters }, options));
    this.#modifications = new ById(
      clock,
      (VolumeIds, options) => scanPages(caller, describeVolumesModifications, { VolumeIds }, modificationsPage, options),
      ({ volumeId }) => volumeId,
    );
    this.#statuses = new ById(
      clock,
      (VolumeIds, options) => scanPages(caller, describeVolumeStatus, { VolumeIds }, statusesPage, options),
      ({ volumeId }) => volumeId,
    );
  }

  /** What AWS says of one volume, asked for by its id, which must have the form of one. */
  async lookup(id: string, ask: Ask): Promise<VolumeLookup> {
    try {
      const volume = await this.#byId.get(id, ask);
      return volume === undefined ? { kind: "absent" } : { kind: "found", volume };
    } catch (error) {
      if (isNotFound(error, id)) return { kind: "not-found" };
      throw error;
    }
  }

  /** Every volume that matches the filters. */
  list(filters: readonly Filter[], ask: Ask): Promise<readonly Volume[]> {
    return this.#list(filters, ask);
  }

  /** The volumes that carry a tag with this value. */
  tagged(key: string, value: string, ask: Ask): Promise<readonly Volume[]> {
    return this.#byTag.get(key, value, ask);
  }

  /** The last modification of a volume; undefined when it was never modified. */
  async modification(id: string, ask: Ask): Promise<VolumeModification | undefined> {
    try {
      return await this.#modifications.get(id, ask);
    } catch (error) {
      if (isNotFound(error, id)) return undefined;
      throw error;
    }
  }

  /** How far a volume is filled from its snapshot; undefined when AWS does not tell. */
  initialization(id: string, ask: Ask): Promise<VolumeInitialization | undefined> {
    return this.#statuses.get(id, ask);
  }
}
