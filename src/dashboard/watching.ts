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
import { sleep, type World } from "../runtime/world.ts";
import { AccountReader, type AccountScope } from "./account-reader.ts";
import { type Activity, CallHistory } from "./activity.ts";
import { changeBetween, type Entry, type Graph, graphOf } from "./graph.ts";
import { shown } from "./objects.ts";
import { type Asked, type EventView, eventView, type LeaseView, processTroubles, type Trouble, troublesOf } from "./trouble.ts";

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
  readonly processes: readonly (Omit<Now, "calls"> & { readonly endpoint: string })[];
  readonly calls: Now["calls"];
  readonly events: readonly EventView[];
  readonly leases: readonly LeaseView[];
  readonly activity: Activity;
  /** Why the account cannot be read. */
  readonly problem?: string;
}

export type Message = { readonly event: "graph"; readonly value: Graph } | { readonly event: string; readonly value: unknown };

const tickMs = 500;
const accountMs = 10_000;
const redrawMs = 5_000;
const shownCalls = 100;
const shownEvents = 60;
const shownLines = 80;

export class Watching {
  readonly #options: WatchingOptions;
  readonly #objects: readonly Informer<EntryView>[];
  readonly #events: Informer<EventView>;
  readonly #leases: Informer<LeaseEntry>;
  readonly #account: AccountReader;
  readonly #history = new CallHistory();
  readonly #watchers = new Set<object>();
  #asked: readonly Asked[] = [];
  /** Drawn when something has changed, once for all pages. */
  #drawn: Drawn | undefined;
  #problem: string | undefined;

  constructor(options: WatchingOptions) {
    this.#options = options;
    const { kube: client, cloud, scope, ask } = options;
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
          durationMs: (spec?.leaseDurationSeconds ?? 15) * 1000,
        },
      }),
    });
    this.#account = new AccountReader(cloud, scope, ask);
    const redraw = () => {
      this.#drawn = undefined;
    };
    for (const each of this.#objects) each.subscribe(redraw);
    this.#events.subscribe(redraw);
  }

  /** Follows until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const following = [...this.#objects, this.#events, this.#leases].map((each) => each.run(signal));
    await Promise.all([...following, this.#askProcesses(signal), this.#readAccount(signal)]);
  }

  /** Somebody looks at a thing: at the load balancers that it leads to, and that lead to it. */
  async open(id: string): Promise<void> {
    const { graph } = this.#look();
    const kinds = new Map(graph.things.map((thing) => [thing.id, thing.kind]));
    const near = [id, ...graph.links.flatMap(([from, to]) => (from === id ? [to] : to === id ? [from] : []))];
    await Promise.all(near.filter((each) => kinds.get(each) === "balancer" || each === id).map((each) => this.#account.open(each)));
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
      while (!signal.aborted) {
        const { graph, moment } = this.#look();
        const change = known === undefined ? undefined : changeBetween(known, graph);
        if (known === undefined) yield { event: "graph", value: graph };
        else if (change !== undefined) yield { event: "change", value: change };
        known = graph;
        const { at: _at, ...rest } = moment;
        const text = JSON.stringify(rest);
        if (text !== told) yield { event: "moment", value: moment };
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
    const calls = said.flatMap((each) => each.calls.slice(-shownCalls)).sort((a, b) => a.at - b.at);
    return {
      graph,
      moment: {
        at: now,
        troubles: [...processTroubles(this.#asked, held, now), ...troubles],
        processes: said.map(({ calls: _calls, lines, ...each }) => ({ ...each, lines: lines.slice(-shownLines) })),
        calls: calls.slice(-shownCalls),
        events: latest,
        leases: held,
        activity: this.#history.activity(now),
        ...(this.#problem !== undefined && { problem: this.#problem }),
      },
    };
  }

  #draw(now: number): Drawn {
    const objects = this.#objects.flatMap((each) => each.list().flatMap(({ entry }) => entry ?? []));
    const entries: Entry[] = [...objects, ...this.#account.entries()];
    const uids = new Map(entries.map(({ thing, uid }) => [thing.id, uid]));
    const all = this.#events.list();
    const troubles = troublesOf(all, this.#options.remedies, (id) => uids.has(id), now);
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
        this.#asked = await Promise.all(endpoints().map((endpoint) => askOne(endpoint, signal)));
        for (const { endpoint, said } of this.#asked) if (said) this.#history.add(`${endpoint} ${said.identity}`, said.calls);
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
        try {
          await this.#account.refresh();
          this.#drawn = undefined;
          this.#problem = undefined;
        } catch (error) {
          this.#problem = messageOf(error);
        }
      }
      await sleep(world.clock, tickMs, signal).catch(() => {});
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

async function askOne({ url, now }: Endpoint, signal: AbortSignal): Promise<Asked> {
  try {
    return { endpoint: url, said: await now(signal) };
  } catch (error) {
    return { endpoint: url, said: undefined, problem: messageOf(error) };
  }
}
