/** `fairlead node-termination-handler`: from the command line and the environment to a running process, and to an exit status. */
import { awsSockets } from "../aws/sockets.ts";
import { build } from "../process/build.ts";
import { exitStatus } from "../process/exit.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { FlagError } from "../runtime/flags.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Host } from "../runtime/host.ts";
import { descriptorDestination } from "../runtime/log-descriptor.ts";
import { type Logs, openLogs } from "../runtime/logs.ts";
import { messageOf } from "../runtime/message-of.ts";
import { exportBuildInfo, exportMachineMetrics, newRegistry } from "../runtime/metrics.ts";
import { redact } from "../runtime/redact.ts";
import type { World } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { flagSections, type Options } from "./node-termination-handler/flags.ts";
import { parseOptions } from "./node-termination-handler/options.ts";

/** Flags of the command. */
export const sections = flagSections;

/** As the reference ends: 1 for what is configured wrongly, 2 for a command line that cannot be read. */
const status = { configuration: 1, commandLine: 2 } as const;

const description = `Cordons and drains nodes whose instance is about to go: spot interruptions, maintenance, Auto Scaling, rebalance
recommendations. Reads the metadata service of its own machine, or with --enable-sqs-termination-draining a queue for all nodes.`;

/** Runs the command to its exit status. */
export const run: Command = async ({ argv, world, console, stopSignal, onCrash }) => {
  let logs: Logs | undefined;
  try {
    const { options, warnings } = parseOptions(argv, world.environment);
    if (options.help) {
      console.out(`${description}\n\n${usage(console)}`);
      return exitStatus.done;
    }
    const opened = openLog(world, console, options);
    logs = opened;
    onCrash?.(({ message, stack }) => {
      opened.log.error(`crashed: ${message}`, { fatal: true, stack });
      opened.flush();
    });
    for (const warning of warnings) opened.log.warn(warning);
    await operate(options, world, opened, stopSignal());
    return exitStatus.done;
  } catch (error) {
    return refuse(error, console, logs);
  } finally {
    logs?.flush();
  }
};

async function operate(options: Options, world: World, logs: Logs, stop: AbortSignal): Promise<void> {
  const { operate: run } = await import("./node-termination-handler/operate.ts");
  const host: Host = { world, log: logs.log, metrics: newRegistry() };
  exportBuildInfo(host.metrics, { version: build.version, commit: build.commit, buildDate: build.date });
  if (options["enable-prometheus-server"]) exportMachineMetrics(host.metrics);
  const aws = awsSockets(world);
  const webhook = options["webhook-url"] === "" ? aws : awsSockets(withProxy(world, options["webhook-proxy"]));
  try {
    await run({ options, host, network: { aws: aws.send, webhook: webhook.send }, stop });
  } finally {
    await aws.close();
    if (webhook !== aws) await webhook.close();
  }
}

/** The proxy of webhooks is their own: that of the environment is not theirs. */
function withProxy(world: World, proxy: string): World {
  const { clock, random, files } = world;
  const url = proxy.replace(/^tcp:/, "http:");
  const kept = Object.entries(world.environment).filter(([name]) => !/^(https?|no|all)_proxy$/i.test(name));
  const environment = { ...Object.fromEntries(kept), ...(url !== "" && { HTTP_PROXY: url, HTTPS_PROXY: url }) };
  return { clock, random, files, environment, hostname: world.hostname };
}

function refuse(error: unknown, console: Console, logs: Logs | undefined): number {
  const message = redact(messageOf(error));
  if (error instanceof FlagError) {
    console.err(`${message}\n${error.hint ? `${error.hint}\n` : ""}${usage(console)}`);
    return status.commandLine;
  }
  if (error instanceof LeadershipLost) return exitStatus.leadershipLost;
  if (logs === undefined) console.err(`Failed to parse cli args, ${message}\n`);
  else logs.log.error(message, { fatal: true });
  return status.configuration;
}

function usage(console: Console): string {
  return `Usage:\n  node-termination-handler [flags]\n\n${flagUsage(flagSections, console.columns)}`;
}

function openLog(world: World, console: Console, options: Options): Logs {
  const level = options["log-level"].toLowerCase();
  return openLogs(world.clock, {
    format: options["json-logging"] ? "json" : "text",
    verbosity: level === "debug" ? 4 : 0,
    colour: console.watched,
    destination:
      console.logDescriptor === undefined
        ? { write: (line) => console.err(line), flush() {} }
        : descriptorDestination(console.logDescriptor, world.clock),
  });
}
