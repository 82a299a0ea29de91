/** Waiting until a volume is filled from its snapshot, for classes that ask for it. */
import { sleep } from "../../runtime/world.ts";
import { CsiError, wrapped } from "../csi/errors.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";

const leastMs = 60_000;
const withoutEstimateMs = 2 * 60_000;

/** Returns when it is; until its caller gives up, which then asks again. */
export async function initialised(volumeId: string, rpc: Rpc, { cloud, host, initialisedVolumes }: ControllerContext): Promise<void> {
  if (initialisedVolumes.has(volumeId)) return;
  for (;;) {
    const status = await cloud.volumes.initialization(volumeId, ask(rpc)).catch((error: unknown) => {
      throw wrapped(`Cannot validate that volume ${JSON.stringify(volumeId)} is initialized while polling EC2 DescribeVolumeStatus`, error);
    });
    if (status === undefined) throw new CsiError("Internal", `EC2 gives no status of volume ${JSON.stringify(volumeId)}`);
    if (status.state !== "initializing") {
      initialisedVolumes.note(volumeId);
      return;
    }
    const waitMs = status.secondsLeft === undefined ? withoutEstimateMs : Math.max(leastMs, status.secondsLeft * 1000);
    await sleep(host.world.clock, waitMs, rpc.signal);
  }
}
