/** What must hold in the interruptions' world: while handlers write, between their writes, and in the end. */
import { interruptionPlanAnnotation } from "../../src/identity/node-view.ts";
import { outOfServiceTaint } from "../../src/interruptions/node-change.ts";
import { readPlan } from "../../src/interruptions/plan.ts";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import type { History } from "./history.ts";
import { type Happenings, hookMs, type Named } from "./interruptions-happenings.ts";

/** The Node whose handler asks its metadata service. The queue's handlers must leave it alone: it does not carry the tag. */
export interface RulesOptions {
  readonly ownNode: string;
}

export class InterruptionRules {
  readonly #w: InterruptionWorld;
  readonly #history: History;
  readonly #happenings: Happenings;
  readonly #ownNode: string;
  /** When each Node was first empty, as the plans say it: a later notice drains it again. */
  readonly #emptied = new Map<string, number>();

  constructor(w: InterruptionWorld, history: History, happenings: Happenings, { ownNode }: RulesOptions) {
    this.#w = w;
    this.#history = history;
    this.#happenings = happenings;
    this.#ownNode = ownNode;
  }

  /** What no handler may ever do: judged before it is done. */
  judgeWrite(who: string, method: string, path: string, body: unknown): void {
    const history = this.#history;
    history.tell(who, `${method} ${path}`);
    const pod = /\/pods\/([^/]+)(\/eviction)?$/.exec(path)?.[1];
    const node =
      pod === undefined
        ? /\/nodes\/([^/]+)$/.exec(path)?.[1]
        : this.#w.pods().find(({ metadata }) => metadata?.name === pod)?.spec?.nodeName;
    if (node === undefined) return;
    const named = this.#happenings.named.get(node);
    if (named === undefined) history.broken("no Node is touched that no notice named", `${who} ${method} ${path} ${JSON.stringify(body)}`);
    if ((node === this.#ownNode) !== (who === this.#ownNode)) history.broken("a Node without the tag is not the queue's", `${who} ${path}`);
    if (pod !== undefined) this.#judgeEviction(who, pod, node);
    else if (named !== undefined) {
      this.#judgeTaints(who, node, named, body);
      this.#noteEmptied(node, body);
    }
  }

  /** What holds between any two moments. */
  judgeMoment(): void {
    const queued = this.#happenings.queuedIds();
    for (const id of this.#happenings.plannedIds()) {
      if (queued.has(id) || this.#happenings.lost.has(id)) continue;
      this.#happenings.lost.add(id);
      this.#history.broken("a message goes only with the end of its event", Buffer.from(id, "hex").toString());
    }
  }

  /** What is not as it must be in the end. */
  differences(): readonly string[] {
    const w = this.#w;
    w.aws.account.time.settle();
    const left = [...this.#happenings.named].flatMap(([node, { notices, over }]) => {
      const events = w.plan(node)?.events ?? [];
      const open = events.filter(({ id, end }) => end === undefined || (over.has(id) && end !== "over"));
      return open.length > 0 || events.length < notices.length
        ? [`${node}: ${notices.map(({ kind }) => kind).join(" ")}: ${JSON.stringify(events)}`]
        : [];
    });
    const hooks = autoScalingOf(w.aws.account)
      .actions.values()
      .map(({ instanceId }) => `the hook of ${instanceId} still holds it`);
    return [...left, ...hooks, ...(w.messages > 0 ? [`${w.messages} messages are left`] : [])];
  }

  judgeEnd(): void {
    for (const difference of this.differences()) this.#history.broken("every notice has its end", difference);
    for (const [node, named] of this.#happenings.named) {
      this.#judgeDeadlines(node, named);
      this.#judgeNode(node, named);
      this.#judgeHooks(named);
    }
  }

  #judgeEviction(who: string, pod: string, node: string): void {
    const holder = this.#w.plan(node)?.holder ?? "nobody";
    if (holder.startsWith(`${who}_`) || holder === `node/${who}`) return;
    this.#history.broken("only who holds the plan evicts", `${who} evicts ${pod} of ${node}, which ${holder} holds`);
  }

  #judgeTaints(who: string, node: string, { instance }: Named, body: unknown): void {
    const { taints = [] } = (body as { spec?: { taints?: readonly { key: string }[] } }).spec ?? {};
    if (!taints.some(({ key }) => key === outOfServiceTaint.key)) return;
    const gone = this.#w.aws.account.ec2.instances.get(instance.id)?.state === "terminated";
    if (gone || this.#w.pods(node).length === 0) return;
    this.#history.broken("a Node is out of service when it is empty or gone", `${who} ${node}: ${this.#w.podNames(node).join(" ")}`);
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
    const { annotations = {} } = (body as { metadata?: { annotations?: Readonly<Record<string, string>> } }).metadata ?? {};
    const { drainedAt } = readPlan(annotations[interruptionPlanAnnotation]) ?? {};
    if (drainedAt !== undefined) this.#emptied.set(node, Math.min(drainedAt, this.#emptied.get(node) ?? drainedAt));
  }

  #judgeNode(node: string, { over }: Named): void {
    const w = this.#w;
    const events = w.plan(node)?.events ?? [];
    const isBack = events.length > 0 && events.every(({ end }) => end === "over");
    const back = events.filter(({ id }) => over.has(id));
    if (back.some(({ end }) => end !== "over"))
      this.#history.broken("a machine that is back serves again", `${node}: ${JSON.stringify(back)}`);
    if (isBack && w.isCordoned(node)) this.#history.broken("a machine that is back serves again", `${node} is cordoned`);
    if (!isBack && !w.isCordoned(node)) this.#history.broken("what is to go takes no more pods", node);
  }

  /** A hook is completed or abandoned by a handler, where nothing went wrong in its last minute. */
  #judgeHooks({ instance, notices }: Named): void {
    const [scaledIn] = notices.filter(({ kind }) => kind === "termination");
    if (scaledIn === undefined || this.#happenings.lastTrouble > scaledIn.told + hookMs - 60_000) return;
    const completed = this.#w.aws.controls.journal
      .entries()
      .some(({ action, input }) => action === "autoscaling:CompleteLifecycleAction" && input.InstanceId === instance.id);
    if (!completed) this.#history.broken("no hook is left to run out by itself", instance.privateDnsName);
  }
}
