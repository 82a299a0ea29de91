/** Results as rows of text, for the terminal and for the page. */
import { type EntrantName, entrantTitles } from "../bed/entrants.ts";
import type { ScenarioResult } from "./results.ts";
import { middle, spread } from "./results.ts";
import { type Measure, measures } from "./units.ts";

const columns: readonly Measure[] = Object.values(measures);

/** The heads of the columns. */
export const heads: readonly string[] = ["Step", "Program", ...columns.map(({ title }) => title), "Runs, spread of time and calls"];

/** One row for each step and entrant; steps together. */
export function rows({ entrants }: ScenarioResult): readonly (readonly string[])[] {
  const names = Object.keys(entrants) as EntrantName[];
  const steps = [...new Set(names.flatMap((name) => Object.keys(entrants[name] ?? {})))];
  return steps.flatMap((step) =>
    names.flatMap((name) => {
      const runs = entrants[name]?.[step];
      if (runs === undefined) return [];
      const figures = middle(runs);
      const cells = columns.map(({ of, text }) => {
        const value = of(figures);
        return value === undefined ? "–" : text(value);
      });
      return [[step, entrantTitles[name], ...cells, runsCell(runs)]];
    }),
  );
}

/** Columns under each other. */
export function plain(table: readonly (readonly string[])[]): string {
  const widths = heads.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) => row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join("  "))
    .join("\n");
}

/** The same for a page. */
export function markdown(table: readonly (readonly string[])[], head: readonly string[] = heads): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = `|${head.map((_, column) => (column < 2 ? "---" : "--:")).join("|")}|`;
  return [line(head), rule, ...table.map(line)].join("\n");
}

function runsCell(runs: Parameters<typeof spread>[0]): string {
  const apart = spread(runs);
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  return apart === undefined ? "1" : `${runs.length}, ${percent(apart.time)} / ${percent(apart.calls)}`;
}
