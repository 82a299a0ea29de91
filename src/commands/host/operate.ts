/** A process with several programs in it: one connection to AWS and to the API server, one set of informers, all leases. */
import { selfOnNode } from "../../identity/self.ts";
import { CloudUnusable } from "../../process/errors.ts";
import { apiServerAccess, electionTimings } from "../../process/flags.ts";
import type { LeadershipOptions } from "../../process/leadership.ts";
import { operate as operateProcess } from "../../process/operate.ts";
import { openSecurePort } from "../../process/secure-port.ts";
import { loadCloudConfig } from "../controller-manager/load-cloud-config.ts";
import type { Life } from "../long-running.ts";
import { electionOf, type ProcessOptions } from "./flags.ts";
import type { HostedParts, SharedSettings } from "./hosted.ts";
import type { Settled } from "./settle.ts";

/**
 * Runs until asked to stop, which is done gracefully; rejects with what made it end otherwise. One that acts on its own node alone
 * (`onNode`) does not ask AWS where it is.
 */
export async function operate(
  component: string,
  { options, programs }: Settled,
  { version, host, logs, network, stop }: Life,
  { onNode = false } = {},
): Promise<void> {
  const cloudConfig = await loadCloudConfig(host, options).catch((cause: unknown) => {
    throw new CloudUnusable(cause);
  });
  const shared: SharedSettings = { host, cloudConfig, network };
  const parts: HostedParts[] = [];
  for (const { program, options: given } of programs) parts.push(await program.configure(given, shared));
  await operateProcess({
    version,
    host,
    network,
    stop,
    kube: { component, ...apiServerAccess(options) },
    aws: cloudConfig.aws,
    ...(onNode && { self: selfOnNode(cloudConfig.aws, host.world.environment.NODE_NAME ?? "") }),
    leadership: leadershipOf(component, options, parts),
    serve: (health) =>
      openSecurePort(host, options, {
        logs,
        health,
        configuration: () => Object.assign({}, ...parts.map(({ configuration }) => configuration)),
      }),
    programs: parts.map(({ program }) => program),
    apart: true,
    minResyncMs: options["min-resync-period"],
  });
}

const dryRunSuffix = "-dry-run";

/** The process's own lease first, then those of its programs: two processes that want some of the same wait for the first they share. */
function leadershipOf(component: string, options: ProcessOptions, parts: readonly HostedParts[]): Omit<LeadershipOptions, "client"> {
  const dryRun = options["dry-run"];
  const election = electionOf(options);
  const name = options["leader-elect-resource-name"] ?? component;
  // A dry run must never hold up, or be held up by, those in charge: neither of the process nor of a program that has no dry run.
  const named = <T extends { readonly name: string }>(lease: T): T =>
    dryRun && !lease.name.endsWith(dryRunSuffix) ? { ...lease, name: lease.name + dryRunSuffix } : lease;
  const home = named({ namespace: options["leader-elect-resource-namespace"] ?? "kube-system", name });
  const [migration] = parts.flatMap((part) => part.migration ?? []);
  return {
    leases: election ? [{ ...home, timings: electionTimings(election) }, ...parts.flatMap(({ leases }) => leases).map(named)] : [],
    ...(migration && { migration }),
    home,
    dryRun,
  };
}
