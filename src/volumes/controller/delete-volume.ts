/** DeleteVolume: only what carries a mark of this driver, of its reference, or of the cluster. */

import { isNotFound } from "../../aws/described.ts";
import { deleteVolume as deleteVolumeAction } from "../../aws/ec2-actions.ts";
import { sleep } from "../../runtime/world.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { DeleteVolumeRequest } from "../csi/messages.ts";
import { isVolumeId, tagKeys } from "../names.ts";
import { lagMs } from "../poll.ts";
import { isMarked, markNames } from "../tags.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";

export async function deleteVolume({ volumeId }: DeleteVolumeRequest, rpc: Rpc, context: ControllerContext): Promise<void> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  // EC2 has never given out such an id.
  if (!isVolumeId(volumeId)) return;
  const refusal = `An operation with the given Volume ${volumeId} already exists`;
  await context.inFlight.run(volumeId, refusal, async () => {
    try {
      const name = await nameToDelete(volumeId, rpc, context);
      if (name === undefined) return;
      await context.cloud.call(deleteVolumeAction, { VolumeId: volumeId }, { ...ask(rpc), target: volumeId, repeatable: true });
      // Should the name ever be asked for again, it is for another volume.
      if (name !== "") context.tokens.rotate(name);
      context.made.forget(volumeId);
      context.deleted.note(volumeId);
    } catch (error) {
      if (isNotFound(error, volumeId)) return;
      throw wrapped(`Could not delete volume ID ${JSON.stringify(volumeId)}`, error);
    }
  });
}

/** The name of a volume that may be deleted, empty if it has none; undefined when it is gone or going. Refused without a mark. */
async function nameToDelete(id: string, rpc: Rpc, context: ControllerContext): Promise<string | undefined> {
  // Made by this process a moment ago, with our tags: EC2 may not show it yet, and it must not be left behind.
  if (context.made.has(id)) return context.made.detail(id);
  let found = await context.cloud.volumes.lookup(id, ask(rpc));
  if (found.kind === "not-found") {
    if (context.deleted.has(id)) return undefined;
    // Another replica may have made it a moment ago.
    await sleep(context.host.world.clock, lagMs, rpc.signal);
    found = await context.cloud.volumes.lookup(id, ask(rpc));
    if (found.kind === "not-found") return undefined;
  }
  if (found.kind === "absent") throw new CsiError("Internal", "EC2's answer lacks it");
  const { state, tags } = found.volume;
  if (state === "deleting" || state === "deleted") return undefined;
  if (isMarked(tags, context.settings.tags.clusterId)) return tags[tagKeys.volumeName] ?? "";
  throw new CsiError(
    "FailedPrecondition",
    `it carries none of the tags ${markNames.join(", ")} and is left alone: tag it to have it deleted, or delete it by hand`,
  );
}
