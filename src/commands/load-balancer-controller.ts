/** `fairlead load-balancer-controller`. */
import { OptionsInvalid } from "../process/flag-problems.ts";
import { flagLines } from "../runtime/flags.ts";
import { flagSections, flagTable } from "./load-balancer-controller/flags.ts";
import { optionProblems, optionWarnings } from "./load-balancer-controller/validate.ts";
import { longRunning } from "./long-running.ts";
import { readFlags } from "./read-flags.ts";

export { flagSections as sections } from "./load-balancer-controller/flags.ts";

const name = "load-balancer-controller";

/** Runs the command to its exit status; the statuses are those of the reference. */
export const run = longRunning({
  name,
  description: `Makes load balancers for Ingresses, for Gateways and for Services of its class, and keeps target groups filled as
TargetGroupBindings say.`,
  sections: flagSections,
  refusals: { commandLine: { status: 2, told: "usage" }, configuration: { status: 1 }, failed: 1 },
  async read(invocation) {
    const parsed = readFlags(name, flagTable, invocation);
    if (parsed === undefined) return { kind: "help" };
    const { values: options } = parsed;
    return {
      kind: "run",
      log: { verbosity: options["log-level"] === "debug" ? 4 : 0 },
      shown: flagLines(flagTable, options),
      check() {
        const problems = optionProblems(options);
        if (problems.length > 0) throw new OptionsInvalid([`unable to load controller config: ${problems.join("; ")}`]);
        return optionWarnings(options);
      },
      maxStallMs: 2_000,
      async operate({ version, host, network, stop }) {
        const { operate } = await import("./load-balancer-controller/operate.ts");
        await operate({ options, version, host, network, stop });
      },
    };
  },
});
