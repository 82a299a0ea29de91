/** `fairlead node-termination-handler`. */
import { OptionsInvalid } from "../process/flag-problems.ts";
import type { World } from "../runtime/world.ts";
import { longRunning } from "./long-running.ts";
import { flagSections } from "./node-termination-handler/flags.ts";
import { parseOptions } from "./node-termination-handler/options.ts";
import { webhookSockets } from "./node-termination-handler/webhook-sockets.ts";

export { flagSections as sections } from "./node-termination-handler/flags.ts";

/** Runs the command to its exit status; the statuses are those of the reference. */
export const run = longRunning({
  name: "node-termination-handler",
  description: `Cordons and drains nodes whose instance is about to go: spot interruptions, maintenance, Auto Scaling, rebalance
recommendations. Reads the metadata service of its own machine, or with --enable-sqs-termination-draining a queue for all nodes.`,
  sections: flagSections,
  refusals: { commandLine: { status: 2, told: "usage" }, configuration: { status: 1 }, failed: 1 },
  async read({ argv, world }) {
    const { options, warnings } = parse(argv, world);
    if (options.help) return { kind: "help" };
    return {
      kind: "run",
      log: {
        format: options["json-logging"] ? "json" : "text",
        verbosity: options["log-level"].toLowerCase() === "debug" ? 4 : 0,
      },
      shown: [],
      check: () => warnings,
      maxStallMs: options["enable-prometheus-server"] ? 2_000 : undefined,
      async operate({ host, network, stop }) {
        const { operate } = await import("./node-termination-handler/operate.ts");
        const webhook = options["webhook-url"] === "" ? undefined : webhookSockets(host.world, options["webhook-proxy"]);
        try {
          await operate({ options, host, network: { ...network, webhook: webhook?.send ?? network.aws }, stop });
        } finally {
          await webhook?.close();
        }
      },
    };
  },
});

/** Says before what is wrong, as the reference does, that the options are. */
function parse(argv: readonly string[], { environment }: World) {
  try {
    return parseOptions(argv, environment);
  } catch (error) {
    if (!(error instanceof OptionsInvalid)) throw error;
    throw new OptionsInvalid([`Failed to parse cli args, ${error.message}`]);
  }
}
