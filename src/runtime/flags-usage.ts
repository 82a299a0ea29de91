/** What `--help` and the reference page say, drawn from the flag tables. */
import { type Flag, type FlagSection, printValue } from "./flags.ts";

/** Flags by section, names aligned, descriptions wrapped to the terminal's width (0: not wrapped). */
export function flagUsage(sections: readonly FlagSection[], columns: number): string {
  return sections.map((section) => `${section.title} flags:\n\n${sectionUsage(section, columns)}`).join("\n");
}

/** The same as Markdown, a table a section. */
export function flagReference(sections: readonly FlagSection[]): string {
  return sections.map((section) => `## ${section.title}\n\n${sectionReference(section)}`).join("\n");
}

function sectionUsage({ flags }: FlagSection, columns: number): string {
  const rows = visible(flags).map(([name, declared]) => ({ left: usageName(name, declared), text: description(declared) }));
  const indent = Math.max(0, ...rows.map(({ left }) => left.length)) + 3;
  // Beside a long name there may be no room left for the text: it then goes below, where it can be read.
  const beside = columns === 0 || columns - indent >= 40;
  const lines = rows.flatMap(({ left, text }) => {
    const wrapped = text.split("\n").flatMap((line) => wrap(line, columns === 0 ? 0 : columns - (beside ? indent : 10)));
    if (!beside) return [left, ...wrapped.map((line) => `${" ".repeat(10)}${line}`)];
    return wrapped.map((line, index) => `${(index === 0 ? left : "").padEnd(indent)}${line}`.trimEnd());
  });
  return `${lines.join("\n")}\n`;
}

function usageName(name: string, { kind, shorthand }: Flag<unknown>): string {
  const optional = kind.bare !== undefined && kind.type !== "" ? `[=${kind.bare}]` : "";
  return `${shorthand ? `  -${shorthand}, ` : "      "}--${name}${kind.type === "" ? "" : ` ${kind.type}`}${optional}`;
}

function description(declared: Flag<unknown>): string {
  const shown = defaultText(declared);
  return shown === "" ? declared.help : `${declared.help} (default ${shown})`;
}

function defaultText(declared: Flag<unknown>): string {
  if (declared.decided !== undefined) return declared.decided;
  const text = printValue(declared, declared.default);
  if (["", "false", "0", "0s", "[]"].includes(text)) return "";
  return declared.kind.quoted ? JSON.stringify(text) : text;
}

function visible(flags: FlagSection["flags"]): [string, Flag<unknown>][] {
  return Object.entries(flags)
    .filter(([, { deprecated }]) => deprecated === undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function wrap(line: string, width: number): string[] {
  if (width <= 0 || line.length <= width) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...lines, current];
}

function sectionReference({ flags }: FlagSection): string {
  const rows = Object.entries(flags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, declared]) => {
      const names = `${declared.shorthand ? `\`-${declared.shorthand}\`, ` : ""}\`--${name}\``;
      const value = printValue(declared, declared.default);
      const initial = declared.decided ?? (value === "" || value === "[]" ? "" : `\`${value}\``);
      const deprecated = declared.deprecated === undefined ? "" : ` **Deprecated:** ${declared.deprecated}`;
      return `| ${names} | ${declared.kind.type || "bool"} | ${cell(initial)} | ${cell(declared.help + deprecated)} |`;
    });
  return `| Flag | Type | Default | Meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", "<br>");
}
