/** Whether EC2 can be reached with the credentials there are: asked at start and every few hours, not at each probe. */
import { describeAvailabilityZones } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import { CsiError, textOf } from "../csi/errors.ts";
import type { Rpc } from "../rpc.ts";
import { ask, type ControllerContext } from "./context.ts";

const goodForMs = 3 * 60 * 60_000;

/** A check for `Probe`: rejects when EC2 does not answer as it should. */
export function ec2Check({ cloud, host }: ControllerContext): (rpc: Rpc) => Promise<void> {
  let goodAt = Number.NEGATIVE_INFINITY;
  return async (rpc) => {
    if (host.world.clock.monotonic() - goodAt < goodForMs) return;
    try {
      await cloud.call(describeAvailabilityZones, { DryRun: true }, ask(rpc));
    } catch (error) {
      if (isAwsError(error) && error.code === "DryRunOperation") {
        goodAt = host.world.clock.monotonic();
        return;
      }
      const message = `Failed health check (verify network connection and IAM credentials): ${textOf(error)}`;
      throw new CsiError("FailedPrecondition", message, { cause: error });
    }
  };
}
