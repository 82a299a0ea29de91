/** `fairlead cloud-data-discoverer`. */
import { flagSections, type Options, parseOptions } from "./cloud-data-discoverer/flags.ts";
import { atLeast, type Importance } from "./cloud-data-discoverer/log-level.ts";
import { longRunning } from "./long-running.ts";

export { flagSections as sections } from "./cloud-data-discoverer/flags.ts";

/** Runs the command to its exit status: 1 for whatever is wrong, 0 when it is asked to stop. */
export const run = longRunning({
  name: "cloud-data-discoverer",
  description: `Tells a platform what its AWS account offers: instance types for the cluster autoscaler, zones, subnets, security groups and
images of the cluster, permissions that are missing, and disks that nothing in the cluster knows. Reads AWS_REGION and CLUSTER_UUID.`,
  sections: flagSections,
  refusals: { commandLine: { status: 1 }, configuration: { status: 1 }, failed: 1 },
  async read({ argv, world }) {
    const options = parseOptions(argv, world.environment);
    if (options.help) return { kind: "help" };
    return {
      kind: "run",
      log: { format: "json", verbosity: options.v <= -8 ? 6 : options.v < 0 ? 4 : 0 },
      shown: [],
      check: () => [],
      maxStallMs: 2_000,
      async operate({ host, network, stop }) {
        const { operate } = await import("./cloud-data-discoverer/operate.ts");
        await operate({ options, host: { ...host, log: atLeast(host.log, importanceOf(options)) }, network, stop });
      },
    };
  },
});

/** The levels of Go's slog, in steps of four. */
function importanceOf({ v }: Options): Importance {
  if (v >= 12) return "none";
  if (v >= 8) return "error";
  return v >= 4 ? "warn" : "info";
}
