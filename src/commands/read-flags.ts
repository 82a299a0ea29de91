/** What long-running commands do with a table of flags: help, arguments, and for those that have Kubernetes' own, version and log. */
import { build, rawVersion } from "../process/build.ts";
import { globalFlags } from "../process/flags.ts";
import { FlagError, type FlagTable, type FlagValues, type ParsedFlags, parseFlags } from "../runtime/flags.ts";
import { goQuoteList } from "../runtime/flags-go.ts";
import type { World } from "../runtime/world.ts";
import type { Invocation } from "./command.ts";
import type { Asked, LogSettings, LongRunning, Run } from "./long-running.ts";

/** The command line of a program that takes no arguments; undefined when help is asked for. */
export function readFlags<T extends FlagTable & Pick<typeof globalFlags, "help">>(
  name: string,
  table: T,
  { argv, console }: Invocation,
): ParsedFlags<T> | undefined {
  const parsed = parseFlags(table, argv);
  for (const warning of parsed.warnings) console.err(`${warning}\n`);
  const { help }: FlagValues<Pick<typeof globalFlags, "help">> = parsed.values;
  if (help) return undefined;
  const { args } = parsed;
  if (args.some((arg) => arg !== "")) throw new FlagError(`"${name}" does not take any arguments, got ${goQuoteList(args)}`);
  return parsed;
}

/** A program whose help, version and log are asked for with the flags of Kubernetes' own programs. */
export interface KubernetesProgram<T extends FlagTable & typeof globalFlags> {
  readonly name: string;
  readonly flags: T;
  /** The word before the version that `--version` prints. */
  readonly product: string;
  /** Takes what the command line says, and reads the files that add to it. */
  prepare(parsed: ParsedFlags<T>, world: World): Promise<Prepared>;
}

/** What it runs. The options are those of the command line and of the files that add to it. */
export type Prepared = Omit<Run, "kind" | "log" | "version"> & { readonly options: FlagValues<typeof globalFlags> };

/** Reads the command line of such a program. */
export function globalFlagsReader<T extends FlagTable & typeof globalFlags>(program: KubernetesProgram<T>): LongRunning["read"] {
  return async (invocation): Promise<Asked> => {
    const parsed = readFlags(program.name, program.flags, invocation);
    if (parsed === undefined) return { kind: "help" };
    const { version }: FlagValues<typeof globalFlags> = parsed.values;
    if (version.print !== "no") {
      const reported = version.reported ?? build.version;
      return { kind: "print", text: version.print === "raw" ? `${rawVersion(reported)}\n` : `${program.product} ${reported}\n` };
    }
    const { options, ...run } = await program.prepare(parsed, invocation.world);
    return { kind: "run", log: logSettings(options), version: options.version.reported, ...run };
  };
}

function logSettings(options: FlagValues<typeof globalFlags>): LogSettings {
  // An unknown format is refused later, with all other problems; until then it is the default.
  const format = options["logging-format"];
  return {
    ...((format === "text" || format === "json") && { format }),
    verbosity: options.v,
    vmodule: globalFlags.vmodule.kind.print(options.vmodule),
  };
}
