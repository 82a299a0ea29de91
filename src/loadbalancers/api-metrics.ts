/** What was asked of AWS, under the names that dashboards of the AWS Load Balancer Controller know. */
import type { Registry } from "prom-client";
import type { AttemptRecord, CallRecord, Ledger } from "../aws/ledger.ts";
import { serviceFacts } from "../aws/services.ts";
import { counter, histogram } from "../runtime/metrics.ts";

const byAnswer = ["service", "operation", "status_code", "error_code"] as const;
const byOperation = ["service", "operation"] as const;

/** What an answer that is an error counts as besides: the first that fits. */
const classes: readonly (readonly [name: string, help: string, fits: (error: Refused) => boolean])[] = [
  [
    "aws_api_call_permission_errors_total",
    "Calls that AWS refused for want of permission",
    ({ status, code }) => status === 401 || status === 403 || code === "AccessDeniedException" || code === "AuthFailure",
  ],
  ["aws_api_call_service_limit_exceeded_errors_total", "Calls that met a quota of AWS", ({ code }) => code.includes("LimitExceeded")],
  ["aws_api_call_throttled_errors_total", "Calls that AWS throttled", ({ isThrottled }) => isThrottled],
  ["aws_api_call_validation_errors_total", "Calls whose input AWS refused", ({ code }) => code === "ValidationError"],
];

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly isThrottled: boolean;
}

/** Go's own, which the reference's histograms have. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Counts every call, and every request that it took, of the ledgers that the returned function is told of. What AWS never answered is
 * not counted, as there.
 */
export function exportApiMetrics(registry: Registry): (ledger: Ledger) => void {
  const calls = counter(registry, { name: "aws_api_calls_total", help: "Calls of AWS", labels: byAnswer });
  const callTime = histogram(registry, {
    name: "aws_api_call_duration_seconds",
    help: "Time that a call of AWS took, retries included",
    labels: byOperation,
    buckets,
  });
  const retries = histogram(registry, {
    name: "aws_api_call_retries",
    help: "How often a call of AWS was tried again",
    labels: byOperation,
    buckets: Array.from({ length: 11 }, (_, times) => times),
  });
  const requests = counter(registry, { name: "aws_api_requests_total", help: "Requests to AWS", labels: byAnswer });
  const requestTime = histogram(registry, {
    name: "aws_api_request_duration_seconds",
    help: "Time that a request to AWS took",
    labels: byOperation,
    buckets,
  });
  const errors = classes.map(([name, help, fits]) => ({ metric: counter(registry, { name, help, labels: byAnswer }), fits }));

  const called = ({ service: name, action: operation, status, code = "", outcome, durationMs, attempts }: CallRecord) => {
    const answered = outcome === "ok" ? 200 : status;
    if (answered === undefined) return;
    const service = serviceFacts(name).sdkId;
    const labels = { service, operation, status_code: String(answered), error_code: code };
    calls.inc(labels);
    callTime.observe({ service, operation }, durationMs / 1000);
    retries.observe({ service, operation }, attempts - 1);
    if (outcome === "ok") return;
    errors.find(({ fits }) => fits({ status: answered, code, isThrottled: outcome === "throttled" }))?.metric.inc(labels);
  };
  const attempted = ({ service: name, action: operation, durationMs, failure }: AttemptRecord) => {
    const status = failure === undefined ? 200 : failure.status;
    if (status === undefined) return;
    const service = serviceFacts(name).sdkId;
    requests.inc({ service, operation, status_code: String(status), error_code: failure?.code ?? "" });
    requestTime.observe({ service, operation }, durationMs / 1000);
  };
  const followed = new WeakSet<Ledger>();
  return (ledger) => {
    if (followed.has(ledger)) return;
    followed.add(ledger);
    ledger.follow({ attempted, called });
  };
}
