/** Flags that several programs have: the API server, leader election, help, version and the log. */
import type { RateLimit } from "../kube/client.ts";
import type { ElectionTimings } from "../runtime/election-timings.ts";
import { type FlagValues, flag, type Kind, undecided } from "../runtime/flags.ts";
import { goQuote, parseGoBool } from "../runtime/flags-go.ts";
import { bool, duration, float32, int32, level, quantity, string, vmodule } from "../runtime/flags-kinds.ts";

/** How the API server is found. */
export const kubeconfigFlags = {
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  master: flag(string, "", "Address of the API server; overrides the kubeconfig's."),
};

/** How it is spoken to. */
export const apiServerFlags = {
  "kube-api-burst": undecided(
    int32,
    "no client-side limit: the API server's fairness decides",
    "Largest burst of requests to the API server.",
  ),
  "kube-api-content-type": flag(string, "application/vnd.kubernetes.protobuf", "Accepted for compatibility; requests are JSON."),
  "kube-api-qps": undecided(float32, "no client-side limit: the API server's fairness decides", "Requests to the API server per second."),
};

/** How a program with these flags reaches the API server. */
export function apiServerAccess(
  options: FlagValues<typeof apiServerFlags> & FlagValues<typeof kubeconfigFlags> & Readonly<Record<OwnAccountFlag, boolean>>,
) {
  return {
    kubeconfig: options.kubeconfig,
    master: options.master,
    limit: rateLimit(options),
    // A dry run makes no service accounts; what it reads it reads as itself.
    ownAccounts: options["use-service-account-credentials"] && !options["dry-run"],
  };
}

type OwnAccountFlag = "use-service-account-credentials" | "dry-run";

/** No limit unless one is given; a rate of 0 or less is none either. */
function rateLimit(options: FlagValues<typeof apiServerFlags>): RateLimit | undefined {
  const qps = options["kube-api-qps"];
  const burst = options["kube-api-burst"];
  if ((qps === undefined && burst === undefined) || (qps !== undefined && qps <= 0)) return undefined;
  return { qps: qps ?? 20, burst: burst ?? 30 };
}

/** The lease by which one of several replicas acts, and the name it has unless the user says otherwise. */
export function leaderElectionFlags(lease: string) {
  return {
    "leader-elect": flag(bool, true, "Hold a Lease while controllers run, so that of several replicas only one acts."),
    "leader-elect-lease-duration": flag(
      duration,
      15_000,
      "How long candidates wait after the last renewal they saw before they take the Lease.",
    ),
    "leader-elect-renew-deadline": flag(
      duration,
      10_000,
      "How long the leader keeps working without renewing the Lease. Less than the lease duration.",
    ),
    "leader-elect-resource-lock": flag(string, "leases", "Kind of object the leader holds. Must be 'leases'."),
    "leader-elect-resource-name": flag(string, lease, "Name of the Lease."),
    "leader-elect-resource-namespace": flag(string, "kube-system", "Namespace of the Lease, and of the Lease of leader migration."),
    "leader-elect-retry-period": flag(duration, 2_000, "Pause between two attempts to acquire or renew the Lease."),
  };
}

export type LeaderElectionFlags = FlagValues<ReturnType<typeof leaderElectionFlags>>;

/** The flags' timings of leader election. */
export function electionTimings(options: LeaderElectionFlags): ElectionTimings {
  return {
    leaseDurationMs: options["leader-elect-lease-duration"],
    renewDeadlineMs: options["leader-elect-renew-deadline"],
    retryPeriodMs: options["leader-elect-retry-period"],
  };
}

/** What `--version` asks for. */
export interface VersionRequest {
  readonly print: "no" | "short" | "raw";
  /** The version to report in place of our own. */
  readonly reported?: string;
}

const version: Kind<VersionRequest> = {
  type: "version",
  bare: "true",
  parse(text, before) {
    if (text === "raw") return { ...before, print: "raw" };
    if (!text.startsWith("v")) return { ...before, print: parseGoBool(text) ? "short" : "no" };
    if (!/^v\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/.test(text)) throw new SyntaxError(`illegal version string ${goQuote(text)}`);
    return { print: before?.print ?? "no", reported: text };
  },
  print: ({ print }) => ({ no: "false", short: "true", raw: "raw" })[print],
};

/** Help, version and the log. */
export const globalFlags = {
  help: flag(bool, false, "Print this help.", { shorthand: "h" }),
  "log-flush-frequency": flag(duration, 5_000, "Accepted for compatibility; log lines are not buffered."),
  "log-text-info-buffer-size": flag(quantity, 0, "Accepted for compatibility, with feature gate LoggingAlphaOptions only; has no effect."),
  "log-text-split-stream": flag(bool, false, "Accepted for compatibility, with feature gate LoggingAlphaOptions only; has no effect."),
  "logging-format": undecided(string, "text on a terminal, else json", "Format of the log: text or json."),
  v: flag(level, 0, "Verbosity of the log.", { shorthand: "v" }),
  version: flag(
    version,
    { print: "no" },
    "Print the version and exit; raw prints everything known about the build; vX.Y.Z sets the version that is reported.",
  ),
  vmodule: flag(
    vmodule,
    {},
    "Verbosity of parts of the program: pattern=N, matched against the field logger of a line; * matches anything.",
  ),
};
