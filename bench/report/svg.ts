/** Charts of horizontal bars, in groups, without any library: a few rectangles and words. */

/** What stands beside what. */
export interface Chart {
  readonly title: string;
  readonly series: readonly { readonly title: string; readonly colour: string }[];
  /** Values in the order of the series; undefined leaves a gap. */
  readonly groups: readonly { readonly title: string; readonly values: readonly (number | undefined)[] }[];
  text(value: number): string;
}

const [width, left, right, barHeight, gap, top] = [820, 250, 90, 16, 14, 62] as const;

/** The chart as a file. It reads well on light and dark pages. */
export function svg({ title, series, groups, text }: Chart): string {
  const most = Math.max(...groups.flatMap(({ values }) => values.map((value) => value ?? 0)), Number.MIN_VALUE);
  const shapes: string[] = [];
  let y = top;
  for (const group of groups) {
    const bars = group.values.flatMap((value, index) => (value === undefined ? [] : [{ value, colour: series[index]!.colour }]));
    const middle = y + (bars.length * barHeight) / 2 + 4;
    shapes.push(words(left - 12, middle, group.title, "end"));
    for (const { value, colour } of bars) {
      const length = Math.max(1, (value / most) * (width - left - right));
      shapes.push(
        `<rect x="${left}" y="${y + 1}" width="${length.toFixed(1)}" height="${barHeight - 2}" rx="2" fill="${colour}"/>`,
        words(left + length + 6, y + barHeight - 4, text(value), "start"),
      );
      y += barHeight;
    }
    y += gap;
  }
  const key = series.flatMap(({ title: name, colour }, index) => {
    const x = left + index * 170;
    return [`<rect x="${x}" y="34" width="12" height="12" rx="2" fill="${colour}"/>`, words(x + 18, 44, name, "start")];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="${escaped(title)}">`,
    "<style>text{font:13px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:15px}@media(prefers-color-scheme:dark){text{fill:#ccc}}</style>",
    `<text class="title" x="12" y="20">${escaped(title)}</text>`,
    ...key,
    ...shapes,
    "</svg>",
    "",
  ].join("\n");
}

function words(x: number, y: number, text: string, anchor: "start" | "end"): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
