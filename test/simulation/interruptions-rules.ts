/** What must hold in the interruptions' world: while handlers write, between their writes, and in the end. */
import { interruptionPlanAnnotation } from "../../src/identity/node-view.ts";
import { outOfServiceTaint } from "../../src/interruptions/node-change.ts";
import { activeEvents, type NodePlan, readPlan } from "../../src/interruptions/plan.ts";
import type { JournalEntry } from "../../src/sandbox/cloud/controls/journal.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import type { History } from "./history.ts";
import { hookMs, type InterruptionGroup } from "./interruptions-group.ts";
import type { Happenings, Named } from "./interruptions-happenings.ts";
import { eventHex, queued } from "./interruptions-queue.ts";
import type { ClusterUsers } from "./interruptions-users.ts";

/** Who else is in the world. */
export interface RulesOptions {
  /** The Node whose handler asks its metadata service. The queue's handlers must leave it alone: it does not carry the tag. */
  readonly ownNode: string;
  readonly happenings: Happenings;
  readonly users: ClusterUsers;
  readonly group: InterruptionGroup;
}

const maxWritesAtOnce = 20;
/** A Lease is renewed every two seconds, and without a renewal for ten its holder writes no more. */
const freshLeaseMs = 5_000;

interface Lease {
  readonly spec: { readonly holderIdentity?: string; readonly renewTime: string };
}

export class InterruptionRules {
  /** When something last went wrong. */
  lastTrouble = 0;
  /** Handlers that have come to their end. */
  readonly ended = new Set<string>();
  readonly #w: InterruptionWorld;
  readonly #history: History;
  readonly #options: RulesOptions;
  /** When each Node was first empty, as the plans say it: a later notice drains it again. */
  readonly #emptied = new Map<string, number>();
  #judged = 0;
  /** Writes of one Node by one handler at one moment. */
  readonly #atOnce = { what: "", count: 0 };

  constructor(w: InterruptionWorld, history: History, options: RulesOptions) {
    this.#w = w;
    this.#history = history;
    this.#options = options;
  }

  /** What no handler may ever do: judged before it is done. */
  judgeWrite(who: string, method: string, path: string, body: unknown): void {
    const history = this.#history;
    const { happenings, group, ownNode, users } = this.#options;
    history.tell(who, `${method} ${path}`);
    if (this.ended.has(who)) history.broken("who has ended writes nothing", `${who} ${method} ${path}`);
    const pod = /\/pods\/([^/]+)(\/eviction)?$/.exec(path)?.[1];
    const node =
      pod === undefined
        ? /\/nodes\/([^/]+)$/.exec(path)?.[1]
        : this.#w.pods().find(({ metadata }) => metadata?.name === pod)?.spec?.nodeName;
    if (node === undefined) return;
    happenings.noteTerminations(group);
    const named = happenings.named.get(node);
    if (named === undefined) history.broken("no Node is touched that no notice named", `${who} ${method} ${path} ${JSON.stringify(body)}`);
    if ((node === ownNode) !== (who === ownNode)) history.broken("a Node without the tag is not the queue's", `${who} ${path}`);
    // Of a Node that is gone a write may still be on its way; whether it did harm is judged in the end.
    if (users.deleted.has(node)) return;
    if (pod === undefined) this.#judgeRepetition(who, node);
    if (pod !== undefined) this.#judgeEviction(who, pod, node);
    else if (named !== undefined) {
      this.#judgeTaints(who, node, named, body);
      this.#judgeHolder(who, node, body);
      this.#noteEmptied(node, body);
    }
  }

  /** What was done in AWS since it was last judged. */
  judgeCalls(): void {
    const { journal } = this.#w.aws.controls;
    for (const entry of journal.entries(this.#judged)) this.#judgeCall(entry);
    this.#judged = journal.recorded;
  }

  /** What holds between any two moments. */
  judgeMoment(): void {
    const { happenings } = this.#options;
    const present = new Set(queued(this.#w).map(({ body }) => eventHex(body)));
    for (const id of happenings.plannedIds()) {
      if (present.has(id) || happenings.lost.has(id)) continue;
      happenings.lost.add(id);
      this.#history.broken("a message goes only with the end of its event", Buffer.from(id, "hex").toString());
    }
  }

  /** What is not as it must be in the end. */
  differences(): readonly string[] {
    const w = this.#w;
    const { happenings, users, group } = this.#options;
    w.aws.account.time.settle();
    happenings.noteTerminations(group);
    const left = [...happenings.named].flatMap(([node, { notices, over }]) => {
      if (users.deleted.has(node)) return [];
      const events = w.plan(node)?.events ?? [];
      const open = events.filter(({ id, end }) => end === undefined || (over.has(id) && end !== "over"));
      return open.length > 0 || events.length < notices.length
        ? [`${node}: ${notices.map(({ kind }) => kind).join(" ")}: ${JSON.stringify(events)}`]
        : [];
    });
    const hooks = group.workers.as.actions.values().map(({ instanceId }) => `a hook still holds ${instanceId}`);
    const messages = w.messages - this.#othersMessages();
    return [...left, ...hooks, ...(messages > 0 ? [`${messages} messages are left`] : [])];
  }

  judgeEnd(): void {
    const { happenings, users } = this.#options;
    for (const difference of this.differences()) this.#history.broken("every notice has its end", difference);
    for (const [node, named] of happenings.named) {
      if (users.deleted.has(node)) continue;
      this.#judgeDeadlines(node, named);
      this.#judgeNode(node, named);
      this.#judgeHooks(named);
    }
    this.#judgeUsers();
    const left = queued(this.#w).filter(({ body }) => happenings.foreignTold.some((id) => body.includes(id)));
    if (left.length < happenings.foreignTold.length)
      this.#history.broken("what is another cluster's is left alone", `${left.length} are left`);
  }

  /** Messages about running instances that are no Nodes here: nobody here has to do with them. */
  #othersMessages(): number {
    const { happenings } = this.#options;
    const theirs = [...happenings.nodeless].flatMap((id) => {
      const { state, capacityReservationId = id } = this.#w.aws.account.ec2.instances.get(id) ?? {};
      return state === "running" ? [id, capacityReservationId] : [];
    });
    return queued(this.#w).filter(({ body }) => theirs.some((id) => body.includes(id))).length;
  }

  /** Whoever is refused looks before he tries again. */
  #judgeRepetition(who: string, node: string): void {
    const what = `${who} ${node} ${this.#w.now}`;
    const known = this.#atOnce;
    Object.assign(known, { what, count: known.what === what ? known.count + 1 : 1 });
    if (known.count === maxWritesAtOnce) this.#history.broken("nobody writes a Node over and over", `${who} ${node}`);
  }

  #judgeEviction(who: string, pod: string, node: string): void {
    const holder = this.#w.plan(node)?.holder ?? "nobody";
    if (identityIn(holder).startsWith(`${who}_`) || holder === `node/${who}`) return;
    this.#history.broken("only who holds the plan evicts", `${who} evicts ${pod} of ${node}, which ${holder} holds`);
  }

  /** Whoever takes a plan over takes it from nobody whose Lease is fresh, of whichever installation. */
  #judgeHolder(who: string, node: string, body: unknown): void {
    const before = this.#w.plan(node);
    const after = planIn(body);
    if (before === undefined || after === undefined || after.holder === before.holder || activeEvents(before).length === 0) return;
    // Of two who take it from a dead one, the API server refuses the second.
    if (versionIn(body) !== this.#w.node(node)?.metadata?.resourceVersion) return;
    const held = (this.#w.cluster.objects("leases.coordination.k8s.io") as unknown as readonly Lease[]).find(
      ({ spec }) => spec.holderIdentity === identityIn(before.holder),
    );
    if (held === undefined || this.#w.now - Date.parse(held.spec.renewTime) > freshLeaseMs) return;
    this.#history.broken("no plan is taken from one who is at work", `${who} takes ${node} from ${before.holder}`);
  }

  #judgeTaints(who: string, node: string, { instance }: Named, body: unknown): void {
    const { taints = [] } = (body as { spec?: { taints?: readonly { key: string }[] } }).spec ?? {};
    if (!taints.some(({ key }) => key === outOfServiceTaint.key)) return;
    const gone = this.#w.aws.account.ec2.instances.get(instance.id)?.state === "terminated";
    if (gone || this.#w.pods(node).length === 0) return;
    this.#history.broken("a Node is out of service when it is empty or gone", `${who} ${node}: ${this.#w.podNames(node).join(" ")}`);
  }

  /** A hook lets an instance in when its Node is ready, and out when its Node is empty or gone. */
  #judgeCall({ action, input, result }: JournalEntry): void {
    if (action !== "autoscaling:CompleteLifecycleAction" || result !== "ok") return;
    const instanceId = String(input.InstanceId);
    if (input.LifecycleHookName === "join") {
      if (!this.#options.group.isReady(instanceId)) this.#history.broken("an instance is let in when its Node is ready", instanceId);
      return;
    }
    const node = this.#w.aws.account.ec2.instances.get(instanceId)?.privateDnsName ?? "";
    if (input.LifecycleActionResult === "ABANDON" || this.#options.users.deleted.has(node)) return;
    const left = this.#w.podNames(node);
    if (left.length > 0) this.#history.broken("an instance is let go when its Node is empty", `${node}: ${left.join(" ")}`);
  }

  /** A notice that came in time ends drained before its deadline, or with the reason said. */
  #judgeDeadlines(node: string, { notices }: Named): void {
    const w = this.#w;
    const plan = w.plan(node);
    const deadlines = notices.flatMap(({ deadline }) => deadline ?? []);
    const done = plan?.events.every(({ end }) => end !== "failed") ?? false;
    // In an Event, or, where the process has ended before it was sent, in the plan.
    const inPlan = plan?.lateMs !== undefined || (plan?.events.some(({ why }) => why !== undefined) ?? false);
    const said = inPlan || w.events(node).includes("CordonAndDrainError") || w.events(node).includes("PostDrainError");
    const emptied = this.#emptied.get(node) ?? Number.POSITIVE_INFINITY;
    const inTime =
      deadlines.length === 0 || emptied <= Math.min(...deadlines) || (plan?.events.every(({ end }) => end === "over") ?? false);
    if ((done && inTime) || said) return;
    this.#history.broken(
      "in time, or with the reason said",
      `${node}: drained ${emptied}, deadlines ${deadlines}, ${w.events(node).join(" ")}`,
    );
  }

  #noteEmptied(node: string, body: unknown): void {
    const { drainedAt } = planIn(body) ?? {};
    if (drainedAt !== undefined) this.#emptied.set(node, Math.min(drainedAt, this.#emptied.get(node) ?? drainedAt));
  }

  #judgeNode(node: string, { over }: Named): void {
    const w = this.#w;
    const events = w.plan(node)?.events ?? [];
    const isBack = events.length > 0 && events.every(({ end }) => end === "over");
    const back = events.filter(({ id }) => over.has(id));
    if (back.some(({ end }) => end !== "over"))
      this.#history.broken("a machine that is back serves again", `${node}: ${JSON.stringify(back)}`);
    const byUser = this.#options.users.cordoned.has(node);
    if (isBack && w.isCordoned(node) && !byUser) this.#history.broken("a machine that is back serves again", `${node} is cordoned`);
    if (!isBack && !w.isCordoned(node)) this.#history.broken("what is to go takes no more pods", node);
  }

  /** A hook is completed or abandoned by a handler, where nothing went wrong in its last minute. */
  #judgeHooks({ instance, notices }: Named): void {
    const [scaledIn] = notices.filter(({ kind }) => kind === "termination");
    if (scaledIn === undefined || this.lastTrouble > scaledIn.told + hookMs - 60_000) return;
    const completed = this.#w.aws.controls.journal
      .entries()
      .some(({ action, input }) => action === "autoscaling:CompleteLifecycleAction" && input.InstanceId === instance.id);
    if (!completed) this.#history.broken("no hook is left to run out by itself", instance.privateDnsName);
  }

  /** What others did to Nodes is as they left it. */
  #judgeUsers(): void {
    const w = this.#w;
    const { cordoned, taints, deleted, successors } = this.#options.users;
    for (const node of cordoned) {
      if (!deleted.has(node) && !w.isCordoned(node)) this.#history.broken("who was cordoned by hand stays so", node);
    }
    for (const [node, keys] of taints) {
      const present = w.node(node)?.spec?.taints?.map(({ key }) => key) ?? [];
      const missing = deleted.has(node) ? [] : keys.filter((key) => !present.includes(key));
      if (missing.length > 0) this.#history.broken("what others wrote on a Node stays", `${node}: ${missing.join(" ")}`);
    }
    for (const [node, pod] of successors) {
      if (!w.isCordoned(node) && w.plan(node) === undefined && w.podNames(node).includes(pod)) continue;
      this.#history.broken("a Node does not go for another of its name", `${node}: ${w.podNames(node).join(" ")}`);
    }
  }
}

/** The plan that a write of a Node carries. */
function planIn(body: unknown): NodePlan | undefined {
  const { annotations = {} } = (body as { metadata?: { annotations?: Readonly<Record<string, string>> } }).metadata ?? {};
  return readPlan(annotations[interruptionPlanAnnotation]);
}

function versionIn(body: unknown): string | undefined {
  return (body as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion;
}

/** The identity in the holder of a plan that is a replica: its host name and something random. */
function identityIn(holder: string): string {
  return holder.split("/").at(-1) ?? "";
}
