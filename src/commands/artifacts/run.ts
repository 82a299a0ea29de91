/** `fairlead artifacts run`. */
import { exitStatus } from "../../process/exit.ts";
import { flagLines } from "../../runtime/flags.ts";
import { longRunning } from "../long-running.ts";
import { globalFlagsReader } from "../read-flags.ts";
import { checkProcess, runFlags, runSections } from "./flags.ts";

const name = "fairlead artifacts run";
const refused = { status: exitStatus.usage, told: "briefly" } as const;

/** Runs the command to its exit status. */
export const runKeeper = longRunning({
  name,
  description: `Keeps in the cluster what a node manager such as Deckhouse's needs of the AWS provider, made from the Secret
kube-system/d8-provider-cluster-configuration. It asks AWS nothing.`,
  sections: runSections,
  refusals: { commandLine: refused, configuration: refused, failed: exitStatus.fatal },
  read: globalFlagsReader({
    name,
    flags: runFlags,
    product: "Fairlead",
    async prepare({ values: options }) {
      return {
        options,
        shown: flagLines(runFlags, options),
        check() {
          checkProcess(options);
          return [];
        },
        maxStallMs: options["leader-elect-retry-period"],
        async operate({ version, host, network, stop }) {
          const { operate } = await import("./operate.ts");
          await operate({ options, version, host, network, stop });
        },
      };
    },
  }),
});
