/** The route controller: every Node's pod CIDRs are routes to its machine in the cluster's route tables. */

import { apply } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { SeenNode } from "../identity/node-view.ts";
import type { KubeClient } from "../kube/client.ts";
import { watchSource } from "../kube/watch-source.ts";
import { again, type Controller, done, type Outcome, type Source } from "../runtime/controller.ts";
import { forEachConcurrently } from "../runtime/for-each-concurrently.ts";
import { rethrowIfStopped } from "../runtime/gate.ts";
import type { Cidr } from "../runtime/ip.ts";
import { counter, gauge } from "../runtime/metrics.ts";
import { jittered, sleep } from "../runtime/world.ts";
import { type AnnouncementParts, Announcements } from "./announcements.ts";
import { BackOff } from "./back-off.ts";
import { type DesiredRoutes, desireRoutes } from "./desire.ts";
import type { SeenRoute, SeenRouteTable } from "./model.ts";
import { awaitsInitialisation, observeTables, routedNode, type Where, withMachines } from "./observe.ts";
import { planRoutes, type RouteChange } from "./plan.ts";
import { saysSo, writeRouteStatus } from "./report.ts";
import { RouteStatuses } from "./route-status.ts";

export interface RouteParts extends AnnouncementParts {
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  readonly where: Where;
  readonly clusterCidrs: readonly Cidr[];
  /** How often the tables are read again, whether or not a Node changed. */
  readonly driftMs: number;
}

/** How many routes are changed, and how many Nodes written, at the same time. */
const concurrency = 20;
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

/** What one pass looks at, read once at its start. */
interface Pass {
  readonly ask: Ask;
  readonly byName: ReadonlyMap<string, SeenNode>;
  readonly statuses: RouteStatuses;
}

class RouteLoop {
  readonly #parts: RouteParts;
  readonly #backOff: BackOff;
  /** Nodes whose condition could not be written, by name. */
  readonly #unwritten: BackOff;
  readonly #announcements: Announcements;
  readonly #syncs;
  readonly #routes;
  readonly #inTable;
  /** As last read, kept in step with what we write. */
  #tables: readonly (SeenRouteTable & { readonly routes: Map<string, SeenRoute> })[] = [];
  /** They are not as they were read, or it is not known whether they are. */
  #stale = true;

  constructor(parts: RouteParts) {
    this.#parts = parts;
    this.#backOff = new BackOff(parts.host.world);
    this.#unwritten = new BackOff(parts.host.world);
    this.#announcements = new Announcements(parts);
    this.#syncs = counter(parts.host.metrics, {
      name: "route_controller_route_sync_total",
      help: "Reconciliations of the cluster's routes, by outcome and cause.",
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
    const ask: Ask = { cause: "routes", signal, urgency: "user" };
    const tables = await this.#observe(trigger, ask);
    const listed = this.#parts.nodes.list();
    const wishes = listed.flatMap((node) => routedNode(node) ?? []);
    const desired = await withMachines(this.#parts.cloud, desireRoutes(wishes, tables), tables, ask);
    this.#measure(desired, tables);
    const planned = planRoutes(desired, tables, this.#parts.clusterCidrs);
    // What needs no change any more has no trouble any more.
    this.#backOff.keepOnly(new Set(planned.map(({ destination }) => destination)));
    const changes = planned.filter(({ destination }) => !this.#backOff.holds(destination));
    const byName = new Map(listed.map((node) => [node.metadata.name, node]));
    this.#announcements.quota(changes, tables, byName);
    this.#announcements.refusals(desired.refused, byName);
    const changed = await this.#carryOut(changes, { ask, byName, statuses: new RouteStatuses(desired, tables) });
    this.#syncs.inc({ outcome: changed > 0 ? "changed" : "noop", trigger });
    const due = [this.#backOff.dueInMs(), this.#unwritten.dueInMs(), ...desired.refused.map(({ askAgainMs }) => askAgainMs)];
    const dueIn = Math.min(...due.filter((ms) => ms !== undefined));
    return Number.isFinite(dueIn) ? again(dueIn, "retrying routes that could not be created") : done;
  }

  async #observe(trigger: string, ask: Ask): Promise<readonly SeenRouteTable[]> {
    if (!this.#stale && trigger !== triggers.drift) return this.#tables;
    try {
      const tables = await observeTables(this.#parts.cloud, this.#parts.where, ask);
      this.#tables = tables.map((table) => ({ ...table, routes: new Map(table.routes) }));
      this.#stale = false;
      this.#announcements.sighted();
      return this.#tables;
    } catch (error) {
      ask.signal.throwIfAborted();
      this.#announcements.blind(error as Error);
      this.#syncs.inc({ outcome: "error", trigger });
      throw error;
    }
  }

  #measure(desired: DesiredRoutes, tables: readonly SeenRouteTable[]): void {
    this.#routes.set({ state: "wanted" }, desired.wanted.length);
    this.#routes.set({ state: "refused" }, desired.refused.length);
    // A table that is the cluster's no longer is not counted any more.
    this.#inTable.reset();
    for (const { id, routes } of tables) this.#inTable.set({ table: id }, routes.size);
  }

  /**
   * Carries out the changes side by side, each destination on its own, and writes the condition of each Node as soon as
   * nothing more is done for it: where AWS lets through one change every few seconds, a Node must not wait for all the
   * others. Returns how many changes succeeded.
   */
  async #carryOut(changes: readonly RouteChange[], pass: Pass): Promise<number> {
    const { clock } = this.#parts.host.world;
    let succeeded = 0;
    const failures: unknown[] = [];
    const report = (name: string) => this.#report(name, pass).catch((error: unknown) => failures.push(error));
    const pending = new Map<string, number>();
    for (const { wanted } of changes) if (wanted) pending.set(wanted.node.name, (pending.get(wanted.node.name) ?? 0) + 1);
    this.#unwritten.keepOnly(pass.statuses.names);
    const unchanged = [...pass.statuses.names].filter((name) => !pending.has(name));
    await Promise.all([
      forEachConcurrently(clock, unchanged, concurrency, report),
      forEachConcurrently(clock, changes, concurrency, async (change) => {
        if (await this.#change(change, pass)) succeeded++;
        if (change.wanted === undefined) return;
        const { name } = change.wanted.node;
        const left = pending.get(name)! - 1;
        pending.set(name, left);
        if (left === 0) await report(name);
      }),
    ]);
    if (failures.length > 0) throw failures[0];
    return succeeded;
  }

  /** Carries out one change; false when it failed. */
  async #change(change: RouteChange, { ask, byName }: Pass): Promise<boolean> {
    const { cloud } = this.#parts;
    const { destination, wanted } = change;
    try {
      await apply(change.first, cloud, ask);
      await this.#changeTables(change, ask);
      this.#backOff.settled(destination);
      if (wanted?.node.machine?.sourceDestCheck) cloud.instances.forget([wanted.node.machine.instanceId]);
      return true;
    } catch (error) {
      rethrowIfStopped(error, ask.signal);
      // What stands there now is not what we thought, or we do not know whether it does: look again.
      this.#stale = true;
      const news = this.#backOff.failed(destination, error);
      this.#announcements.failure(change, this.#tables, wanted && byName.get(wanted.node.name), error as Error, news);
      return false;
    }
  }

  /** Changes one table after the other, whatever becomes of the one before; throws the first failure in the end. */
  async #changeTables({ destination, wanted, inTables }: RouteChange, ask: Ask): Promise<void> {
    const { instanceId, interfaceId } = wanted?.node.machine ?? {};
    const failures: unknown[] = [];
    for (const [table, change] of inTables) {
      try {
        await apply([change], this.#parts.cloud, ask);
      } catch (error) {
        rethrowIfStopped(error, ask.signal);
        failures.push(error);
        continue;
      }
      const routes = this.#tables.find(({ id }) => id === table)?.routes;
      if (wanted) routes?.set(destination, { destination, origin: "CreateRoute", state: "active", instanceId, interfaceId });
      else routes?.delete(destination);
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Writes the condition of a Node, unless it says so already. One that cannot be written is tried again by itself. */
  async #report(name: string, { statuses, byName, ask }: Pass): Promise<void> {
    const { kube, host } = this.#parts;
    const { clock } = host.world;
    const [node, status] = [byName.get(name), statuses.of(name)];
    if (node === undefined || status === "unknown" || saysSo(node, status)) return this.#unwritten.settled(name);
    if (this.#unwritten.holds(name)) return;
    try {
      await writeRouteStatus(kube, clock, node, status, ask.signal);
      this.#unwritten.settled(name);
    } catch (error) {
      rethrowIfStopped(error, ask.signal);
      const news = this.#unwritten.failed(name, error);
      if (news) host.log.warn("cannot write a Node's route condition", { node: name, error });
    }
  }
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
