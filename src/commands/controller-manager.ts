/** `fairlead controller-manager`. */
import { exitStatus } from "../process/exit.ts";
import { flagLines } from "../runtime/flags.ts";
import { gateWarnings } from "./controller-manager/feature-gates.ts";
import { flagSections, flagTable } from "./controller-manager/flags.ts";
import { optionWarnings, validateOptions } from "./controller-manager/validate.ts";
import { longRunning } from "./long-running.ts";
import { globalFlagsReader } from "./read-flags.ts";

export { flagSections as sections } from "./controller-manager/flags.ts";

const name = "cloud-controller-manager";

/** As the reference ends whatever is wrong. */
const refused = { status: exitStatus.fatal, told: "cobra" } as const;

/** Runs the command to its exit status. */
export const run = longRunning({
  name,
  description: `Runs the controllers that a Kubernetes cluster on AWS needs: initialises, labels and removes nodes,
keeps load balancers for Services, routes for pods, and tags.`,
  sections: flagSections,
  refusals: { commandLine: refused, configuration: refused, failed: exitStatus.fatal },
  read: globalFlagsReader({
    name,
    flags: flagTable,
    product: "Kubernetes",
    prepare: async ({ values: options }) => ({
      options,
      shown: flagLines(flagTable, options),
      check() {
        validateOptions(options);
        return [...gateWarnings(options["feature-gates"]), ...optionWarnings(options)];
      },
      maxStallMs: options["leader-elect-retry-period"],
      async operate(life) {
        const [{ operate }, { controllerTable }] = await Promise.all([
          import("./controller-manager/operate.ts"),
          import("./controller-manager/controller-table.ts"),
        ]);
        await operate({ options, table: controllerTable, ...life });
      },
    }),
  }),
});
