/** What is told about routes in Events and in the log, and what has been told already. */
import { causeOf, isAwsError } from "../aws/errors.ts";
import type { EventRecorder } from "../identity/event-reasons.ts";
import type { Nodes, SeenNode } from "../identity/node-view.ts";
import { nodes } from "../kube/builtin.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { objectRef } from "../kube/event-recorder.ts";
import type { Host } from "../runtime/host.ts";
import { isLasting } from "./back-off.ts";
import type { Refusal } from "./desire.ts";
import type { SeenRouteTable } from "./model.ts";
import { routedNode } from "./observe.ts";
import type { RouteChange } from "./plan.ts";
import { quotaInSight } from "./quota.ts";
import { recordBlindness, recordFailure, recordLeftover, saysSo } from "./report.ts";

export interface AnnouncementParts {
  readonly host: Host;
  readonly recorder: EventRecorder;
  /** What an Event is about that concerns no Node: the Lease of this program. */
  readonly home: ObjectRef;
  readonly nodes: Nodes;
}

/** What keeps the tables from being read concerns all Nodes that wait for a route: so many of them tell it, and that seldom. */
const blindness = { maxNodes: 100, againMs: 10 * 60_000 };

export class Announcements {
  readonly #parts: AnnouncementParts;
  /** Why which Node gets no route, as far as it has been told. */
  #refusals: ReadonlyMap<string, string> = new Map();
  /** Who has told why the tables cannot be read, and when. */
  readonly #blind = new Map<string, { readonly cause: string; readonly at: number }>();
  /** Tables and quotas that were warned of. */
  readonly #warned = new Set<string>();

  constructor(parts: AnnouncementParts) {
    this.#parts = parts;
  }

  /** Says once that a table is about to be full, on the Nodes whose routes are about to fill it. */
  quota(changes: readonly RouteChange[], tables: readonly SeenRouteTable[], byName: ReadonlyMap<string, SeenNode>): void {
    const { host, recorder } = this.#parts;
    const arriving = changes.flatMap(({ wanted }) => wanted ?? []);
    for (const { id, routes } of tables) {
      const missing = arriving.filter(({ destination }) => !routes.has(destination));
      const quota = quotaInSight(routes.size, routes.size + missing.length);
      const key = `${id} ${quota}`;
      if (quota === undefined || missing.length === 0 || this.#warned.has(key)) continue;
      this.#warned.add(key);
      const message = `route table ${id} will hold ${routes.size + missing.length} routes; if its quota is ${quota}, ask AWS for more before it is reached`;
      host.log.warn(message);
      for (const { node } of missing.slice(-1)) {
        const last = byName.get(node.name);
        if (last) recorder.record(objectRef(nodes, last), "Warning", "RouteTableAlmostFull", message);
      }
    }
  }

  /** Says on a Node why it gets no route, once for each reason. Nothing is held back: a reason that is gone is gone. */
  refusals(refused: readonly Refusal[], byName: ReadonlyMap<string, SeenNode>): void {
    const before = this.#refusals;
    this.#refusals = new Map(refused.map(({ node, destination, why, cause = why }) => [`${node.uid} ${destination}`, cause]));
    for (const { node, destination, why, cause = why } of refused) {
      const seen = byName.get(node.name);
      if (!seen || before.get(`${node.uid} ${destination}`) === cause) continue;
      this.#log(destination, seen, why);
      recordFailure(this.#parts.recorder, seen, { destination, cause: why, same: cause });
    }
  }

  /** Says that a change failed; `news` when it did not fail by the same cause before. */
  failure(change: RouteChange, tables: readonly SeenRouteTable[], node: SeenNode | undefined, error: Error, news: boolean): void {
    // What somebody has to change first is tried so seldom that it may be said each time.
    if (!news && !isLasting(error)) return;
    const { destination, wanted } = change;
    const failure = { destination, cause: error.message, same: causeOf(error) };
    if (news) this.#log(destination, node, error.message);
    if (node) recordFailure(this.#parts.recorder, node, failure);
    if (wanted === undefined) recordLeftover(this.#parts.recorder, this.#concernedBy(destination, tables), failure);
  }

  /** Says why no table can be read: on the Nodes that wait for a route, or, when nobody waits, on this program. */
  blind(error: Error): void {
    if (isAwsError(error) && !isLasting(error)) return;
    const { recorder, home, host } = this.#parts;
    const waiting = this.#parts.nodes.list().filter((node) => routedNode(node)?.leftAlone === false && !saysSo(node, "routed"));
    const concerned = waiting.length > 0 ? waiting.slice(0, blindness.maxNodes).map((node) => objectRef(nodes, node)) : [home];
    const [cause, at] = [causeOf(error), host.world.clock.monotonic()];
    for (const about of concerned) {
      const key = about.uid ?? about.name;
      const told = this.#blind.get(key);
      if (told?.cause === cause && at - told.at < blindness.againMs) continue;
      this.#blind.set(key, { cause, at });
      recordBlindness(recorder, about, error.message, cause);
    }
  }

  /** The tables were read: what kept them from it would be news again. */
  sighted(): void {
    this.#blind.clear();
  }

  #log(destination: string, node: SeenNode | undefined, error: string): void {
    this.#parts.host.log.warn("cannot reconcile a route", { destination, node: node?.metadata.name, error });
  }

  /** The Node on whose machine a route ends, or, when there is none, this program. */
  #concernedBy(destination: string, tables: readonly SeenRouteTable[]): ObjectRef {
    const machines = tables.flatMap(({ routes }) => routes.get(destination)?.instanceId ?? []);
    const [node] = machines.flatMap((id) => this.#parts.nodes.by("instance", id));
    return node ? objectRef(nodes, node) : this.#parts.home;
  }
}
