/** `fairlead load-balancer-controller`: from the command line to a running process, and from its end to an exit status. */
import { awsSockets } from "../aws/sockets.ts";
import { build } from "../process/build.ts";
import { exitStatus } from "../process/exit.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { machineLoopDelays, watchEventLoop } from "../runtime/event-loop.ts";
import { FlagError, flagLines } from "../runtime/flags.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Host } from "../runtime/host.ts";
import { descriptorDestination } from "../runtime/log-descriptor.ts";
import { type Logs, openLogs } from "../runtime/logs.ts";
import { messageOf } from "../runtime/message-of.ts";
import { exportBuildInfo, exportMachineMetrics, newRegistry } from "../runtime/metrics.ts";
import { redact } from "../runtime/redact.ts";
import type { World } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { flagSections, flagTable, type Options, parseOptions } from "./load-balancer-controller/flags.ts";

const commandName = "load-balancer-controller";

const description = `Keeps target groups filled, as TargetGroupBindings say. Ingresses, Gateways and Services with a load
balancer class are not served yet: leave those to the AWS Load Balancer Controller.`;

export { flagSections as sections } from "./load-balancer-controller/flags.ts";

/** The statuses of the reference: a command line that cannot be read, and everything else that keeps it from running. */
const status = { usage: 2, failed: 1 } as const;

export const run: Command = async ({ argv, world, console, stopSignal, onCrash }) => {
  let logs: Logs | undefined;
  try {
    const { values: options, args, warnings } = parseOptions(argv);
    for (const warning of warnings) console.err(`${warning}\n`);
    if (options.help) {
      console.out(`${description}\n\n${usage(console)}`);
      return exitStatus.done;
    }
    if (args.length > 0) throw new FlagError(`${commandName} takes no arguments, got ${args.map((arg) => JSON.stringify(arg)).join(" ")}`);
    logs = openLog(world, console, options);
    const { log, flush } = logs;
    onCrash?.(({ message, stack }) => {
      log.error(`crashed: ${message}`, { fatal: true, stack });
      flush();
    });
    for (const line of flagLines(flagTable, options)) log.v(1)?.info(`FLAG: ${line}`);
    await operate(options, world, logs, stopSignal());
    return exitStatus.done;
  } catch (error) {
    return refuse(error, console, logs);
  } finally {
    logs?.flush();
  }
};

/** Runs on this machine: its sockets, its measurements. */
async function operate(options: Options, world: World, logs: Logs, stop: AbortSignal): Promise<void> {
  const { operate: run, optionProblems } = await import("./load-balancer-controller/operate.ts");
  const problems = optionProblems(options);
  if (problems.length > 0) throw new Error(`unable to load controller config: ${problems.join("; ")}`);
  const host: Host = { world, log: logs.log, metrics: newRegistry() };
  exportBuildInfo(host.metrics, { version: build.version, commit: build.commit, buildDate: build.date });
  exportMachineMetrics(host.metrics);
  const ended = new AbortController();
  watchEventLoop(host, machineLoopDelays(), { warnAboveMs: 2_000, signal: ended.signal });
  const aws = awsSockets(world);
  try {
    await run({ options, version: build.version, host, network: { aws: aws.send }, stop });
  } finally {
    ended.abort();
    await aws.close();
  }
}

function refuse(error: unknown, console: Console, logs: Logs | undefined): number {
  const message = redact(messageOf(error));
  if (error instanceof FlagError) {
    console.err(`${message}\n${error.hint ? `${error.hint}\n` : ""}${usage(console)}`);
    return status.usage;
  }
  if (error instanceof LeadershipLost) return exitStatus.leadershipLost;
  if (logs) logs.log.error(message, { fatal: true, error });
  else console.err(`${message}\n`);
  return status.failed;
}

function usage(console: Console): string {
  return `Usage:\n  ${commandName} [flags]\n\n${flagUsage(flagSections, console.columns)}`;
}

function openLog(world: World, console: Console, options: Options): Logs {
  return openLogs(world.clock, {
    format: console.watched ? "text" : "json",
    verbosity: options["log-level"] === "debug" ? 4 : 0,
    colour: console.watched,
    destination:
      console.logDescriptor === undefined
        ? { write: (line) => console.err(line), flush() {} }
        : descriptorDestination(console.logDescriptor, world.clock),
  });
}
