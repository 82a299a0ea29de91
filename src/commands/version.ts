/** `fairlead version`: which build this is, and what it was tested with. */
import { build } from "../process/build.ts";
import { exitStatus } from "../process/exit.ts";
import { maturity, neverOnRealAccount, notAffiliated } from "../process/maturity.ts";
import { testedWith, worksWith } from "../process/tested.ts";
import { FlagError, type FlagSection, type FlagValues, flag, parseFlags } from "../runtime/flags.ts";
import { bool, oneOf } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Command } from "./command.ts";
import { failure } from "./failure.ts";

const flags = {
  output: flag(oneOf("text", "json"), "text", "Output format.", { shorthand: "o" }),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Version", flags }];

export const run: Command = async ({ argv, console }) => {
  let options: FlagValues<typeof flags>;
  try {
    options = parse(argv);
  } catch (error) {
    return failure("version", error, console);
  }
  if (options.help) console.out(`Usage:\n  fairlead version [flags]\n\n${flagUsage(sections, console.columns)}`);
  else console.out(options.output === "json" ? asJson() : asText());
  return exitStatus.done;
};

function parse(argv: readonly string[]): FlagValues<typeof flags> {
  const { values, args } = parseFlags(flags, argv);
  if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
  return values;
}

function asText(): string {
  const rows = {
    commit: build.commit === "unknown" ? "unknown: run from the sources" : `${build.commit} of ${build.date}`,
    "runs on": `Node ${process.versions.node}, ${build.platform}`,
    "tested with": Object.entries(testedWith)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    "works with": worksWith,
    maturity: Object.entries(maturity)
      .map(([name, { stage }]) => `${name} ${stage}`)
      .join(", "),
    "": `${neverOnRealAccount} ${notAffiliated}`,
  };
  const lines = Object.entries(rows).map(([name, value]) => `${name.padEnd(13)}${value}`);
  return `fairlead ${build.version}\n${lines.join("\n")}\n`;
}

function asJson(): string {
  const { version, commit, date, platform } = build;
  const stages = Object.fromEntries(Object.entries(maturity).map(([name, { stage }]) => [name, stage]));
  return `${JSON.stringify({ version, commit, date, node: process.versions.node, platform, testedWith, worksWith, maturity: stages }, undefined, 2)}\n`;
}
