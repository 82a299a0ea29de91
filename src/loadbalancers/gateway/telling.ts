/** What the work on a Gateway has in common: telling of failures, and the log. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { FailureReason } from "../controller-report.ts";
import type { GatewayContext } from "./context.ts";
import type { SeenGateway } from "./report.ts";
import { keyOf } from "./view.ts";

/** How soon something that AWS needs time for is looked at again. */
export const waitMs = 5_000;
/** How soon an object is looked at again that was not as it was seen. */
export const staleMs = 1_000;

/** What the reference calls the work that a reason tells the failure of. */
const stages: Readonly<Partial<Record<FailureReason, string>>> = {
  FailedAddFinalizer: "add_finalizers",
  FailedBuildModel: "build_model",
  FailedDeployModel: "deploy_model",
  FailedUpdateStatus: "update_status",
  FailedRemoveFinalizer: "remove_finalizers",
};

/** Does one part of the work. A failure is counted, and told where users look. */
export function during<T>(
  reason: FailureReason,
  gateway: SeenGateway,
  { report, metrics }: Pick<GatewayContext, "report" | "metrics">,
  { signal }: Ask,
  work: () => Promise<T>,
): Promise<T> {
  return metrics.stage(stages[reason] ?? reason, async () => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      report.failed(gateway, reason, messageOf(error));
      throw error;
    }
  });
}

/** Says in the log what was done. */
export const logStep =
  ({ host }: Pick<GatewayContext, "host">, { view }: SeenGateway) =>
  ({ what, why }: Step) =>
    host.log.info(what, { why, gateway: keyOf(view) });
