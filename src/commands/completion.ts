/** `fairlead completion SHELL`: the script by which a shell completes commands, flags and their values. */
import { exitStatus } from "../process/exit.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import type { Command } from "./command.ts";
import { candidates } from "./completion/candidates.ts";
import { scripts } from "./completion/scripts.ts";
import { vocabularyOf } from "./completion/vocabulary.ts";
import { failure } from "./failure.ts";

const flags = { help: flag(bool, false, "Print this.", { shorthand: "h" }) };

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Completion", flags }];

const usage = `Prints the completion script of a shell.

Usage:
  fairlead completion bash > /etc/bash_completion.d/fairlead
  fairlead completion zsh > "\${fpath[1]}/_fairlead"
  fairlead completion fish > ~/.config/fish/completions/fairlead.fish

For one session: source <(fairlead completion bash)
"kubectl fairlead" is completed by kubectl's own script, without any of these.`;

export const run: Command = async ({ argv, console }) => {
  try {
    const { values, args } = parseFlags(flags, argv);
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    const [shell = "", ...more] = args;
    const script = Object.hasOwn(scripts, shell) ? scripts[shell as keyof typeof scripts] : undefined;
    if (script === undefined || more.length > 0) throw new FlagError(`name one shell of ${Object.keys(scripts).join(", ")}`);
    console.out(script(await vocabulary()));
    return exitStatus.done;
  } catch (error) {
    return failure("completion", error, console);
  }
};

/** What kubectl asks a plugin's `kubectl_complete-NAME` for: candidates, one a line, then how they are to be taken. */
export const complete: Command = async ({ argv, console }) => {
  const found = candidates(await vocabulary(), argv);
  // kubectl's directives are bits: 2 adds no space after the word, 4 offers no files.
  const directive = (found.some(({ word }) => /[/=]$/.test(word)) ? 2 : 0) | (found.length > 0 ? 4 : 0);
  console.out(`${found.map(({ word, summary }) => `${word}\t${summary}\n`).join("")}:${directive}\n`);
  return exitStatus.done;
};

async function vocabulary() {
  const { commands } = await import("./table.ts");
  return await vocabularyOf(commands);
}
