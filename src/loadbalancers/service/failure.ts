/** How a Service is told that its load balancer could not be brought to its wanted state, and that it is well again. */

import { awsErrorIn, type ErrorClass, sameFailure } from "../../aws/errors.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { SeenService } from "../service-state.ts";
import type { ServiceContext } from "./context.ts";
import type { Remembered } from "./memory.ts";
import { syncedCondition } from "./report.ts";

const reasons: Readonly<Partial<Record<ErrorClass, string>>> = {
  denied: "AccessDenied",
  throttled: "Throttled",
  "limit-exceeded": "QuotaExceeded",
  credentials: "CredentialsRefused",
  "expired-credentials": "CredentialsExpired",
};

/** In an Event that counts: with each try the same failure has another request id, and the Event has the latest. */
export function tellFailure(service: SeenService, error: unknown, { report }: ServiceContext): void {
  const text = `Error syncing load balancer: ${messageOf(error)}`;
  report.tell(service, "Warning", "SyncLoadBalancerFailed", text, sameFailure(error));
}

/** In a condition that is written once for a failure, however often it is retried. It has the first request id. */
export async function keepFailure(
  service: SeenService,
  remembered: Remembered,
  error: unknown,
  { report, host }: ServiceContext,
  signal: AbortSignal,
): Promise<void> {
  const failure = sameFailure(error);
  if (remembered.failure === failure) return;
  const aws = awsErrorIn(error);
  const reason = aws === undefined ? "SyncFailed" : (reasons[aws.class] ?? "RefusedByAWS");
  try {
    await report.condition(service, syncedCondition, { status: "False", reason, message: messageOf(error) }, signal);
    remembered.failure = failure;
  } catch (unsaid) {
    // The failure itself is what has to be dealt with, and is said by an Event too.
    signal.throwIfAborted();
    host.log.warn("a condition was not written", { service: `${service.metadata.namespace}/${service.metadata.name}`, error: unsaid });
  }
}

/** It is over. */
export async function forgetFailure(
  service: SeenService,
  remembered: Remembered,
  { report }: ServiceContext,
  signal: AbortSignal,
): Promise<void> {
  if (remembered.failure !== undefined) await report.withdrawCondition(service, syncedCondition, signal);
  else await report.condition(service, syncedCondition, undefined, signal);
  delete remembered.failure;
}
