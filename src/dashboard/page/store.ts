/** What the page knows: sent by the server as it changes. */
import type { Graph, GraphChange, Kind, State, Thing } from "../graph.ts";
import type { Moment } from "../watching.ts";

export interface Known {
  readonly things: ReadonlyMap<string, Thing>;
  /** What each thing leads to, and what leads to it. */
  readonly to: ReadonlyMap<string, readonly string[]>;
  readonly from: ReadonlyMap<string, readonly string[]>;
  readonly moment: Moment | undefined;
  /** Whether the server answers. */
  readonly connected: boolean;
}

const nothing: Known = { things: new Map(), to: new Map(), from: new Map(), moment: undefined, connected: false };

/** A page that nobody sees for so long lets go: the server then asks AWS for nothing. */
const unseenMs = 60_000;

/** Follows the server, and tells of every change. The browser connects again by itself. */
export function follow(onChange: (known: Known) => void): void {
  let known = nothing;
  let links: Graph["links"] = [];
  const tell = (next: Partial<Known>) => {
    known = { ...known, ...next };
    onChange(known);
  };
  let isFollowing = false;
  let unseenSince: number | undefined;
  const connect = (): void => {
    if (isFollowing) return;
    isFollowing = true;
    const opened = new EventSource("stream");
    const on = <T>(name: string, take: (value: T) => void) =>
      opened.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
    opened.addEventListener("open", () => tell({ connected: true }));
    opened.addEventListener("error", () => tell({ connected: false }));
    on<Graph>("graph", (graph) => {
      links = graph.links;
      tell({ things: new Map(graph.things.map((thing) => [thing.id, thing])), ...directions(links) });
    });
    on<GraphChange>("change", (change) => {
      const things = new Map(known.things);
      for (const id of change.gone) things.delete(id);
      for (const thing of change.things) things.set(thing.id, thing);
      links = change.links ?? links;
      tell({ things, ...(change.links && directions(links)) });
    });
    on<Moment>("moment", (moment) => {
      unseenSince = document.hidden ? (unseenSince ?? moment.at) : undefined;
      if (unseenSince !== undefined && moment.at - unseenSince > unseenMs) {
        opened.close();
        isFollowing = false;
      }
      tell({ moment });
    });
  };
  connect();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) connect();
  });
}

function directions(links: Graph["links"]): Pick<Known, "to" | "from"> {
  const gather = (pairs: readonly (readonly [string, string])[]) => {
    const map = new Map<string, string[]>();
    for (const [a, b] of pairs) {
      const of = map.get(a);
      if (of === undefined) map.set(a, [b]);
      else of.push(b);
    }
    return map;
  };
  return { to: gather(links), from: gather(links.map(([a, b]) => [b, a] as const)) };
}

const order: readonly State[] = ["bad", "working", "idle", "good"];
const sorted = new WeakMap<Known["things"], ReadonlyMap<Kind, readonly Thing[]>>();

/** Things of a kind, those in trouble first. Sorted once, however often they are drawn. */
export function ofKind({ things }: Known, kind: Kind): readonly Thing[] {
  const byKind = sorted.get(things) ?? Map.groupBy(inOrder(things.values()), (thing) => thing.kind);
  sorted.set(things, byKind);
  return byKind.get(kind) ?? [];
}

function inOrder(things: Iterable<Thing>): readonly Thing[] {
  return [...things].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || (a.name < b.name ? -1 : 1));
}

const texts = new WeakMap<Thing, string>();

/** All that a thing is found by. */
function textOf(thing: Thing): string {
  const known = texts.get(thing);
  if (known !== undefined) return known;
  const text = `${thing.id} ${thing.name} ${thing.text} ${Object.values(thing.facts).join(" ")}`.toLowerCase();
  texts.set(thing, text);
  return text;
}

/** Things whose name or facts contain every word. */
export function search({ things }: Known, text: string, most: number): readonly Thing[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: Thing[] = [];
  for (const thing of things.values()) {
    const all = textOf(thing);
    if (words.every((word) => all.includes(word))) found.push(thing);
    if (found.length >= most) break;
  }
  return found;
}
