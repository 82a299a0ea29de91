/** Follows a cluster and its account for the pages that are open, and tells them what has changed. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { events, leases } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Informer, informer } from "../kube/informer.ts";
import type { KubeObject, StoredMeta } from "../kube/resource.ts";
import type { Lease } from "../kube/types.ts";
import type { Now } from "../process/now.ts";
import { messageOf } from "../runtime/message-of.ts";
import { redact } from "../runtime/redact.ts";
import { type Clock, sleep, type World } from "../runtime/world.ts";
import { AccountReader, type AccountScope } from "./account-reader.ts";
import { type Activity, CallHistory } from "./activity.ts";
import { changeBetween, type Entry, type Graph, graphOf } from "./graph.ts";
import { type ShownLine, shownLine } from "./lines.ts";
import { shown } from "./objects.ts";
import {
  type Asked,
  aheadOf,
  type EventView,
  eventView,
  isFollowed,
  type LeaseView,
  onOurClock,
  processTroubles,
  type Trouble,
  troublesOf,
  withTries,
} from "./trouble.ts";
import { type Followed, unreadObjects } from "./unread.ts";

/** A process that is asked what it does. */
export interface Endpoint {
  readonly url: string;
  now(signal: AbortSignal): Promise<Now>;
}

export interface WatchingOptions {
  readonly world: World;
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  readonly scope: AccountScope;
  readonly ask: Ask;
  /** Those there are at the moment. */
  endpoints(): readonly Endpoint[];
  /** What to do about a Warning, by its reason: others' Warnings are not shown. */
  readonly remedies: ReadonlyMap<string, string>;
  /** Where the Leases of the programs are, and which. */
  readonly leases: { readonly namespace: string; readonly names: readonly string[] };
}

/** All that changes by the second. */
export interface Moment {
  readonly at: number;
  readonly troubles: readonly Trouble[];
  readonly processes: readonly (Omit<Now, "calls" | "lines"> & { readonly endpoint: string; readonly lines: readonly ShownLine[] })[];
  readonly events: readonly EventView[];
  readonly leases: readonly LeaseView[];
  readonly activity: Activity;
  /** What of the account cannot be read, and why. */
  readonly problems: readonly string[];
}

export type Message = { readonly event: "graph"; readonly value: Graph } | { readonly event: string; readonly value: unknown };

const tickMs = 500;
const accountMs = 10_000;
const redrawMs = 5_000;
const checkMs = 2_000;
const aliveMs = 5_000;
const shownEvents = 60;
const shownLines = 80;

export class Watching {
  readonly #options: WatchingOptions;
  readonly #objects: readonly Informer<EntryView>[];
  readonly #followed: readonly Followed[];
  readonly #events: Informer<EventView>;
  readonly #leases: Informer<LeaseEntry>;
  readonly #account: AccountReader;
  readonly #history = new CallHistory();
  readonly #watchers = new Set<object>();
  #asked: readonly Asked[] = [];
  /** Drawn when something has changed, once for all pages. */
  #drawn: Drawn | undefined;
  #problems: readonly string[] = [];
  /** Objects that cannot be read. */
  #unread: readonly Trouble[] = [];

  constructor(options: WatchingOptions) {
    this.#options = options;
    const { kube: client, cloud, scope, ask, world } = options;
    this.#objects = shown.map(({ of, entry }) =>
      informer<KubeObject, EntryView>({
        client,
        of,
        project: (object) => ({ metadata: identityOf(object.metadata), entry: entry(object) }),
      }),
    );
    this.#events = informer({ client, of: events, project: eventView });
    this.#leases = informer<Lease, LeaseEntry>({
      client,
      of: leases,
      namespace: options.leases.namespace,
      project: ({ metadata, spec }) => ({
        metadata: identityOf(metadata),
        lease: {
          name: metadata.name,
          holder: spec?.holderIdentity ?? "",
          renewed: Date.parse(spec?.renewTime ?? "") || 0,
          seen: world.clock.now(),
          durationMs: (spec?.leaseDurationSeconds ?? 15) * 1000,
        },
      }),
    });
    this.#followed = [
      ...shown.map(({ of }, at) => ({ of, by: this.#objects[at]! })),
      { of: events, by: this.#events },
      { of: leases, namespace: options.leases.namespace, by: this.#leases },
    ];
    this.#account = new AccountReader(cloud, scope, ask, world.clock);
    // The kubelets of thousands of Nodes report every few seconds, mostly what is known.
    const redraw = (before?: { readonly entry: unknown }, after?: { readonly entry: unknown }) => {
      if (before === undefined || after === undefined || JSON.stringify(before.entry) !== JSON.stringify(after.entry))
        this.#drawn = undefined;
    };
    for (const each of this.#objects) each.subscribe(redraw);
    this.#events.subscribe(() => redraw());
  }

  /** Follows until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const following = this.#followed.map(({ by }) => by.run(signal));
    await Promise.all([...following, this.#askProcesses(signal), this.#readAccount(signal), this.#checkObjects(signal)]);
  }

  /** Somebody looks at a thing: at the load balancers that it leads to, and at those, and the target groups, that lead to it. */
  async open(id: string): Promise<void> {
    const { graph } = this.#look();
    const kinds = new Map(graph.things.map((thing) => [thing.id, thing.kind]));
    if (!kinds.has(id)) return;
    const leading = Map.groupBy(graph.links, ([, to]) => to);
    const near = new Set([id]);
    for (const each of near) for (const [from] of leading.get(each) ?? []) near.add(from);
    const isBinding = kinds.get(id) === "binding";
    for (const [from, to] of graph.links) if (from === id && (isBinding || kinds.get(to) === "balancer")) near.add(to);
    await this.#account.open([...near].filter((each) => ["balancer", "target-group"].includes(kinds.get(each) ?? "")));
    this.#drawn = undefined;
  }

  /** Everything at first, then what changes, until the signal aborts. */
  async *stream(signal: AbortSignal): AsyncIterable<Message> {
    const { world } = this.#options;
    const watcher = {};
    this.#watchers.add(watcher);
    try {
      let known: Graph | undefined;
      let told = "";
      let toldAt = 0;
      while (!signal.aborted) {
        const { graph, moment } = this.#look();
        const change = known === undefined ? undefined : changeBetween(known, graph);
        if (known === undefined) yield { event: "graph", value: graph };
        else if (change !== undefined) yield { event: "change", value: change };
        known = graph;
        const { at: _at, ...rest } = moment;
        const text = JSON.stringify(rest);
        // A page counts the time by what it is told.
        if (text !== told || moment.at - toldAt >= aliveMs) {
          yield { event: "moment", value: moment };
          toldAt = moment.at;
        }
        told = text;
        await sleep(world.clock, tickMs, signal).catch(() => {});
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  #look(): { readonly graph: Graph; readonly moment: Moment } {
    const now = this.#options.world.clock.now();
    // Troubles end by time too.
    if (this.#drawn === undefined || now - this.#drawn.at > redrawMs) this.#drawn = this.#draw(now);
    const { graph, troubles, events: latest } = this.#drawn;
    const wanted = new Set(this.#options.leases.names);
    const held = this.#leases.list().flatMap(({ lease }) => (wanted.has(lease.name) ? [lease] : []));
    const said = this.#asked.flatMap(({ endpoint, said: each }) => (each ? [{ endpoint, ...each }] : []));
    const calls = said.flatMap((each) => each.calls).sort((a, b) => a.at - b.at);
    // Of a watch that is down nothing follows.
    const leading = this.#leases.staleSinceMs === undefined ? held : [];
    return {
      graph,
      moment: {
        at: now,
        troubles: [...this.#unread, ...processTroubles(this.#asked, leading, now), ...withTries(troubles, calls)],
        processes: said.map(({ calls: _calls, lines, ...each }) => ({ ...each, lines: lines.slice(-shownLines).map(shownLine) })),
        events: latest,
        leases: held,
        activity: this.#history.activity(now),
        problems: this.#problems,
      },
    };
  }

  #draw(now: number): Drawn {
    const objects = this.#objects.flatMap((each) => each.list().flatMap(({ entry }) => entry ?? []));
    const entries: Entry[] = [...objects, ...this.#account.entries()];
    const uids = new Map(entries.map(({ thing, uid }) => [thing.id, uid]));
    const all = this.#events.list();
    // Events of Nodes name them by name only, as the kubelet's do.
    const isThere = (id: string, uid: string) =>
      !isFollowed(id) || (uids.has(id) && (uid === "" || id.startsWith("node/") || uids.get(id) === uid));
    const troubles = troublesOf(all, this.#options.remedies, isThere, now);
    const troubled = new Map(
      troubles.flatMap(({ about = "", message }) => {
        const uid = uids.get(about);
        return uid === undefined ? [] : [[uid, message] as const];
      }),
    );
    const latest = all.toSorted((a, b) => b.last - a.last).slice(0, shownEvents);
    return { at: now, graph: graphOf(entries, troubled), troubles, events: latest };
  }

  async #askProcesses(signal: AbortSignal): Promise<void> {
    const { world, endpoints } = this.#options;
    while (!signal.aborted) {
      if (this.#watchers.size > 0) {
        const before = new Map(this.#asked.map((each) => [each.endpoint, each]));
        const asked = await Promise.all(endpoints().map((endpoint) => askOne(endpoint, before.get(endpoint.url), world.clock, signal)));
        this.#asked = asked.map((each) => {
          if (each.said === undefined) return each;
          const aheadMs = aheadOf(each.said, each.at);
          this.#history.add(`${each.endpoint} ${each.said.identity}`, each.said.calls, aheadMs);
          return { ...each, said: onOurClock(each.said, aheadMs) };
        });
      }
      await sleep(world.clock, 1_000, signal).catch(() => {});
    }
  }

  async #readAccount(signal: AbortSignal): Promise<void> {
    const { world } = this.#options;
    let readAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      if (this.#watchers.size > 0 && world.clock.monotonic() - readAt >= accountMs) {
        readAt = world.clock.monotonic();
        this.#problems = await this.#account.refresh();
        this.#drawn = undefined;
      }
      await sleep(world.clock, tickMs, signal).catch(() => {});
    }
  }

  async #checkObjects(signal: AbortSignal): Promise<void> {
    const { world, kube } = this.#options;
    const check = unreadObjects(kube, this.#followed, world.clock);
    while (!signal.aborted) {
      await sleep(world.clock, checkMs, signal).catch(() => {});
      if (this.#watchers.size > 0 && !signal.aborted) this.#unread = await check(signal);
    }
  }
}

/** What follows from objects and the account alone. */
interface Drawn extends Pick<Moment, "events" | "troubles"> {
  readonly at: number;
  readonly graph: Graph;
}

interface EntryView {
  readonly metadata: StoredMeta;
  readonly entry: Entry | undefined;
}

interface LeaseEntry {
  readonly metadata: StoredMeta;
  readonly lease: LeaseView;
}

/** What a store knows an object by, and nothing else of its metadata. */
function identityOf({ name, namespace, uid, resourceVersion, creationTimestamp }: StoredMeta): StoredMeta {
  return { name, uid, resourceVersion, creationTimestamp, ...(namespace !== undefined && { namespace }) };
}

async function askOne({ url, now }: Endpoint, before: Asked | undefined, clock: Clock, signal: AbortSignal): Promise<Asked> {
  try {
    return { endpoint: url, said: await now(signal), at: clock.now() };
  } catch (error) {
    const at = clock.now();
    return { endpoint: url, said: undefined, problem: redact(messageOf(error)), at, since: before?.since ?? at };
  }
}
