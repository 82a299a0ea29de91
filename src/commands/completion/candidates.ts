/** Which words can follow those on a command line. */
import type { CommandWord, FlagWord, Vocabulary } from "./vocabulary.ts";

export interface Candidate {
  readonly word: string;
  readonly summary: string;
}

/** The words that the last one, which may be empty, can become. None where any value or file may stand. */
export function candidates(vocabulary: Vocabulary, line: readonly string[]): readonly Candidate[] {
  const begun = line.at(-1) ?? "";
  return possible(vocabulary, line.slice(0, -1), begun).filter(({ word }) => word.startsWith(begun));
}

function possible(vocabulary: Vocabulary, before: readonly string[], begun: string): readonly Candidate[] {
  const [name] = before;
  if (name === undefined) return vocabulary.map(({ name: word, summary }) => ({ word, summary }));
  const command = vocabulary.find((each) => each.name === name);
  if (command === undefined) return [];
  const assigned = /^(--[^=]+)=/.exec(begun)?.[1];
  if (assigned !== undefined) return plain((flagNamed(command, assigned)?.values ?? []).map((value) => `${assigned}=${value}`));
  const pending = flagNamed(command, before.at(-1) ?? "");
  if (pending?.values !== undefined) return plain(pending.values);
  if (begun.startsWith("-")) return command.flags.map((flag) => ({ word: `--${flag.name}`, summary: flag.summary }));
  return plain(command.words);
}

function flagNamed({ flags }: CommandWord, word: string): FlagWord | undefined {
  return flags.find(({ name, shorthand }) => word === `--${name}` || (shorthand !== undefined && word === `-${shorthand}`));
}

const plain = (words: readonly string[]): readonly Candidate[] => words.map((word) => ({ word, summary: "" }));
