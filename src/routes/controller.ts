/** The route controller: every Node's pod CIDRs are routes to its machine in the cluster's route tables. */

import { apply } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { causeOf, isAwsError } from "../aws/errors.ts";
import type { Nodes, SeenNode } from "../identity/node-view.ts";
import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { type EventRecorder, objectRef } from "../kube/event-recorder.ts";
import { watchSource } from "../kube/watch-source.ts";
import { again, type Controller, done, type Outcome, type Source } from "../runtime/controller.ts";
import { refusalIn } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { Cidr } from "../runtime/ip.ts";
import { counter, gauge } from "../runtime/metrics.ts";
import { jittered, sleep } from "../runtime/world.ts";
import { BackOff, isLasting } from "./back-off.ts";
import { type DesiredRoutes, desireRoutes, type Refusal } from "./desire.ts";
import { leadsTo, type SeenRoute, type SeenRouteTable } from "./model.ts";
import { awaitsInitialisation, observeTables, routedNode, type Where, withMachines } from "./observe.ts";
import { planRoutes, type RouteChange } from "./plan.ts";
import { quotaInSight } from "./quota.ts";
import { recordBlindness, recordFailure, recordLeftover, type Standing, saysSo, writeStanding } from "./report.ts";

export interface RouteParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  /** What an Event is about that concerns no Node: the Lease of this program. */
  readonly home: ObjectRef;
  readonly nodes: Nodes;
  readonly cloud: Cloud;
  readonly where: Where;
  readonly clusterCidrs: readonly Cidr[];
  /** How often the tables are read again, whether or not a Node changed. */
  readonly driftMs: number;
}

const sideBySide = 20;
/** What keeps the tables from being read concerns all Nodes that wait for a route: so many of them tell it, and that seldom. */
const blindness = { mostNodes: 100, againMs: 10 * 60_000 };
/** The label `trigger` of the metric, and the keys of the queue. */
const triggers = { change: "node_change", drift: "periodic" } as const;

export function routeController(parts: RouteParts): Controller {
  const loop = new RouteLoop(parts);
  const changed = watchSource(parts.nodes, (before, after) => (concernsRoutes(before, after) ? [triggers.change] : []));
  return {
    name: "node-route-controller",
    sources: [changed, driftTimer(parts)],
    // The route tables are shared by all Nodes: one writer.
    concurrency: 1,
    reconcile: (trigger, signal) => loop.pass(trigger, signal),
  };
}

class RouteLoop {
  readonly #parts: RouteParts;
  readonly #backOff = new BackOff();
  readonly #syncs;
  readonly #routes;
  readonly #inTable;
  /** Why which Node gets no route, as far as it has been told. */
  #refusals: ReadonlyMap<string, string> = new Map();
  /** Who has told why the tables cannot be read, and when. */
  readonly #blind = new Map<string, { readonly cause: string; readonly at: number }>();
  /** Tables and quotas that were warned of. */
  readonly #warned = new Set<string>();
  /** As last read, kept in step with what we write. */
  #tables: readonly (SeenRouteTable & { readonly routes: Map<string, SeenRoute> })[] = [];
  /** They are not as they were read, or it is not known whether they are. */
  #stale = true;

  constructor(parts: RouteParts) {
    this.#parts = parts;
    this.#syncs = counter(parts.host.metrics, {
      name: "route_controller_route_sync_total",
      help: "Passes over the routes of the cluster, by what came of them and what caused them.",
      labels: ["outcome", "trigger"],
    });
    this.#routes = gauge(parts.host.metrics, {
      name: "fairlead_routes",
      help: "Pod routes by their state: wanted, or refused because nodes disagree or have no machine.",
      labels: ["state"],
    });
    this.#inTable = gauge(parts.host.metrics, {
      name: "fairlead_route_table_routes",
      help: "Routes of all kinds in each route table of the cluster, to compare with the account's quota.",
      labels: ["table"],
    });
  }

  async pass(trigger: string, signal: AbortSignal): Promise<Outcome> {
    const { clock } = this.#parts.host.world;
    const ask: Ask = { cause: "routes", signal, urgency: "user" };
    const tables = await this.#observe(trigger, ask);
    const listed = this.#parts.nodes.list();
    const wishes = listed.flatMap((node) => routedNode(node) ?? []);
    const desired = await withMachines(this.#parts.cloud, desireRoutes(wishes, tables), tables, ask);
    this.#routes.set({ state: "wanted" }, desired.wanted.length);
    this.#routes.set({ state: "refused" }, desired.refused.length);
    const planned = planRoutes(desired, tables, this.#parts.clusterCidrs);
    // What needs no change any more has no trouble any more.
    this.#backOff.keepOnly(new Set(planned.map(({ destination }) => destination)));
    const changes = planned.filter(({ destination }) => !this.#backOff.holds(destination, clock.monotonic()));
    const byName = new Map(listed.map((node) => [node.metadata.name, node]));
    this.#watchQuota(changes, tables, byName);
    this.#tellRefusals(desired.refused, byName);
    const changed = await this.#carryOut(changes, byName, ask);
    await this.#report(listed, desired, signal);
    this.#syncs.inc({ outcome: changed > 0 ? "changed" : "noop", trigger });
    const dueIn = this.#backOff.dueIn(clock.monotonic());
    return dueIn === undefined ? done : again(dueIn, "routes that could not be made are tried again");
  }

  async #observe(trigger: string, ask: Ask): Promise<readonly SeenRouteTable[]> {
    if (!this.#stale && trigger !== triggers.drift) return this.#tables;
    try {
      const tables = await observeTables(this.#parts.cloud, this.#parts.where, ask);
      this.#tables = tables.map((table) => ({ ...table, routes: new Map(table.routes) }));
      this.#stale = false;
      this.#blind.clear();
      return this.#tables;
    } catch (error) {
      ask.signal.throwIfAborted();
      this.#tellBlindness(error as Error);
      this.#syncs.inc({ outcome: "error", trigger });
      throw error;
    }
  }

  /** Carries out the changes side by side, each destination on its own. Returns how many succeeded. */
  async #carryOut(changes: readonly RouteChange[], byName: ReadonlyMap<string, SeenNode>, ask: Ask): Promise<number> {
    const { cloud } = this.#parts;
    let succeeded = 0;
    const waiting = [...changes];
    const worker = async () => {
      for (let change = waiting.shift(); change !== undefined; change = waiting.shift()) {
        try {
          await apply(change.steps, cloud, ask);
          succeeded++;
          this.#backOff.settled(change.destination);
          this.#keepInStep(change);
          if (change.wanted?.node.machine?.sourceDestCheck) cloud.instances.forget([change.wanted.node.machine.instanceId]);
        } catch (error) {
          ask.signal.throwIfAborted();
          if (refusalIn(error)) throw error;
          // What stands there now is not what we thought, or we do not know whether it does: look again.
          this.#stale = true;
          this.#fail(change, byName, error as Error);
        }
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, worker));
    return succeeded;
  }

  /** Says once that a table is about to be full, on the Nodes whose routes are about to fill it. */
  #watchQuota(changes: readonly RouteChange[], tables: readonly SeenRouteTable[], byName: ReadonlyMap<string, SeenNode>): void {
    const { host, recorder } = this.#parts;
    const arriving = changes.flatMap(({ wanted }) => wanted ?? []);
    for (const { id, routes } of tables) {
      this.#inTable.set({ table: id }, routes.size);
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
  #tellRefusals(refused: readonly Refusal[], byName: ReadonlyMap<string, SeenNode>): void {
    const before = this.#refusals;
    this.#refusals = new Map(refused.map(({ node, destination, why, cause = why }) => [`${node.uid} ${destination}`, cause]));
    for (const { node, destination, why, cause = why } of refused) {
      const seen = byName.get(node.name);
      if (!seen || before.get(`${node.uid} ${destination}`) === cause) continue;
      this.#log(destination, seen, why);
      recordFailure(this.#parts.recorder, seen, { destination, cause: why, same: cause });
    }
  }

  #fail({ destination, wanted }: RouteChange, byName: ReadonlyMap<string, SeenNode>, error: Error): void {
    const news = this.#backOff.failed(destination, error, this.#parts.host.world.clock.monotonic());
    // Tried again so seldom that it may be said each time.
    if (!news && !isLasting(error)) return;
    const failure = { destination, cause: error.message, same: causeOf(error) };
    const node = wanted && byName.get(wanted.node.name);
    if (news) this.#log(destination, node, error.message);
    if (node) recordFailure(this.#parts.recorder, node, failure);
    if (wanted === undefined) recordLeftover(this.#parts.recorder, this.#concernedBy(destination), failure);
  }

  #log(destination: string, node: SeenNode | undefined, error: string): void {
    this.#parts.host.log.warn("cannot bring a route to its wanted state", { destination, node: node?.metadata.name, error });
  }

  /** The Node on whose machine a route ends, or, when there is none, this program. */
  #concernedBy(destination: string): ObjectRef {
    const machines = this.#tables.flatMap(({ routes }) => routes.get(destination)?.instanceId ?? []);
    const [node] = machines.flatMap((id) => this.#parts.nodes.by("instance", id));
    return node ? objectRef(nodes, node) : this.#parts.home;
  }

  /** Says why no table can be read: on the Nodes that wait for a route, or, when nobody waits, on this program. */
  #tellBlindness(error: Error): void {
    if (isAwsError(error) && !isLasting(error)) return;
    const { recorder, home, host } = this.#parts;
    const waiting = this.#parts.nodes.list().filter((node) => routedNode(node) !== undefined && !saysSo(node, "routed"));
    const concerned = waiting.length > 0 ? waiting.slice(0, blindness.mostNodes).map((node) => objectRef(nodes, node)) : [home];
    const [cause, at] = [causeOf(error), host.world.clock.monotonic()];
    for (const about of concerned) {
      const key = about.uid ?? about.name;
      const told = this.#blind.get(key);
      if (told?.cause === cause && at - told.at < blindness.againMs) continue;
      this.#blind.set(key, { cause, at });
      recordBlindness(recorder, about, error.message, cause);
    }
  }

  #keepInStep({ destination, wanted }: RouteChange): void {
    const { instanceId, interfaceId } = wanted?.node.machine ?? {};
    for (const { routes } of this.#tables) {
      if (wanted) routes.set(destination, { destination, origin: "CreateRoute", state: "active", instanceId, interfaceId });
      else routes.delete(destination);
    }
  }

  /** The condition of every Node that has, wants, or still has a route. */
  async #report(listed: readonly SeenNode[], desired: DesiredRoutes, signal: AbortSignal): Promise<void> {
    const { kube, host } = this.#parts;
    const standings = standingsOf(listed, desired, this.#tables);
    const waiting = [...standings].filter(([node, standing]) => !saysSo(node, standing));
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await writeStanding(kube, host.world.clock, next[0], next[1], signal);
    };
    await Promise.all(Array.from({ length: sideBySide }, worker));
  }
}

/** Which Nodes are routed, and which are not though they should be. Others are left alone. */
function standingsOf(listed: readonly SeenNode[], desired: DesiredRoutes, tables: readonly SeenRouteTable[]): Map<SeenNode, Standing> {
  const missing = new Set(desired.refused.map(({ node }) => node.name));
  for (const { destination, node } of desired.wanted) {
    const everywhere =
      tables.length > 0 && tables.every(({ routes }) => routes.has(destination) && leadsTo(routes.get(destination)!, node));
    if (!everywhere) missing.add(node.name);
  }
  const concerned = new Set([...desired.wanted, ...desired.refused].map(({ node }) => node.name));
  return new Map(
    listed
      .filter(({ metadata }) => concerned.has(metadata.name))
      .map((node) => [node, missing.has(node.metadata.name) ? "unrouted" : "routed"]),
  );
}

/** A Node that came, went, or changed in something a route depends on. */
function concernsRoutes(before: SeenNode | undefined, after: SeenNode | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  const facts = (node: SeenNode) =>
    JSON.stringify([node.metadata.uid, node.podCidrs, node.providerId, node.conditions, awaitsInitialisation(node)]);
  return facts(before) !== facts(after);
}

function driftTimer({ host, driftMs }: RouteParts): Source {
  const { clock, random } = host.world;
  return {
    name: "drift",
    async start(enqueue, signal) {
      enqueue(triggers.drift, "background");
      const tick = async () => {
        for (;;) {
          await sleep(clock, jittered(random, driftMs, 0.1), signal);
          enqueue(triggers.drift, "background");
        }
      };
      tick().catch(() => {});
    },
  };
}
