/** The flags of `fairlead artifacts run`. */
import { electionProblems, loggingProblems, OptionsInvalid } from "../../process/flag-problems.ts";
import { globalFlags, kubeconfigFlags, leaderElectionFlags } from "../../process/flags.ts";
import { type FlagSection, type FlagValues, flag } from "../../runtime/flags.ts";
import { bool, string } from "../../runtime/flags-kinds.ts";
import { parseListenAddress } from "../../runtime/plain-serving.ts";
import { genericFlags } from "../controller-manager/flags-generic.ts";

const own = {
  settings: flag(
    string,
    "kube-system/fairlead-artifacts",
    "The ConfigMap, as namespace/name, whose key settings.yaml holds the settings. Without it the defaults count.",
  ),
  "instance-classes": flag(bool, true, "Write the status of AWSInstanceClasses, and tell of those from which no machine can be made."),
  "spot-nodes": flag(bool, true, "Mark Nodes with the taint of a spot interruption, so that the platform drains and replaces them."),
  "host-addresses": flag(bool, true, "Delete pods of the controller manager whose machine has got another address."),
  "wait-for-masters": flag(
    bool,
    false,
    "Say that it is not ready, and by Events, while masters have not been initialised by a controller manager for two minutes.",
  ),
  "root-disk-migration": flag(
    bool,
    false,
    "Write the size of root disks, 20 GiB, into the stored configuration of a cluster that was installed before release 1.63 and lacks it. The Secret is saved first.",
  ),
  "dry-run": genericFlags["dry-run"],
  "listen-address": flag(string, "127.0.0.1:8082", "Where /metrics, /healthz, /livez and /readyz are served, without TLS. Empty: nowhere."),
};

const election = leaderElectionFlags("fairlead-artifacts");

export const runFlags = { ...own, ...kubeconfigFlags, ...election, ...globalFlags };

export const runSections: readonly FlagSection[] = [
  { title: "Artifacts", flags: own },
  { title: "API server", flags: kubeconfigFlags },
  { title: "Leader election", flags: election },
  { title: "Global", flags: globalFlags },
];

export type RunOptions = FlagValues<typeof runFlags>;

/** What only a process of its own has. */
export function checkProcess(options: RunOptions): void {
  const problems = [...loggingProblems(options, false), ...electionProblems(options), ...settingsProblems(options)];
  const address = options["listen-address"];
  if (address !== "" && parseListenAddress(address) === undefined) problems.push(`--listen-address=${address}: it must be host:port`);
  if (problems.length > 0) throw new OptionsInvalid(problems);
}

/** What is wrong with its own flags, wherever it runs. */
export function settingsProblems({ settings }: Pick<RunOptions, "settings">): string[] {
  return /^[^/]+\/[^/]+$/.test(settings) ? [] : [`--settings=${settings}: it must be namespace/name of a ConfigMap`];
}
