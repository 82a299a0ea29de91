/** The volume that a process before this one may have asked EC2 for, found by its name. */
import { sleep } from "../../runtime/world.ts";
import { bytesOf } from "../capacity.ts";
import { CsiError } from "../csi/errors.ts";
import type { VolumeAnswer } from "../csi/messages.ts";
import { tagKeys } from "../names.ts";
import { inFlightMs } from "../poll.ts";
import { segmentsOf } from "../topology.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";

/** Undefined when there is none, which is said only when none can come any more. */
export async function madeVolume(name: string, rpc: Rpc, context: ControllerContext): Promise<VolumeAnswer | undefined> {
  const { cloud, host, startedAt } = context;
  const { clock } = host.world;
  const certainInMs = startedAt + inFlightMs - clock.monotonic();
  if (certainInMs > 0) await sleep(clock, certainInMs, rpc.signal);
  const all = await cloud.volumes.tagged(tagKeys.volumeName, name, ask(rpc));
  const [volume, ...others] = all.filter(({ state }) => state !== "deleting" && state !== "deleted");
  if (volume === undefined) return undefined;
  if (others.length > 0) {
    const ids = [volume, ...others].map(({ id }) => id).join(", ");
    throw new CsiError("Aborted", `there are several volumes of the name ${name}: ${ids}`);
  }
  return {
    volumeId: volume.id,
    capacityBytes: bytesOf(volume.sizeGiB),
    volumeContext: {},
    contentSource: null,
    accessibleTopology: [segmentsOf(volume)],
  };
}
