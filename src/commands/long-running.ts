/** Commands that run until they are stopped: from the command line to a running process, and from its end to an exit status. */
import { awsSockets } from "../aws/sockets.ts";
import { build, rawVersion } from "../process/build.ts";
import { ConfigurationFailed } from "../process/errors.ts";
import { exitStatus, type TellCrash } from "../process/exit.ts";
import { OptionsInvalid } from "../process/flag-problems.ts";
import { globalFlags } from "../process/flags.ts";
import type { Network } from "../process/operate.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { machineLoopDelays, watchEventLoop } from "../runtime/event-loop.ts";
import { FlagError, type FlagSection, type FlagTable, type FlagValues, type ParsedFlags, parseFlags } from "../runtime/flags.ts";
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

/** One command of this kind. */
export interface LongRunning<T extends FlagTable & typeof globalFlags> {
  /** What manifests and messages call it. */
  readonly name: string;
  /** The head of `--help`. */
  readonly description: string;
  /** What follows the flags in `--help`. */
  readonly footer?: string;
  readonly sections: readonly FlagSection[];
  readonly flags: T;
  /** The word before the version that `--version` prints. */
  readonly product: string;
  /** The status with which a command line, or a file that it names, is refused. */
  readonly refused: number;
  /** A refusal is told without the list of all flags. The reference's programs print it. */
  readonly terse?: boolean;
  /** Takes what the command line says, and reads the files that add to it. */
  prepare(parsed: ParsedFlags<T>, world: World): Promise<Prepared>;
}

/** What is to be run, before anything is done. */
export interface Prepared {
  readonly options: FlagValues<typeof globalFlags>;
  /** One `--name="value"` per flag, for the log. */
  readonly shown: readonly string[];
  /** Throws `OptionsInvalid`; returns what works but probably not as meant. */
  check(): readonly string[];
  /** Stalls of the event loop for longer than this are warned about. */
  readonly maxStallMs: number;
  operate(life: Life): Promise<void>;
}

/** What one life of the process is given. */
export interface Life {
  /** As reported, which the user may have overridden. */
  readonly version: string;
  readonly host: Host;
  readonly logs: Logs;
  readonly network: Network;
  /** Asks for a graceful end. */
  readonly stop: AbortSignal;
}

/** Runs the command to its exit status. */
export function longRunning<T extends FlagTable & typeof globalFlags>(command: LongRunning<T>): Command {
  return async ({ argv, world, console, stopSignal, onCrash }) => {
    let logs: Logs | undefined;
    try {
      const parsed = parseFlags(command.flags, argv);
      const { args, warnings } = parsed;
      const asked: FlagValues<typeof globalFlags> = parsed.values;
      for (const warning of warnings) console.err(`${warning}\n`);
      if (asked.help) {
        console.out(`${command.description}\n\n${usage(command, console)}${command.footer ? `\n${command.footer}\n` : ""}`);
        return exitStatus.done;
      }
      if (args.some((arg) => arg !== "")) throw new FlagError(`"${command.name}" does not take any arguments, got ${goQuoteList(args)}`);
      if (asked.version.print !== "no") {
        const version = asked.version.reported ?? build.version;
        console.out(asked.version.print === "raw" ? `${rawVersion(version)}\n` : `${command.product} ${version}\n`);
        return exitStatus.done;
      }
      const prepared = await command.prepare(parsed, world);
      logs = openLog(world, console, prepared.options);
      onCrash?.(crashInto(logs));
      for (const line of prepared.shown) logs.log.v(1)?.info(`FLAG: ${line}`);
      for (const warning of prepared.check()) logs.log.warn(warning);
      await operate(prepared, world, logs, stopSignal());
      return exitStatus.done;
    } catch (error) {
      return refuse(command, error, console, logs);
    } finally {
      logs?.flush();
    }
  };
}

/** Runs on this machine: its sockets, its measurements. */
async function operate(prepared: Prepared, world: World, logs: Logs, stop: AbortSignal): Promise<void> {
  const host: Host = { world, log: logs.log, metrics: newRegistry() };
  const version = prepared.options.version.reported ?? build.version;
  exportBuildInfo(host.metrics, { version, commit: build.commit, buildDate: build.date });
  exportMachineMetrics(host.metrics);
  const ended = new AbortController();
  watchEventLoop(host, machineLoopDelays(), { warnAboveMs: prepared.maxStallMs, signal: ended.signal });
  const aws = awsSockets(world);
  try {
    await prepared.operate({ version, host, logs, network: { aws: aws.send }, stop });
  } finally {
    ended.abort();
    await aws.close();
  }
}

/** Says why the process ends, and with which status. */
function refuse(command: Named, error: unknown, console: Console, logs: Logs | undefined): number {
  const message = redact(messageOf(error));
  if (error instanceof LeadershipLost) return exitStatus.leadershipLost;
  if (error instanceof FlagError || error instanceof OptionsInvalid || error instanceof ConfigurationFailed) {
    const hint = error instanceof FlagError && error.hint ? `${error.hint}\n` : "";
    if (command.terse) console.err(`${command.name}: ${message}\n${hint}Run "${command.name} --help" for its flags.\n`);
    else console.err(`Error: ${message}\n${hint}${usage(command, console)}\nunable to execute command: ${message}\n${hint}`);
    return command.refused;
  }
  if (logs) {
    logs.log.error(message, { fatal: true });
    logs.log.v(2)?.error("what was behind it", { error });
  } else console.err(`${message}\n`);
  return exitStatus.fatal;
}

type Named = Pick<LongRunning<typeof globalFlags>, "name" | "sections" | "refused" | "terse">;

/** A crash is one line of the log, in its format, written out before the process ends. */
function crashInto({ log, flush }: Logs): TellCrash {
  return ({ message, stack }) => {
    log.error(`crashed: ${message}`, { fatal: true, stack });
    flush();
  };
}

function usage({ name, sections }: Named, console: Console): string {
  return `Usage:\n  ${name} [flags]\n\n${flagUsage(sections, console.columns)}`;
}

function openLog(world: World, console: Console, options: FlagValues<typeof globalFlags>): Logs {
  // An unknown format is refused later, with all other problems; until then it is the default.
  const asked = options["logging-format"];
  const format = asked === "text" || asked === "json" ? asked : console.watched ? "text" : "json";
  return openLogs(world.clock, {
    format,
    verbosity: options.v,
    vmodule: globalFlags.vmodule.kind.print(options.vmodule),
    colour: console.watched,
    destination:
      console.logDescriptor === undefined
        ? { write: (line) => console.err(line), flush() {} }
        : descriptorDestination(console.logDescriptor, world.clock),
  });
}
