/** Commands that run until they are stopped: from the command line to a running process, and from its end to an exit status. */
import { awsSockets } from "../aws/sockets.ts";
import { build } from "../process/build.ts";
import { ConfigurationFailed } from "../process/errors.ts";
import { exitStatus, type TellCrash } from "../process/exit.ts";
import { OptionsInvalid } from "../process/flag-problems.ts";
import type { Network } from "../process/operate.ts";
import { LeadershipLost } from "../runtime/election.ts";
import { machineLoopDelays, watchEventLoop } from "../runtime/event-loop.ts";
import { FlagError, type FlagSection } from "../runtime/flags.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Host } from "../runtime/host.ts";
import { descriptorDestination } from "../runtime/log-descriptor.ts";
import { type Logs, type LogsOptions, openLogs } from "../runtime/logs.ts";
import { messageOf } from "../runtime/message-of.ts";
import { exportBuildInfo, exportMachineMetrics, newRegistry } from "../runtime/metrics.ts";
import { redact } from "../runtime/redact.ts";
import type { World } from "../runtime/world.ts";
import type { Command, Console, Invocation } from "./command.ts";

/** One command of this kind. */
export interface LongRunning {
  /** What manifests and messages call it. */
  readonly name: string;
  /** The head of `--help`. */
  readonly description: string;
  /** What follows the flags in `--help`. */
  readonly footer?: string;
  readonly sections: readonly FlagSection[];
  readonly refusals: Refusals;
  /** Reads the command line, and what adds to it. Throws `FlagError`, `OptionsInvalid` or `ConfigurationFailed`. */
  read(invocation: Invocation): Promise<Asked>;
}

/** How the command ends when it cannot run: as the program whose place it takes does. */
export interface Refusals {
  /** The command line cannot be read. */
  readonly commandLine: Refusal;
  /** What it says, or what a file or the environment says, cannot work. */
  readonly configuration: Refusal;
  /** The status with which anything else ends it. */
  readonly failed: number;
}

export interface Refusal {
  readonly status: number;
  /** Without it the log tells, as soon as there is one. */
  readonly told?: keyof typeof tellers;
}

/** What a command line asks for. */
export type Asked = { readonly kind: "help" } | { readonly kind: "print"; readonly text: string } | Run;

/** What is to be run, before anything is done. */
export interface Run {
  readonly kind: "run";
  readonly log: LogSettings;
  /** The version to report in place of our own. */
  readonly version?: string | undefined;
  /** One `--name="value"` per flag, for the log. */
  readonly shown: readonly string[];
  /** Throws `OptionsInvalid`; returns what works but probably not as meant. */
  check(): readonly string[];
  /** The machine and the event loop are measured, and stalls longer than this are warned about. Undefined: nobody could read it. */
  readonly maxStallMs: number | undefined;
  operate(life: Life): Promise<void>;
}

/** The log; its format is for eyes on a terminal and for machines elsewhere, unless one is given. */
export type LogSettings = Partial<Pick<LogsOptions, "format">> & Pick<LogsOptions, "verbosity" | "vmodule">;

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
export function longRunning(command: LongRunning): Command {
  return async (invocation) => {
    const { world, console, stopSignal, onCrash } = invocation;
    let logs: Logs | undefined;
    try {
      const asked = await command.read(invocation);
      if (asked.kind !== "run") {
        console.out(asked.kind === "help" ? help(command, console) : asked.text);
        return exitStatus.done;
      }
      logs = openLog(world, console, asked.log);
      onCrash?.(crashInto(logs));
      for (const line of asked.shown) logs.log.v(1)?.info(`FLAG: ${line}`);
      for (const warning of asked.check()) logs.log.warn(warning);
      await operate(asked, world, logs, stopSignal());
      return exitStatus.done;
    } catch (error) {
      return refuse(command, error, console, logs);
    } finally {
      logs?.flush();
    }
  };
}

/** Runs on this machine: its sockets, its measurements. */
async function operate(run: Run, world: World, logs: Logs, stop: AbortSignal): Promise<void> {
  const host: Host = { world, log: logs.log, metrics: newRegistry() };
  const version = run.version ?? build.version;
  exportBuildInfo(host.metrics, { version, commit: build.commit, buildDate: build.date });
  const ended = new AbortController();
  if (run.maxStallMs !== undefined) {
    exportMachineMetrics(host.metrics);
    watchEventLoop(host, machineLoopDelays(), { warnAboveMs: run.maxStallMs, signal: ended.signal });
  }
  const aws = awsSockets(world);
  try {
    await run.operate({ version, host, logs, network: { aws: aws.send }, stop });
  } finally {
    ended.abort();
    await aws.close();
  }
}

/** A refusal in words. */
interface RefusalText {
  readonly name: string;
  readonly message: string;
  /** A line, or nothing. */
  readonly hint: string;
  readonly usage: string;
}

/** How refusals are told on standard error. */
const tellers = {
  /** As programs built with cobra tell it. */
  cobra: ({ message, hint, usage }: RefusalText) => `Error: ${message}\n${hint}${usage}\nunable to execute command: ${message}\n${hint}`,
  /** As Go's flag packages tell it by themselves. */
  usage: ({ message, hint, usage }: RefusalText) => `${message}\n${hint}${usage}`,
  /** Without the list of all flags. */
  briefly: ({ name, message, hint }: RefusalText) => `${name}: ${message}\n${hint}Run "${name} --help" for its flags.\n`,
};

/** Says why the process ends, and with which status. */
function refuse(command: LongRunning, error: unknown, console: Console, logs: Logs | undefined): number {
  if (error instanceof LeadershipLost) return exitStatus.leadershipLost;
  const message = redact(messageOf(error));
  const { status, told } = refusalOf(error, command.refusals);
  if (told !== undefined) {
    const hint = error instanceof FlagError && error.hint ? `${error.hint}\n` : "";
    console.err(tellers[told]({ name: command.name, message, hint, usage: usage(command, console) }));
  } else if (logs) {
    logs.log.error(message, { fatal: true });
    logs.log.v(2)?.error("the cause in full", { error });
  } else console.err(`${message}\n`);
  return status;
}

function refusalOf(error: unknown, { commandLine, configuration, failed }: Refusals): Refusal {
  if (error instanceof FlagError) return commandLine;
  return error instanceof OptionsInvalid || error instanceof ConfigurationFailed ? configuration : { status: failed };
}

/** A crash is one line of the log, in its format, written out before the process ends. */
function crashInto({ log, flush }: Logs): TellCrash {
  return ({ message, stack }) => {
    log.error(`crashed: ${message}`, { fatal: true, stack });
    flush();
  };
}

function help(command: LongRunning, console: Console): string {
  return `${command.description}\n\n${usage(command, console)}${command.footer ? `\n${command.footer}\n` : ""}`;
}

function usage({ name, sections }: LongRunning, console: Console): string {
  return `Usage:\n  ${name} [flags]\n\n${flagUsage(sections, console.columns)}`;
}

function openLog(world: World, console: Console, settings: LogSettings): Logs {
  return openLogs(world.clock, {
    format: console.watched ? "text" : "json",
    ...settings,
    colour: console.watched,
    destination:
      console.logDescriptor === undefined
        ? { write: (line) => console.err(line), flush() {} }
        : descriptorDestination(console.logDescriptor, world.clock),
  });
}
