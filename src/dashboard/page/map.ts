/** The map: from objects to AWS and back. Without a thing to look at, an overview; with one, what leads to it and where it leads. */
import type { Kind, State, Thing } from "../graph.ts";
import { type Described, h } from "./dom.ts";
import { dot, facts, longList, row, type Scrolled } from "./parts.ts";
import { type Known, ofKind } from "./store.ts";

const titles: Readonly<Record<Kind, string>> = {
  ingress: "Ingresses",
  gateway: "Gateways",
  service: "Services",
  balancer: "Load balancers",
  listener: "Listeners",
  rule: "Rules",
  "target-group": "Target groups",
  binding: "Bindings",
  target: "Targets",
  claim: "Claims",
  "persistent-volume": "Persistent volumes",
  node: "Nodes",
  instance: "Instances",
  volume: "Disks",
  route: "Routes",
  address: "Addresses",
};

/** `Load balancer` */
function singular(kind: Kind): string {
  return titles[kind].replace(/(ress)es$|s$/, "$1");
}

/** In this order on the overview, and as columns. */
const order = Object.keys(titles) as Kind[];

export interface MapState {
  /** The thing that is looked at. */
  readonly here: string | undefined;
  /** The kind whose list is open. */
  readonly kind: Kind | undefined;
  go(id: string): void;
  openKind(kind: Kind | undefined): void;
  readonly scrolled: Scrolled;
}

export function mapView(known: Known, state: MapState): readonly Described[] {
  const here = state.here === undefined ? undefined : known.things.get(state.here);
  return here === undefined ? overview(known, state) : around(known, here, state);
}

function overview(known: Known, state: MapState): readonly Described[] {
  const cards = order.flatMap((kind) => {
    const things = ofKind(known, kind);
    if (things.length === 0) return [];
    const isOpen = state.kind === kind;
    return [
      h(
        "section",
        { key: kind, class: "card" },
        h(
          "button",
          { class: "title", "aria-expanded": String(isOpen), click: () => state.openKind(isOpen ? undefined : kind) },
          `${titles[kind]}: ${things.length}`,
        ),
        h("p", { class: "quiet" }, countsText(things)),
        squares(things),
      ),
    ];
  });
  const open = state.kind === undefined ? [] : ofKind(known, state.kind);
  return [
    h("div", { class: "cards" }, cards),
    ...(state.kind === undefined
      ? []
      : [
          h("h2", { key: "list-title" }, titles[state.kind]),
          longList(`list-${state.kind}`, titles[state.kind], open, (thing) => row(thing, state.go), state.scrolled),
        ]),
  ];
}

function countsText(things: readonly Thing[]): string {
  const count = (state: State) => things.filter((thing) => thing.state === state).length;
  const words: readonly (readonly [State, string])[] = [
    ["bad", "in trouble"],
    ["working", "on their way"],
    ["idle", "used by nobody"],
  ];
  const parts = words.flatMap(([state, word]) => (count(state) > 0 ? [`${count(state)} ${word}`] : []));
  return parts.length === 0 ? "all in order" : parts.join(", ");
}

/** A square for each thing, those in trouble first: thousands fit on a card, as one path for each state. */
function squares(things: readonly Thing[]): Described {
  const size = things.length > 1500 ? 4 : things.length > 300 ? 6 : 10;
  const across = Math.floor(260 / size);
  const shown = things.slice(0, across * Math.floor(240 / size));
  const paths = new Map<State, string>();
  for (const [at, { state }] of shown.entries()) {
    const [x, y] = [(at % across) * size, Math.floor(at / across) * size];
    paths.set(state, `${paths.get(state) ?? ""}M${x} ${y}h${size - 1}v${size - 1}h${1 - size}z`);
  }
  const height = Math.ceil(shown.length / across) * size;
  return h(
    "svg",
    { class: "grid", viewBox: `0 0 260 ${height}`, "aria-hidden": "true" },
    [...paths].map(([state, d]) => h("path", { key: state, class: state, d, style: "fill: var(--state)" })),
  );
}

/** So many of a kind are drawn; the rest is a number. */
const most = 30;
const boxWidth = 196;
const gap = 48;
const boxHeight = 46;

interface Column {
  readonly kind: Kind;
  readonly things: readonly Thing[];
  readonly more: number;
}

/** The thing, with all that leads to it and all that it leads to. */
function around(known: Known, here: Thing, state: MapState): readonly Described[] {
  const ids = new Set([here.id, ...reached(here.id, known.from), ...reached(here.id, known.to)]);
  const all = [...ids].flatMap((id) => known.things.get(id) ?? []);
  const columns: readonly Column[] = order.flatMap((kind) => {
    const things = all.filter((thing) => thing.kind === kind);
    if (things.length === 0) return [];
    // The one that is looked at is always drawn.
    const sorted = [...things.filter(({ id }) => id === here.id), ...things.filter(({ id }) => id !== here.id)];
    return [{ kind, things: sorted.slice(0, most), more: Math.max(0, things.length - most) }];
  });
  const place = new Map<string, readonly [number, number]>();
  columns.forEach(({ things }, column) => {
    things.forEach(({ id }, at) => {
      place.set(id, [16 + column * (boxWidth + gap), 34 + at * (boxHeight + 10)]);
    });
  });
  const width = columns.length * (boxWidth + gap) + 16;
  const height = 50 + Math.max(...columns.map(({ things, more }) => things.length + (more > 0 ? 1 : 0))) * (boxHeight + 10);
  const lines = [...place].flatMap(([from, [x, y]]) =>
    (known.to.get(from) ?? []).flatMap((to) => {
      const end = place.get(to);
      if (end === undefined) return [];
      const [x1, y1, x2, y2] = [x + boxWidth, y + boxHeight / 2, end[0], end[1] + boxHeight / 2];
      const bend = Math.max(30, (x2 - x1) / 2);
      const touches = from === here.id || to === here.id;
      return [
        h("path", {
          key: `${from} ${to}`,
          class: touches ? "on" : undefined,
          d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
        }),
      ];
    }),
  );
  return [
    h("p", { key: "way" }, h("button", { class: "row", style: "width: auto", click: () => state.go("") }, "← everything")),
    h(
      "div",
      { key: "map", class: "map" },
      h("div", { style: `position: relative; width: ${width}px; height: ${height}px` }, [
        h("svg", { key: "lines", width, height, "aria-hidden": "true" }, lines),
        ...columns.map(({ kind }, column) =>
          h("div", { key: `head ${kind}`, class: "column", style: `left: ${16 + column * (boxWidth + gap)}px` }, titles[kind]),
        ),
        ...columns.flatMap(({ things }) => things.map((thing) => box(thing, place.get(thing.id)!, thing.id === here.id, state.go))),
        ...columns.flatMap(({ kind, more, things }, column) =>
          more === 0
            ? []
            : [
                h(
                  "div",
                  {
                    key: `more ${kind}`,
                    class: "column",
                    style: `left: ${16 + column * (boxWidth + gap)}px; top: ${34 + things.length * (boxHeight + 10)}px`,
                  },
                  `and ${more} more`,
                ),
              ],
        ),
      ]),
    ),
    h(
      "section",
      { key: "facts", class: "card", style: "margin-top: 12px" },
      h("h2", {}, dot(here.state), ` ${singular(here.kind)} ${here.name}`),
      h("p", {}, here.text),
      facts(here.facts),
    ),
  ];
}

function box({ id, name, text, state }: Thing, [x, y]: readonly [number, number], isHere: boolean, go: (id: string) => void): Described {
  return h(
    "button",
    {
      key: id,
      class: `box ${state}${isHere ? " here" : ""}`,
      style: `left: ${x}px; top: ${y}px`,
      title: `${name}: ${text}`,
      "aria-current": isHere ? "true" : undefined,
      click: () => go(id),
    },
    h("b", {}, name),
    h("span", {}, text),
  );
}

function reached(from: string, along: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const next of along.get(id) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return seen;
}
