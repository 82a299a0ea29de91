/** Flags of a process that hosts programs: what it has once, whatever it hosts. */
import { apiServerFlags, globalFlags, kubeconfigFlags, type LeaderElectionFlags, leaderElectionFlags } from "../../process/flags.ts";
import { authenticationFlags, authorizationFlags, debuggingFlags, secureServingFlags } from "../../process/secure-port-flags.ts";
import { type FlagSection, type FlagValues, flag } from "../../runtime/flags.ts";
import { string } from "../../runtime/flags-kinds.ts";
import { genericFlags } from "../controller-manager/flags-generic.ts";

/** The part of the file that says what runs. */
const hostFlags = {
  config: flag(string, "", "The YAML file that says which programs run: one section per program, with that program's own flags."),
  "dry-run": genericFlags["dry-run"],
  "min-resync-period": genericFlags["min-resync-period"],
  "use-service-account-credentials": genericFlags["use-service-account-credentials"],
};

/** How AWS is reached, and what is known of the cluster's place in it. */
const awsFlags = { "cloud-config": genericFlags["cloud-config"], "strict-cloud-config": genericFlags["strict-cloud-config"] };

const servingFlags = { ...secureServingFlags, "secure-port": { ...secureServingFlags["secure-port"], default: 10270 } };

const common = {
  ...hostFlags,
  ...awsFlags,
  ...kubeconfigFlags,
  ...apiServerFlags,
  ...debuggingFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...globalFlags,
};

/** Flags that make no sense inside the file. */
export const commandLineOnly = ["config", "help", "version"];

/** The flags of a process that leads by a lease of this name, or, without one, of a process that is alone where it runs. */
export function processFlags(lease: string | undefined): ProcessFlags {
  return { ...common, ...(lease === undefined ? {} : leaderElectionFlags(lease)) };
}

/** The same in the order `--help` shows them. */
export function processSections(lease: string | undefined): readonly FlagSection[] {
  return [
    { title: "Host", flags: hostFlags },
    { title: "AWS", flags: awsFlags },
    { title: "API server", flags: { ...kubeconfigFlags, ...apiServerFlags } },
    ...(lease === undefined ? [] : [{ title: "Leader election", flags: leaderElectionFlags(lease) }]),
    { title: "Secure serving", flags: servingFlags },
    { title: "Authentication", flags: authenticationFlags },
    { title: "Authorization", flags: authorizationFlags },
    { title: "Debugging", flags: debuggingFlags },
    { title: "Global", flags: globalFlags },
  ];
}

export type ProcessFlags = typeof common;
export type ProcessOptions = FlagValues<ProcessFlags> & Partial<LeaderElectionFlags>;

/** How it leads; undefined when it needs no lease, by its nature or because the user says so. */
export function electionOf(options: ProcessOptions): LeaderElectionFlags | undefined {
  return options["leader-elect"] === true ? (options as LeaderElectionFlags) : undefined;
}
