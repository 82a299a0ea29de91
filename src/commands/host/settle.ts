/** From a command line and the file that it names to the options of the process and of each program in it. */
import { ConfigurationFailed } from "../../process/errors.ts";
import { electionProblems, headerWarnings, loggingProblems, OptionsInvalid, securePortProblems } from "../../process/flag-problems.ts";
import { type FlagTable, type FlagValues, type ParsedFlags, parseFlags } from "../../runtime/flags.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { Files } from "../../runtime/world.ts";
import { argvOfSection, ConfigFileInvalid, processSection, readSections } from "./config-file.ts";
import { commandLineOnly, electionOf, type ProcessFlags, type ProcessOptions } from "./flags.ts";
import type { HostedProgram, HostedPrograms } from "./hosted.ts";

/** What is to be run. */
export interface Settled {
  readonly options: ProcessOptions;
  readonly programs: readonly SettledProgram[];
  /** Flags of the file that are deprecated. */
  readonly warnings: readonly string[];
}

/** A program that the file chooses, with the value of every flag it has. */
export interface SettledProgram {
  readonly name: string;
  readonly program: HostedProgram;
  readonly options: FlagValues<FlagTable>;
}

/** Reads the file. What the command line says of the process counts more than what the file says. */
export async function settle(
  parsed: ParsedFlags<ProcessFlags>,
  flags: ProcessFlags,
  hosted: HostedPrograms,
  files: Files,
): Promise<Settled> {
  const file = parsed.values.config;
  const names = Object.keys(hosted);
  if (file === "")
    throw new ConfigurationFailed(`--config is needed: a file with a section for each program to run, of ${names.join(", ")}`);
  const sections = readSections(file, await textOf(file, files), names);
  const ownRules = {
    file,
    section: processSection,
    flags,
    misplaced: (name: string) => (commandLineOnly.includes(name) ? "can only be given on the command line" : undefined),
  };
  const own = argvOfSection(sections.get(processSection) ?? {}, ownRules, parsed.given);
  const chosen = names.flatMap((name) => {
    const entries = sections.get(name);
    return entries === undefined ? [] : [{ name, program: hosted[name]!, entries }];
  });
  const read = chosen.map(({ name, program, entries }) => ({
    name,
    program,
    ...argvOfSection(entries, { file, section: name, flags: program.flags, misplaced: (flag) => ofTheProcess(flag, flags, program) }),
  }));
  const problems = [...own.problems, ...read.flatMap((section) => section.problems)];
  if (problems.length > 0) throw new ConfigFileInvalid(problems);
  if (read.length === 0) {
    throw new ConfigFileInvalid([`${file}: no program is chosen: give a section for at least one of ${names.join(", ")}; it may be empty`]);
  }
  const process = parseFlags(flags, own.argv);
  const options: ProcessOptions = { ...process.values, ...pick(parsed.values, parsed.given) };
  const parsedPrograms = read.map(({ name, program, argv }) => ({
    name,
    program,
    parsed: parseFlags(program.flags, [...program.implied, ...argv]),
  }));
  return {
    options,
    programs: parsedPrograms.map(({ name, program, parsed: { values } }) => ({
      name,
      program,
      options: { ...values, ...shared(options, program) },
    })),
    warnings: [
      ...process.warnings.map((warning) => `${processSection}: ${warning}`),
      ...parsedPrograms.flatMap(({ name, parsed: { warnings } }) => warnings.map((warning) => `${name}: ${warning}`)),
    ],
  };
}

/** Throws `OptionsInvalid` with all that is wrong with the process, or, when nothing is, with all programs; returns warnings. */
export function check({ options, programs, warnings: deprecations }: Settled): readonly string[] {
  const election = electionOf(options);
  const own = [...loggingProblems(options, false), ...(election ? electionProblems(election) : []), ...securePortProblems(options)];
  if (own.length > 0) throw new OptionsInvalid(own);
  const problems: string[] = [];
  const warnings = programs.flatMap(({ name, program, options: given }) => {
    try {
      return program.check(given).map((warning) => `${name}: ${warning}`);
    } catch (error) {
      if (!(error instanceof OptionsInvalid)) throw error;
      problems.push(`${options.config}: ${name}: ${error.message}`);
      return [];
    }
  });
  if (problems.length > 0) throw new OptionsInvalid(problems);
  return [...deprecations, ...headerWarnings(options), ...warnings];
}

/** Where a flag of a program goes that belongs to the process; undefined when it is the program's own. */
function ofTheProcess(flag: string, flags: ProcessFlags, { replaced, leaseFlags }: HostedProgram): string | undefined {
  const instead = Object.hasOwn(replaced, flag) ? replaced[flag] : undefined;
  if (instead !== undefined) return `belongs to the process: ${instead}`;
  if (!Object.hasOwn(flags, flag) || leaseFlags.includes(flag)) return undefined;
  const where = commandLineOnly.includes(flag) ? "on the command line" : `on the command line, or in section ${processSection}`;
  return `belongs to the process, which all programs share: give it once, ${where}`;
}

/** What the process says for a program's flags of the same names. */
function shared(options: ProcessOptions, { flags, leaseFlags }: HostedProgram): FlagValues<FlagTable> {
  const names = Object.keys(options).filter((name) => Object.hasOwn(flags, name) && !leaseFlags.includes(name));
  return pick<FlagValues<FlagTable>>(options, new Set(names));
}

function pick<T extends object>(values: T, names: ReadonlySet<string>): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) as Partial<T>;
}

async function textOf(file: string, files: Files): Promise<string> {
  try {
    return Buffer.from(await files.read(file)).toString("utf8");
  } catch (cause) {
    throw new ConfigurationFailed(`cannot read --config ${file}: ${messageOf(cause)}`, { cause });
  }
}
