/** What stands, and what leads to what, as plain data: the map that the page draws. */

/** From left to right as a request travels, and from a Node down to its disks. */
export const kinds = [
  "ingress",
  "gateway",
  "service",
  "balancer",
  "listener",
  "rule",
  "target-group",
  "binding",
  "target",
  "claim",
  "persistent-volume",
  "node",
  "instance",
  "volume",
  "route",
  "address",
] as const;

export type Kind = (typeof kinds)[number];

/** How a thing does: `working` is on its way, `idle` is used by nobody. */
export type State = "good" | "working" | "bad" | "idle";

export interface Thing {
  readonly id: string;
  readonly kind: Kind;
  readonly name: string;
  readonly state: State;
  /** How it does, in a few words. */
  readonly text: string;
  /** What else is known of it: also what the search looks through. */
  readonly facts: Readonly<Record<string, string>>;
}

export interface Graph {
  readonly things: readonly Thing[];
  /** Ids: the first leads to the second. */
  readonly links: readonly (readonly [from: string, to: string])[];
}

/** A thing as one source tells of it, before it is known what the others tell. */
export interface Entry {
  readonly thing: Thing;
  /** What it leads to: ids, or other names of things, such as the DNS name of a load balancer. */
  readonly to: readonly string[];
  /** Other names it is known by. */
  readonly also?: readonly string[];
  /** Of an object in Kubernetes, to which Events belong. */
  readonly uid?: string;
  /** Whether it costs money and is idle unless something leads to it, or it leads to something. */
  readonly needsUse?: boolean;
  /** Of no interest by itself: left out unless something leads to it that is. */
  readonly foreign?: boolean;
}

/** Joins what all sources tell. Of two entries with one id the first counts. What a link leads to may be unknown: it is left out. */
export function graphOf(entries: Iterable<Entry>, troubled: ReadonlyMap<string, string>): Graph {
  const byId = new Map<string, Entry>();
  const idOf = new Map<string, string>();
  for (const entry of entries) {
    const { id } = entry.thing;
    if (byId.has(id)) continue;
    byId.set(id, entry);
    for (const name of [id, ...(entry.also ?? [])]) if (name !== "") idOf.set(name, id);
  }
  const shown = new Set([...byId.values()].flatMap(({ thing, foreign }) => (foreign ? [] : [thing.id])));
  const links: (readonly [string, string])[] = [];
  const used = new Set<string>();
  // What is added on the way is visited too.
  for (const from of shown) {
    const reached = new Set(byId.get(from)!.to.flatMap((name) => idOf.get(name) ?? []));
    for (const id of reached) {
      links.push([from, id]);
      used.add(id);
      shown.add(id);
    }
  }
  const things = [...byId.values()].filter(({ thing }) => shown.has(thing.id));
  return { things: things.map((entry) => stateOf(entry, troubled, used)), links };
}

function stateOf({ thing, uid, needsUse }: Entry, troubled: ReadonlyMap<string, string>, used: ReadonlySet<string>): Thing {
  const trouble = uid === undefined ? undefined : troubled.get(uid);
  if (trouble !== undefined) return { ...thing, state: "bad", text: trouble };
  if (needsUse && thing.state === "good" && !used.has(thing.id)) return { ...thing, state: "idle", text: "nobody uses it" };
  return thing;
}

/** What has to be told to who knows the graph as it was. */
export interface GraphChange {
  readonly things: readonly Thing[];
  readonly gone: readonly string[];
  /** All of them, when they have changed. */
  readonly links?: Graph["links"];
}

/** The way from one graph to the next; undefined when nothing has changed. */
export function changeBetween(before: Graph, after: Graph): GraphChange | undefined {
  const known = new Map(before.things.map((thing) => [thing.id, thing]));
  const things = after.things.filter((thing) => !isSame(known.get(thing.id), thing));
  const still = new Set(after.things.map(({ id }) => id));
  const gone = before.things.flatMap(({ id }) => (still.has(id) ? [] : [id]));
  const linksChanged = before.links !== after.links && JSON.stringify(before.links) !== JSON.stringify(after.links);
  if (things.length === 0 && gone.length === 0 && !linksChanged) return undefined;
  return { things, gone, ...(linksChanged && { links: after.links }) };
}

/** Most are the very same objects: thousands are compared with every change of one. */
function isSame(before: Thing | undefined, after: Thing): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}
