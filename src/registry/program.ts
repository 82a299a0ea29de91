/** The program kubelet runs: arguments, standard input and output, exit status. */
import { ProfileInvalid, readSharedProfile } from "../aws/shared-profile.ts";
import type { HttpRequest } from "../runtime/http.ts";
import { type Clock, TimedOut, type World } from "../runtime/world.ts";
import { asFailure, PluginFailure } from "./errors.ts";
import { type Journal, type Level, type LogFormat, openJournal } from "./journal.ts";
import type { Platform } from "./platform.ts";
import { obtainLogin, type PluginContext } from "./plugin.ts";
import { parseRequest } from "./request.ts";
import { responseLine } from "./response.ts";
import { routedTransport } from "./route.ts";
import { readSettings } from "./settings.ts";

/** The process around the program, so that it can be run inside another one. */
export interface Process extends Streams {
  readonly world: World;
  readonly platform: Platform;
  readonly version: string;
  readonly pid: number;
}

export interface Streams {
  /** The whole input, or somewhat more than `limit` bytes of it. */
  readStdin(limit: number): Promise<Uint8Array>;
  /** Resolves when the text has left the process. */
  writeStdout(text: string): Promise<void>;
  /** Writes whole lines, at once. */
  writeStderr(text: string): void;
}

/** A request with the longest of tokens and hundreds of annotations is a few hundred kilobytes. */
const largestRequest = 4 * 1024 * 1024;

/** Runs the program to its exit status: 0 with an answer on standard output, or 1 with the cause on standard error. */
export async function runProgram(args: readonly string[], process: Process): Promise<number> {
  let journal = journalOf(process, { level: "info", format: "text" });
  try {
    const first = args[0];
    if (first === "config" || first === "test") {
      const { runTool } = await import("./tools.ts");
      return await runTool(first, args.slice(1), process);
    }
    const options = parseArguments(args);
    if (options.print !== undefined) {
      await process.writeStdout(
        options.print === "version" ? `ecr-credential-provider version ${process.version}\n` : (await import("./help.ts")).help(),
      );
      return 0;
    }
    journal = journalOf(process, options);
    await process.writeStdout(await inTime(process, journal, (context) => answer(process, context)));
    return 0;
  } catch (error) {
    const failure = asFailure(error);
    if (failure.code === "BadArguments") {
      const { usage } = await import("./help.ts");
      process.writeStderr(`Error: ${failure.message}\n${usage()}`);
    } else {
      journal.error(`Error running credential provider plugin: ${failure.message}`, failure.code, failure.hint);
    }
    return 1;
  }
}

async function answer(process: Process, context: PluginContext): Promise<string> {
  const input = await readInput(process, context.deadline);
  const request = parseRequest(Buffer.from(input).toString("utf8"));
  context.journal.hide(request.serviceAccountToken);
  const outcome = await obtainLogin(request, context);
  if (outcome.kind === "refused") return responseLine(request.apiVersion, 0, outcome.image.key, undefined);
  return responseLine(request.apiVersion, outcome.cacheSeconds, outcome.image.key, outcome.login);
}

/** Runs `work` with everything a run needs, under the time limit of the whole run. */
export async function inTime<T>(process: Process, journal: Journal, work: (context: PluginContext) => Promise<T>): Promise<T> {
  const { world, platform } = process;
  const { clock, environment } = world;
  for (const name of ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"]) journal.hide(environment[name]);
  const profile = await orGiveUp(clock, profileLimitMs, "the AWS configuration files", readSharedProfile(world)).catch((error: unknown) => {
    if (!(error instanceof ProfileInvalid)) throw error;
    throw new PluginFailure("BadSettings", error.message, {
      cause: error,
      hint: "AWS_PROFILE must name a profile of AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE; kubelet often runs without HOME.",
    });
  });
  const settings = readSettings(environment, profile);
  const send = routedTransport(platform.connect, world);
  const direct = (request: HttpRequest) => platform.connect(request, {});
  // Not `within`, which would end the run before whoever waits can say what for.
  const deadline = new AbortController();
  const cancel = clock.after(settings.timeoutMs, () => deadline.abort(new TimedOut("the whole run", settings.timeoutMs)));
  const context = { world, platform, send, direct, settings, profile, journal, deadline: deadline.signal };
  return await orGiveUp(clock, settings.timeoutMs + graceMs, "the whole run", work(context)).finally(cancel);
}

/** Whoever waits when the deadline strikes has this long to say what for. */
const graceMs = 300;

/** Read before the settings are known, and with them the limit of the run; on a file system that hangs, this is the one. */
const profileLimitMs = 1_000;

/** The last line of defence: whatever hangs, and wherever, the run ends in time. */
function orGiveUp<T>(clock: Clock, limitMs: number, what: string, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.after(limitMs, () => reject(new PluginFailure("DeadlineExceeded", `${what}: not done within ${limitMs} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}

async function readInput(process: Process, deadline: AbortSignal): Promise<Uint8Array> {
  const input = await new Promise<Uint8Array>((resolve, reject) => {
    const giveUp = () => reject(new PluginFailure("DeadlineExceeded", "standard input was not closed within the time limit"));
    deadline.addEventListener("abort", giveUp, { once: true });
    process.readStdin(largestRequest).then(resolve, reject);
  });
  if (input.length > largestRequest) throw new PluginFailure("BadRequest", `the request is longer than ${largestRequest} bytes`);
  return input;
}

export interface LogOptions {
  readonly level: Level;
  readonly format: LogFormat;
}

/** The journal of a process, on its standard error. */
export function journalOf(process: Process, options: LogOptions): Journal {
  return openJournal({ ...options, clock: process.world.clock, pid: process.pid, write: (line) => process.writeStderr(line) });
}

interface Arguments extends LogOptions {
  readonly print?: "version" | "help";
}

/** Positional arguments are let pass: people give `get-credentials`, because other plugins need it. */
function parseArguments(args: readonly string[]): Arguments {
  let options: Arguments = { level: "info", format: "text" };
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === "--") break;
    if (!arg.startsWith("-") || arg === "-") continue;
    const equals = arg.indexOf("=");
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const value = () => {
      const text = equals < 0 ? args[++index] : arg.slice(equals + 1);
      if (text === undefined) throw new PluginFailure("BadArguments", `flag needs an argument: ${name}`);
      return text;
    };
    if (name === "--log-level") options = { ...options, level: oneOf(["error", "warn", "info"], name, value()) };
    else if (name === "--log-format") options = { ...options, format: oneOf(["text", "json"], name, value()) };
    else if (name === "--version" || name === "-v")
      options = asked(options, "version", name, equals < 0 ? undefined : arg.slice(equals + 1));
    else if (name === "--help" || name === "-h") options = asked(options, "help", name, equals < 0 ? undefined : arg.slice(equals + 1));
    else
      throw new PluginFailure(
        "BadArguments",
        name.startsWith("--") ? `unknown flag: ${name}` : `unknown shorthand flag: '${name[1]}' in ${arg}`,
      );
  }
  return options;
}

function asked(options: Arguments, print: "version" | "help", name: string, value: string | undefined): Arguments {
  const wanted = oneOf(["true", "false"], name, value ?? "true") === "true";
  // Help wins over version, in whatever order they are given.
  return wanted && options.print !== "help" ? { ...options, print } : options;
}

function oneOf<T extends string>(allowed: readonly T[], name: string, value: string): T {
  const found = allowed.find((item) => item === value);
  if (found === undefined) {
    throw new PluginFailure(
      "BadArguments",
      `invalid argument ${JSON.stringify(value)} for "${name}" flag: must be one of ${allowed.join(", ")}`,
    );
  }
  return found;
}
