/** From a command line and an environment to options: the command line wins, then the environment, then the defaults. */
import { type EventKind, type EventPolicy, eventKinds } from "../../interruptions/event.ts";
import { readExtraAnnotations } from "../../interruptions/event-annotations.ts";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { defaults, type Kind, parseFlags } from "../../runtime/flags.ts";
import { bool, int } from "../../runtime/flags-kinds.ts";
import { nearest } from "../../runtime/nearest.ts";
import { flagTable, type Options, variableOf } from "./flags.ts";

/** Options, and what a user should know about them. */
export interface ParsedOptions {
  readonly options: Options;
  readonly warnings: readonly string[];
}

const heartbeatUntilMax = 172_800;

/** Old names that are still understood. */
export const renamed = [
  ["grace-period", "pod-termination-grace-period"],
  ["check-asg-tag-before-draining", "check-tag-before-draining"],
  ["managed-asg-tag", "managed-tag"],
] as const;

/** Reads both. Throws `FlagError` for a command line that cannot be read, `OptionsInvalid` for anything else that is wrong. */
export function parseOptions(argv: readonly string[], environment: Readonly<Record<string, string | undefined>>): ParsedOptions {
  const fromEnvironment = readEnvironment(environment);
  const { values, given } = parseFlags(flagTable, goArguments(argv));
  const named = new Set<string>([...given, ...fromEnvironment.keys()]);
  const chosen: Record<string, unknown> = { ...defaults(flagTable), ...Object.fromEntries(fromEnvironment) };
  for (const name of given) chosen[name] = values[name as keyof Options];
  const warnings: string[] = [];
  for (const [old, current] of renamed) {
    if (!named.has(old)) continue;
    warnings.push(`Deprecated argument "${old}" was provided. It will eventually be removed. Please switch to the "${current}" argument.`);
    if (!named.has(current)) chosen[current] = chosen[old];
  }
  const options = chosen as unknown as Options;
  if (!options.help) validate(options);
  const completed = completeHeartbeats(options);
  if (completed !== options) warnings.push(`Since heartbeat-until is not set, defaulting to ${heartbeatUntilMax} seconds`);
  return { options: completed, warnings };
}

function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Map<string, unknown> {
  const read = new Map<string, unknown>();
  for (const [name, { kind }] of Object.entries(flagTable)) {
    const variable = variableOf(name);
    const text = variable === undefined ? undefined : environment[variable];
    if (variable === undefined || text === undefined || text === "") continue;
    try {
      read.set(name, (kind as Kind<unknown & {}>).parse(text, undefined));
    } catch (cause) {
      const expected =
        kind === (bool as unknown)
          ? "must be either true or false"
          : kind === (int as unknown)
            ? "must be an integer"
            : (cause as Error).message;
      throw new OptionsInvalid([`Env Var ${variable} ${expected}`]);
    }
  }
  return read;
}

/** Go's own grammar of flags: one dash or two, a value after `=` or in the next word, and an end at the first word that is no flag. */
function goArguments(argv: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === "--" || word === "-" || !word.startsWith("-")) break;
    const bare = word.replace(/^--?/, "");
    const [name = ""] = bare.split("=");
    const declared = name === "h" ? flagTable.help : (flagTable as Readonly<Record<string, { kind: { bare?: string } }>>)[name];
    const needsValue = declared !== undefined && declared.kind.bare === undefined && !bare.includes("=");
    words.push(name === "h" ? `--help${bare.slice(1)}` : `--${bare}`);
    if (needsValue && at + 1 < argv.length) words.push(argv[++at]!);
  }
  return words;
}

function validate(options: Options): void {
  const problem = optionsProblem(options);
  if (problem !== undefined) throw new OptionsInvalid([problem]);
}

/** Options in which old names say what their new ones do not: for whoever knows values only, and not which of them were given. */
export function currentNames(options: Options): Options {
  const meant: Record<string, unknown> = { ...options };
  for (const [old, current] of renamed) {
    const isSet = options[old] !== flagTable[old].default;
    if (isSet && options[current] === flagTable[current].default) meant[current] = options[old];
  }
  return meant as unknown as Options;
}

/** What cannot work, in the reference's words where it has some; undefined when everything can. */
export function optionsProblem(options: Options): string | undefined {
  const level = options["log-level"];
  if (!["info", "debug", "error"].includes(level.toLowerCase())) {
    return `invalid log-level passed: ${level}  Should be one of: info, debug, error`;
  }
  if (options["node-name"] === "") return "You must provide a node-name to the CLI or NODE_NAME environment variable.";
  const queueMode = options["enable-sqs-termination-draining"];
  return (
    heartbeatProblem(options, queueMode) ??
    (queueMode ? queueProblem(options) : undefined) ??
    portProblem(options) ??
    annotationProblem(options["kubernetes-events-extra-annotations"]) ??
    policyProblem(options["event-policies"])
  );
}

function heartbeatProblem(options: Options, queueMode: boolean): string | undefined {
  const interval = options["heartbeat-interval"];
  const until = options["heartbeat-until"];
  if (interval === -1 && until === -1) return undefined;
  if (!queueMode) return "currently using IMDS mode. Heartbeat is only supported for Queue Processor mode";
  if (interval !== -1 && (interval < 30 || interval > 3600)) {
    return `invalid heartbeat-interval passed: ${interval}  Should be between 30 and 3600 seconds`;
  }
  if (until !== -1 && (until < 60 || until > heartbeatUntilMax)) {
    return `invalid heartbeat-until passed: ${until}  Should be between 60 and ${heartbeatUntilMax} seconds`;
  }
  if (interval === -1) return "invalid heartbeat configuration: heartbeat-interval is required when heartbeat-until is set";
  if (until !== -1 && interval > until) {
    return "invalid heartbeat configuration: heartbeat-interval should be less than or equal to heartbeat-until";
  }
  return undefined;
}

function queueProblem(options: Options): string | undefined {
  const visibility = options["sqs-msg-visibility-timeout-sec"];
  if (visibility < 1 || visibility > 119) {
    return `invalid sqs-msg-visibility-timeout-sec passed: ${visibility}  Should be between 1 and 119 seconds`;
  }
  if (options["queue-url"] === "") return "queue-url (QUEUE_URL) is required with enable-sqs-termination-draining";
  if (!URL.canParse(options["queue-url"])) return `invalid queue-url passed: "${options["queue-url"]}"  Should be the URL of a queue`;
  if (options.workers < 1) return `invalid workers passed: ${options.workers}  Should be at least 1`;
  return undefined;
}

function portProblem(options: Options): string | undefined {
  const names = ["prometheus-server-port", "probes-server-port"] as const;
  const wrong = names.find((name) => options[name] < 0 || options[name] > 65_535);
  return wrong && `invalid ${wrong} passed: ${options[wrong]}  Should be between 0 and 65535`;
}

function annotationProblem(given: string): string | undefined {
  const read = readExtraAnnotations(given);
  return typeof read === "string" ? `Unable to create Kubernetes event recorder, kubernetes-events-extra-annotations: ${read}` : undefined;
}

function policyProblem(policies: Readonly<Record<string, string>>): string | undefined {
  for (const [kind, policy] of Object.entries(policies)) {
    if (!Object.hasOwn(eventKinds, kind)) {
      const guess = nearest(kind, Object.keys(eventKinds));
      return `invalid event-policies passed: unknown kind "${kind}"${guess === undefined ? "" : `, did you mean "${guess}"?`}  Should be one of: ${Object.keys(eventKinds).join(", ")}`;
    }
    if (!["ignore", "cordon", "drain"].includes(policy)) {
      return `invalid event-policies passed: ${kind}=${policy}  Should be one of: ignore, cordon, drain`;
    }
  }
  return undefined;
}

/** Heartbeats without an end go on for as long as Auto Scaling allows. */
export function completeHeartbeats(options: Options): Options {
  if (options["heartbeat-interval"] === -1 || options["heartbeat-until"] !== -1) return options;
  return { ...options, "heartbeat-until": heartbeatUntilMax };
}

/** What is done for each kind of event. */
export function policiesOf(options: Options): Readonly<Record<EventKind, EventPolicy>> {
  const queueMode = options["enable-sqs-termination-draining"];
  const rebalance = queueMode || options["enable-rebalance-draining"] ? "drain" : "cordon";
  const kinds = Object.keys(eventKinds) as EventKind[];
  return Object.fromEntries(
    kinds.map((kind): [EventKind, EventPolicy] => {
      const wanted = (options["event-policies"][kind] ?? (kind === "rebalance" ? rebalance : "drain")) as EventPolicy;
      return [kind, options["cordon-only"] && wanted === "drain" ? "cordon" : wanted];
    }),
  ) as Record<EventKind, EventPolicy>;
}
