/** Parts that several views show. */
import type { State, Thing } from "../graph.ts";
import { type Child, type Described, h } from "./dom.ts";

/** What a state is called, for who does not see its colour. */
const stateWords: Readonly<Record<State, string>> = { good: "in order", working: "on its way", bad: "in trouble", idle: "used by nobody" };

export function dot(state: State): Described {
  return h("span", { class: `dot ${state}`, role: "img", "aria-label": stateWords[state] });
}

/** A thing in a line; a click goes to it. */
export function row(thing: Thing, go: (id: string) => void): Described {
  return h(
    "button",
    { key: thing.id, class: "row", title: `${thing.kind} ${thing.name}: ${thing.text}`, click: () => go(thing.id) },
    dot(thing.state),
    h("span", { class: "name" }, thing.name),
    h("span", { class: "text" }, thing.text),
  );
}

export function facts(of: Readonly<Record<string, string>>): Described {
  return h(
    "dl",
    { class: "facts" },
    Object.entries(of).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

/** A small picture of numbers over time. */
export function spark(numbers: readonly number[], width = 120, height = 22): Described {
  const most = Math.max(1, ...numbers);
  const step = width / Math.max(1, numbers.length - 1);
  const points = numbers.map((n, at) => `${(at * step).toFixed(1)},${(height - 1 - (n / most) * (height - 3)).toFixed(1)}`).join(" ");
  return h(
    "svg",
    { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `at most ${most}` },
    h("polyline", { points, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }),
  );
}

/** Only the rows that can be seen are drawn, however many there are. */
export function longList(
  key: string,
  name: string,
  rows: readonly Thing[],
  drawRow: (thing: Thing) => Described,
  scrolled: Scrolled,
): Described {
  const place = `${key} ${scrolled.times}`;
  const top = scrolled.top(place);
  const first = Math.max(0, Math.floor(top / rowHeight) - 5);
  const shown = rows.slice(first, first + 70);
  return h(
    "div",
    {
      key: place,
      class: "list",
      role: "region",
      "aria-label": name,
      tabindex: 0,
      scroll: (event: Event) => scrolled.to(place, (event.target as Element).scrollTop),
    },
    h(
      "div",
      { style: `height: ${rows.length * rowHeight}px` },
      h("div", { style: `position: absolute; inset: ${first * rowHeight}px 0 auto 0` }, shown.map(drawRow)),
    ),
  );
}

export const rowHeight = 30;

export interface Scrolled {
  /** How often lists were begun anew: each time they are other elements, which stand at their top. */
  readonly times: number;
  top(key: string): number;
  to(key: string, top: number): void;
}

export function table(heads: readonly string[], rows: readonly (readonly Child[])[], numbers: readonly number[] = []): Described {
  const kind = (column: number) => (numbers.includes(column) ? { class: "number" } : {});
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((head, column) => h("th", { scope: "col", ...kind(column) }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((cells) =>
          h(
            "tr",
            {},
            cells.map((cell, column) => h("td", kind(column), cell)),
          ),
        ),
      ),
    ),
  );
}
