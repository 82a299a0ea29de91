/** The most IOPS a zone offers for a volume type, found out by a request that EC2 only checks. */
import { Cache } from "../../aws/cache.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { createVolume } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Clock } from "../../runtime/world.ts";
import { clientToken } from "../client-tokens.ts";
import { hasIopsLimits, iopsLimitIn } from "../iops.ts";
import { driverName, tagKeys } from "../names.ts";
import type { Placement } from "../topology.ts";
import { ask, type Rpc } from "./context.ts";

const knownMs = 12 * 60 * 60_000;
/** What EC2 did not tell may be told soon, when a permission is there. */
const unknownMs = 5 * 60_000;

export class ZoneIops {
  readonly #cloud: Cloud;
  readonly #clusterTags: Readonly<Record<string, string>>;
  readonly #cache: Cache<{ readonly max: number | undefined }>;

  constructor(cloud: Cloud, clock: Clock, clusterId: string | undefined) {
    this.#cloud = cloud;
    this.#clusterTags = clusterId ? { [tagKeys.clusterName]: clusterId } : {};
    this.#cache = new Cache({ clock, most: 1_000, absent: { is: ({ max }) => max === undefined, ageMs: unknownMs } });
  }

  /** Undefined when EC2 does not tell, or the type has no such limit. */
  async max(type: string, place: Placement, rpc: Rpc): Promise<number | undefined> {
    if (!hasIopsLimits(type)) return undefined;
    const key = [type.toLowerCase(), place.zone, place.zoneId, place.outpostArn].join("|");
    return (await this.#cache.get(key, knownMs, async () => ({ max: await this.#ask(type, place, rpc) }), "user")).max;
  }

  async #ask(type: string, place: Placement, rpc: Rpc): Promise<number | undefined> {
    const tags = { [tagKeys.volumeName]: "IopsLimitDryRun", [`${driverName}/cluster`]: "true", ...this.#clusterTags };
    const input = {
      DryRun: true,
      // Of the question alone: a token that the SDK makes up would differ each time.
      ClientToken: clientToken(JSON.stringify([type, place])),
      VolumeType: type as "gp3",
      Size: 4,
      Iops: 2 ** 31 - 1,
      ...(place.zone === undefined ? { AvailabilityZoneId: place.zoneId } : { AvailabilityZone: place.zone }),
      ...(place.outpostArn === undefined ? {} : { OutpostArn: place.outpostArn }),
      TagSpecifications: [{ ResourceType: "volume" as const, Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }],
    };
    try {
      await this.#cloud.call(createVolume, input, { ...ask(rpc), target: "nothing (dry run)" });
      return undefined;
    } catch (error) {
      rpc.signal.throwIfAborted();
      return isAwsError(error) ? iopsLimitIn(error.detail) : undefined;
    }
  }
}
