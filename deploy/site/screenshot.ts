/**
 * A picture of what a command prints, as the documentation shows it:
 *
 *     fairlead sandbox --once | node deploy/site/screenshot.ts > docs/images/sandbox.svg
 */
import { text } from "node:stream/consumers";

const maxLines = 46;
const columns = 124;
const [charWidth, lineHeight, margin] = [7.8, 18, 16];

/** Colours of lines by how they begin, as a terminal has them. */
const colours: readonly (readonly [RegExp, string])[] = [
  [/^ *✓/, "#7ee787"],
  [/^ *✗/, "#ff7b72"],
  [/^\d+\/\d+ /, "#79c0ff"],
  [/^ +[\d.]+ s /, "#c9d1d9"],
];

/** The first lines of a text on a dark screen. */
export function screenshot(output: string): string {
  const lines = output
    .split("\n")
    .slice(0, maxLines)
    .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line));
  const rows = lines.map((line, index) => {
    const colour = colours.find(([pattern]) => pattern.test(line))?.[1] ?? "#8b949e";
    return `<text x="${margin}" y="${margin + (index + 1) * lineHeight}" fill="${colour}" xml:space="preserve">${escaped(line)}</text>`;
  });
  const [width, height] = [Math.ceil(columns * charWidth + 2 * margin), lines.length * lineHeight + 3 * margin];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

function escaped(line: string): string {
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

if (import.meta.main) process.stdout.write(screenshot(await text(process.stdin)));
