/** `fairlead controller-manager`: from the command line to a running process, and from its end to an exit status. */

import { awsSockets } from "../aws/sockets.ts";
import { build, rawVersion } from "../process/build.ts";
import { ConfigurationFailed } from "../process/errors.ts";
import { exitStatus, type TellCrash } from "../process/exit.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { machineLoopDelays, watchEventLoop } from "../runtime/event-loop.ts";
import { FlagError, flagLines } from "../runtime/flags.ts";
import { goQuoteList } from "../runtime/flags-go.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Host } from "../runtime/host.ts";
import { descriptorDestination } from "../runtime/log-descriptor.ts";
import { type Logs, openLogs } from "../runtime/logs.ts";
import { messageOf } from "../runtime/message-of.ts";
import { exportBuildInfo, exportMachineMetrics, newRegistry } from "../runtime/metrics.ts";
import { redact } from "../runtime/redact.ts";
import type { World } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { gateWarnings } from "./controller-manager/feature-gates.ts";
import { flagSections, flagTable, type Options, parseOptions } from "./controller-manager/flags.ts";
import { OptionsInvalid, optionWarnings, validateOptions } from "./controller-manager/validate.ts";

/** What manifests and messages call the command. */
const commandName = "cloud-controller-manager";

const description = `Runs the controllers that a Kubernetes cluster on AWS needs: initialises, labels and removes nodes,
keeps load balancers for Services, routes for pods, and tags.`;

export { flagSections as sections } from "./controller-manager/flags.ts";

/** Runs the command to its exit status. */
export const run: Command = async ({ argv, world, console, stopSignal, onCrash }) => {
  let logs: Logs | undefined;
  try {
    const { values: options, args, warnings } = parseOptions(argv);
    for (const warning of warnings) console.err(`${warning}\n`);
    if (options.help) {
      console.out(`${description}\n\n${usage(console)}`);
      return exitStatus.done;
    }
    if (args.some((arg) => arg !== "")) throw new FlagError(`"${commandName}" does not take any arguments, got ${goQuoteList(args)}`);
    const version = options.version.reported ?? build.version;
    if (options.version.print !== "no") {
      console.out(options.version.print === "raw" ? `${rawVersion(version)}\n` : `Kubernetes ${version}\n`);
      return exitStatus.done;
    }
    logs = openLog(world, console, options);
    onCrash?.(crashInto(logs));
    for (const line of flagLines(flagTable, options)) logs.log.v(1)?.info(`FLAG: ${line}`);
    validateOptions(options);
    for (const warning of [...gateWarnings(options["feature-gates"]), ...optionWarnings(options)]) logs.log.warn(warning);
    await operate(options, version, world, logs, stopSignal());
    return exitStatus.done;
  } catch (error) {
    return refuse(error, console, logs);
  } finally {
    logs?.flush();
  }
};

/** Runs on this machine: its sockets, its measurements. */
async function operate(options: Options, version: string, world: World, logs: Logs, stop: AbortSignal): Promise<void> {
  const [{ operate: run }, { controllerTable }] = await Promise.all([
    import("./controller-manager/operate.ts"),
    import("./controller-manager/controller-table.ts"),
  ]);
  const host: Host = { world, log: logs.log, metrics: newRegistry() };
  exportBuildInfo(host.metrics, { version, commit: build.commit, buildDate: build.date });
  exportMachineMetrics(host.metrics);
  const ended = new AbortController();
  watchEventLoop(host, machineLoopDelays(), { warnAboveMs: options["leader-elect-retry-period"], signal: ended.signal });
  const aws = awsSockets(world);
  try {
    await run({ options, version, host, logs, table: controllerTable, network: { aws: aws.send }, stop });
  } finally {
    ended.abort();
    await aws.close();
  }
}

/** Says why the process ends, and with which status. */
function refuse(error: unknown, console: Console, logs: Logs | undefined): number {
  const message = redact(messageOf(error));
  if (error instanceof LeadershipLost) return exitStatus.leadershipLost;
  if (error instanceof FlagError || error instanceof OptionsInvalid || error instanceof ConfigurationFailed) {
    const hint = error instanceof FlagError && error.hint ? `${error.hint}\n` : "";
    console.err(`Error: ${message}\n${hint}${usage(console)}\nunable to execute command: ${message}\n${hint}`);
  } else if (logs) {
    logs.log.error(message, { fatal: true });
    logs.log.v(2)?.error("what was behind it", { error });
  } else console.err(`${message}\n`);
  return exitStatus.fatal;
}

/** A crash is one line of the log, in its format, written out before the process ends. */
function crashInto({ log, flush }: Logs): TellCrash {
  return ({ message, stack }) => {
    log.error(`crashed: ${message}`, { fatal: true, stack });
    flush();
  };
}

function usage(console: Console): string {
  return `Usage:\n  ${commandName} [flags]\n\n${flagUsage(flagSections, console.columns)}`;
}

function openLog(world: World, console: Console, options: Options): Logs {
  // An unknown format is refused later, with all other problems; until then it is the default.
  const asked = options["logging-format"];
  const format = asked === "text" || asked === "json" ? asked : console.watched ? "text" : "json";
  return openLogs(world.clock, {
    format,
    verbosity: options.v,
    vmodule: flagTable.vmodule.kind.print(options.vmodule),
    colour: console.watched,
    destination:
      console.logDescriptor === undefined
        ? { write: (line) => console.err(line), flush() {} }
        : descriptorDestination(console.logDescriptor, world.clock),
  });
}
