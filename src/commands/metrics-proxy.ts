/** `fairlead metrics-proxy`. */
import { longRunning } from "./long-running.ts";
import { flagSections, flags } from "./metrics-proxy/flags.ts";
import { readFlags } from "./read-flags.ts";

export { flagSections as sections } from "./metrics-proxy/flags.ts";

/** Runs the command to its exit status. */
export const run = longRunning({
  name: "metrics-proxy",
  description: `Serves what a program on the same machine serves without TLS: over HTTPS, to those whom the API server lets in. Takes the place
of kube-rbac-proxy beside the cloud data discoverer, and its configuration.`,
  sections: flagSections,
  refusals: { commandLine: { status: 1, told: "briefly" }, configuration: { status: 1 }, failed: 1 },
  async read(invocation) {
    const parsed = readFlags("metrics-proxy", flags, invocation);
    if (parsed === undefined) return { kind: "help" };
    const { values } = parsed;
    return {
      kind: "run",
      log: { verbosity: values.v },
      shown: [],
      check: () => [],
      maxStallMs: undefined,
      async operate(life) {
        const { operate } = await import("./metrics-proxy/operate.ts");
        await operate(values, life);
      },
    };
  },
});
