/** What was asked of AWS, how it went and for whom: counted in metrics, and the latest calls kept to explain things by. */
import { Counter, Histogram, type Registry } from "prom-client";
import type { AwsError, ErrorClass } from "./errors.ts";
import { type ServiceName, serviceFacts } from "./services.ts";

export interface CallRecord {
  /** Wall-clock milliseconds at its end. */
  readonly at: number;
  readonly service: ServiceName;
  readonly action: string;
  readonly region: string;
  readonly outcome: "ok" | "refused" | "cancelled" | ErrorClass;
  readonly code?: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly attempts: number;
  /** From being asked to the end, waiting included. */
  readonly durationMs: number;
  /** Spent waiting for the budget and between attempts. */
  readonly waitedMs: number;
  /** Who wanted it: `node lifecycle`, `startup`. */
  readonly cause: string;
}

const kept = 500;

/** The latest calls of one `Cloud`, oldest first. */
export class Ledger {
  readonly #metrics: CallMetrics;
  readonly #records: CallRecord[] = [];
  readonly #followers: LedgerFollower[] = [];

  constructor(metrics: CallMetrics) {
    this.#metrics = metrics;
  }

  get latest(): readonly CallRecord[] {
    return this.#records;
  }

  record(call: CallRecord): void {
    this.#records.push(call);
    if (this.#records.length > kept) this.#records.shift();
    this.#metrics.called(call);
    for (const { called } of this.#followers) called?.(call);
  }

  /** Tells of everything that is asked, and what came of it, from now on. */
  follow(follower: LedgerFollower): void {
    this.#followers.push(follower);
  }

  attempted(attempt: AttemptRecord): void {
    this.#metrics.attempted(attempt.service, attempt.action, attempt.failure);
    for (const { attempted } of this.#followers) attempted?.(attempt);
  }
}

export interface LedgerFollower {
  /** A request was sent, and answered or not. */
  readonly attempted?: (attempt: AttemptRecord) => void;
  /** A call has ended, after all of its requests. */
  readonly called?: (call: CallRecord) => void;
}

/** One request to AWS. */
export interface AttemptRecord {
  readonly service: ServiceName;
  readonly action: string;
  readonly durationMs: number;
  readonly failure: AwsError | undefined;
}

/** How the reference names the few requests it times. */
const referenceNames: Readonly<Record<string, string>> = {
  DescribeInstances: "describe_instance",
  DescribeNetworkInterfaces: "describe_network_interfaces",
  DescribeSecurityGroups: "describe_security_groups",
  DescribeRouteTables: "describe_route_tables",
  CreateTags: "create_tags",
  DeleteTags: "delete_tags",
};

/** The metrics of all calls of one process: the reference's names for what it counts, ours for everything. */
export class CallMetrics {
  readonly #referenceDuration: Histogram<"request">;
  readonly #referenceErrors: Counter<"request">;
  readonly #referenceThrottled: Counter<"operation_name">;
  readonly #referenceStatus: Counter<"service" | "operation" | "status_code">;
  readonly #duration: Histogram<"service" | "operation" | "outcome">;
  readonly #waited: Histogram<"service" | "operation">;
  readonly #attempts: Counter<"service" | "operation" | "outcome">;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#referenceDuration = new Histogram({
      name: "cloudprovider_aws_api_request_duration_seconds",
      help: "Latency of successful AWS API calls",
      labelNames: ["request"],
      registers,
    });
    this.#referenceErrors = new Counter({
      name: "cloudprovider_aws_api_request_errors",
      help: "AWS API errors",
      labelNames: ["request"],
      registers,
    });
    this.#referenceThrottled = new Counter({
      name: "cloudprovider_aws_api_throttled_requests_total",
      help: "AWS API calls that ended throttled",
      labelNames: ["operation_name"],
      registers,
    });
    this.#referenceStatus = new Counter({
      name: "cloudprovider_aws_api_response_status_total",
      help: "AWS API calls that ended with an HTTP status of 400 or above",
      labelNames: ["service", "operation", "status_code"],
      registers,
    });
    this.#duration = new Histogram({
      name: "fairlead_aws_call_duration_seconds",
      help: "Time from asking for an AWS API call to its end, waiting and retries included",
      labelNames: ["service", "operation", "outcome"],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registers,
    });
    this.#waited = new Histogram({
      name: "fairlead_aws_budget_wait_seconds",
      help: "Time an AWS API call waited for its budget and between attempts",
      labelNames: ["service", "operation"],
      buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
      registers,
    });
    this.#attempts = new Counter({
      name: "fairlead_aws_attempts_total",
      help: "Requests sent to AWS, by outcome",
      labelNames: ["service", "operation", "outcome"],
      registers,
    });
  }

  attempted(service: ServiceName, operation: string, failure: AwsError | undefined): void {
    this.#attempts.inc({ service, operation, outcome: failure?.class ?? "ok" });
  }

  called(call: CallRecord): void {
    const { service, action: operation, outcome, status } = call;
    this.#duration.observe({ service, operation, outcome }, call.durationMs / 1000);
    this.#waited.observe({ service, operation }, call.waitedMs / 1000);
    const request = service === "ec2" ? referenceNames[operation] : undefined;
    if (request !== undefined) {
      if (outcome === "ok") this.#referenceDuration.observe({ request }, call.durationMs / 1000);
      else if (outcome !== "refused" && outcome !== "cancelled") this.#referenceErrors.inc({ request });
    }
    if (outcome === "throttled") this.#referenceThrottled.inc({ operation_name: operation });
    if (status !== undefined && status >= 400) {
      this.#referenceStatus.inc({ service: serviceFacts(service).sdkId, operation, status_code: String(status) });
    }
  }
}
