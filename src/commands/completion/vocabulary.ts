/** All that can be written after `fairlead`, drawn from the tables of commands and flags. */
import type { Flag } from "../../runtime/flags.ts";
import type { CommandEntry } from "../table.ts";

export interface FlagWord {
  readonly name: string;
  readonly shorthand: string | undefined;
  readonly summary: string;
  /** Undefined: it takes none. Empty: any value, perhaps a file. */
  readonly values: readonly string[] | undefined;
}

export interface CommandWord {
  readonly name: string;
  readonly summary: string;
  /** What may follow it, besides flags. */
  readonly words: readonly string[];
  readonly flags: readonly FlagWord[];
}

export type Vocabulary = readonly CommandWord[];

/** Loads every command for its flags. */
export async function vocabularyOf(commands: Readonly<Record<string, CommandEntry>>): Promise<Vocabulary> {
  const entries = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, words = [], load }]): Promise<CommandWord> => {
      const { sections = [] } = await load();
      const flags = sections.flatMap((section) => Object.entries(section.flags)).filter(([, { deprecated }]) => !deprecated);
      return { name, summary, words, flags: flags.map(([flag, declared]) => flagWord(flag, declared)) };
    }),
  );
  return [...entries, { name: "help", summary: "Print the help of a command", words: Object.keys(commands), flags: [] }];
}

function flagWord(name: string, { kind, help, shorthand }: Flag<unknown>): FlagWord {
  const values = kind.bare === undefined ? (kind.choices ?? []) : undefined;
  return { name, shorthand, summary: firstSentence(help), values };
}

/** Short enough for a list in a terminal. */
function firstSentence(text: string): string {
  return text.split(/\.\s|[.:]?\n/, 1)[0]!.replace(/\.$/, "");
}
