/** What the work on a Service has in common: telling of failures, and the log. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { FailureReason } from "../controller-report.ts";
import type { SeenService } from "../service-state.ts";
import type { ClassContext } from "./context.ts";
import { keyOf } from "./view.ts";

/** How soon something that AWS needs time for is looked at again. */
export const waitMs = 5_000;
/** How soon a Service is looked at again that was not as it was seen. */
export const staleMs = 1_000;

/** A stage of the work, as metrics name it, and what its failure is called. */
export interface Stage {
  readonly name: string;
  readonly reason: FailureReason;
}

export const stages = {
  build: { name: "build_model", reason: "FailedBuildModel" },
  addFinalizer: { name: "add_finalizers", reason: "FailedAddFinalizer" },
  deploy: { name: "deploy_model", reason: "FailedDeployModel" },
  status: { name: "update_status", reason: "FailedUpdateStatus" },
  cleanUp: { name: "cleanup_load_balancer", reason: "FailedDeployModel" },
  clearStatus: { name: "update_status", reason: "FailedCleanupStatus" },
  removeFinalizer: { name: "cleanup_load_balancer", reason: "FailedRemoveFinalizer" },
} as const satisfies Readonly<Record<string, Stage>>;

/** Does the work of a stage. A failure is counted, and told where users look. */
export function during<T>(stage: Stage, service: SeenService, context: ClassContext, { signal }: Ask, work: () => Promise<T>) {
  const { report, metrics, backendGroup } = context;
  return metrics.stage(stage.name, async () => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      backendGroup.noteFailure(error);
      report.failed(service, stage.reason, messageOf(error));
      throw error;
    }
  });
}

/** Says in the log what was done. */
export const logStep =
  ({ host }: Pick<ClassContext, "host">, { view }: SeenService) =>
  ({ what, why }: Step) =>
    host.log.info(what, { why, service: keyOf(view) });
