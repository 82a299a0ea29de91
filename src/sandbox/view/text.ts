/** Text for a terminal: lines of styled pieces, cut to a width before they become escape codes. */

export type Style = "plain" | "dim" | "bold" | "good" | "bad" | "warn" | "accent" | "bar";

export interface Piece {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Piece[];

/** Made of plain strings and `[style, text]` pairs. */
export function line(...parts: readonly (string | readonly [Style, string])[]): Line {
  return parts.map((part) => (typeof part === "string" ? { text: part, style: "plain" } : { style: part[0], text: part[1] }));
}

/** How many columns it takes. */
export function widthOf(of: Line): number {
  return of.reduce((sum, { text }) => sum + text.length, 0);
}

/** No wider than this; what is cut off leaves an ellipsis. */
export function cut(of: Line, width: number): Line {
  if (widthOf(of) <= width) return of;
  const kept: Piece[] = [];
  let left = Math.max(0, width - 1);
  for (const { text, style } of of) {
    if (left === 0) break;
    kept.push({ text: text.slice(0, left), style });
    left -= Math.min(left, text.length);
  }
  return width > 0 ? [...kept, { text: "…", style: "dim" }] : [];
}

/** Exactly this wide. */
export function fill(of: Line, width: number, style: Style = "plain"): Line {
  const short = cut(of, width);
  return [...short, { text: " ".repeat(Math.max(0, width - widthOf(short))), style }];
}

/** Both on one line of this width, the second at its end. The first is cut if they meet. */
export function spread(left: Line, right: Line, width: number, style: Style = "plain"): Line {
  const room = width - widthOf(right);
  return room < 10 ? fill(left, width, style) : [...fill(cut(left, room - 1), room, style), ...right];
}

/** As a string, with escape codes only where colour is wanted. */
export function render(of: Line, colour: boolean): string {
  if (!colour)
    return of
      .map(({ text }) => text)
      .join("")
      .trimEnd();
  return of.map(({ text, style }) => (style === "plain" ? text : `\x1b[${codes[style]}m${text}\x1b[0m`)).join("");
}

const codes: Readonly<Record<Exclude<Style, "plain">, string>> = {
  dim: "2",
  bold: "1",
  good: "32",
  bad: "31",
  warn: "33",
  accent: "36",
  bar: "7",
};

/** A column of a table: the less important go first when there is no room. */
export interface Column<Row> {
  readonly title: string;
  /** Columns of rank 1 stay: what does not fit of them is cut. */
  readonly rank: number;
  cell(row: Row): Piece;
}

/** A heading and a line for every row, with as many columns as fit. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): { readonly heading: Line; readonly lines: readonly Line[] } {
  let shown = [...columns];
  const cells = new Map(columns.map((column) => [column, rows.map((row) => column.cell(row))]));
  const widths = new Map(
    columns.map((column) => [column, Math.max(column.title.length, ...cells.get(column)!.map(({ text }) => text.length))]),
  );
  const total = () => shown.reduce((sum, column) => sum + widths.get(column)! + 2, -2);
  while (total() > width) {
    const least = Math.max(...shown.map(({ rank }) => rank));
    if (least === 1) break;
    shown = shown.filter(({ rank }) => rank !== least);
  }
  const put = (pieces: readonly Piece[]): Line =>
    pieces.flatMap((piece, index) => {
      const room = index === pieces.length - 1 ? piece.text.length : widths.get(shown[index]!)! + 2;
      return [piece, { text: " ".repeat(Math.max(0, room - piece.text.length)), style: "plain" as const }];
    });
  return {
    heading: cut(put(shown.map(({ title }) => ({ text: title, style: "dim" }))), width),
    lines: rows.map((_, index) => cut(put(shown.map((column) => cells.get(column)![index]!)), width)),
  };
}

/** Words of a text in lines of at most this width. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  for (const word of text.split(/\s+/).filter((each) => each !== "")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return current === "" ? lines : [...lines, current];
}
