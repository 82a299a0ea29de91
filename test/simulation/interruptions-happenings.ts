/** What happens in the interruptions' world: what AWS does to instances and messages, and what goes wrong. */
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { endMaintenance, interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { messagesOf } from "../../src/sandbox/cloud/sqs/state.ts";
import { type WorkerGroup, workerGroup } from "../bed/interruption-group.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";

/** What AWS has told of a Node. */
export interface Named {
  readonly instance: Instance;
  readonly notices: { readonly kind: string; readonly told: number; readonly deadline?: number }[];
  /** Its machine has started anew since. */
  restarted: boolean;
  /** Events that are over: of maintenance that was called off, or that the machine has come back from. */
  readonly over: Set<string>;
  /** Maintenance that its metadata service tells of. */
  maintenance?: string;
  calledOff: boolean;
}

/** How long a hook holds. */
export const hookMs = 300_000;

/** What AWS's bad days look like. */
const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "fail", code: "InternalError", status: 500 },
  { kind: "delay", ms: 3_000 },
];

export class Happenings {
  /** By the name of the Node. */
  readonly named = new Map<string, Named>();
  /** Messages that were taken away, by the id that their events carry. */
  readonly lost = new Set<string>();
  /** When something last went wrong. */
  lastTrouble = 0;
  readonly #w: InterruptionWorld;
  readonly #chance: Chance;
  readonly #history: History;
  #group: WorkerGroup | undefined;
  #inGroup: readonly Instance[] = [];

  constructor(w: InterruptionWorld, chance: Chance, history: History) {
    this.#w = w;
    this.#chance = chance;
    this.#history = history;
  }

  /** A notice to one of these Nodes; seldom a second one to the same. */
  notice(nodes: readonly Instance[]): void {
    const fresh = nodes.filter(({ privateDnsName }) => !this.named.has(privateDnsName));
    const instance = this.#chance.pick(fresh.length > 0 && this.#chance.happens(0.8) ? fresh : nodes)!;
    const named = this.#name(instance);
    if (named.notices.length >= 2 || named.restarted) return;
    const { ec2 } = this.#w.aws.account;
    const current = ec2.instances.get(instance.id)!;
    if (current.state !== "running") return;
    const kind = this.#chance.pick(["spot", "rebalance", "maintenance"])!;
    // Nobody is told twice that his capacity is wanted.
    if (named.notices.some((notice) => notice.kind === kind)) return;
    this.#history.tell("aws", `${kind} ${instance.privateDnsName}`);
    const told = this.#w.now;
    if (kind === "rebalance") recommendRebalance(ec2, current);
    if (kind === "maintenance") {
      named.maintenance = scheduleMaintenance(ec2, current, { code: "system-reboot", description: "why", notBefore: told + 3_600_000 });
    }
    named.notices.push({ kind, told, ...(kind === "spot" && { deadline: interruptSpot(ec2, current) }) });
  }

  /** A machine that maintenance was announced for starts anew, as soon as somebody has written down why. */
  async restart(): Promise<void> {
    for (const [node, named] of this.named) {
      const announced = this.#w.plan(node)?.events.filter(({ restarts }) => restarts) ?? [];
      if (announced.length === 0 || named.restarted || !this.#chance.happens(0.5)) continue;
      named.restarted = true;
      for (const { id } of announced) named.over.add(id);
      this.#history.tell("aws", `restarts ${node}`);
      await this.#w.restart(node, "boot-2");
      return;
    }
  }

  /** Maintenance is called off, which only the metadata service tells. */
  callOff(node: string): void {
    const named = this.named.get(node);
    if (named?.maintenance === undefined || named.calledOff || named.restarted) return;
    if (!(this.#w.plan(node)?.events.some(({ id }) => id === named.maintenance) ?? false)) return;
    named.calledOff = true;
    named.over.add(named.maintenance);
    this.#history.tell("aws", `calls maintenance of ${node} off`);
    endMaintenance(this.#w.aws.account.ec2, named.instance, named.maintenance, "Canceled");
  }

  /** The group gives one of its instances up; its hook holds it. */
  scaleIn(): void {
    const [held, ...others] = this.#inGroup;
    if (held === undefined) return;
    this.#inGroup = others;
    this.#history.tell("aws", `scale-in ${held.privateDnsName}`);
    this.#name(held).notices.push({ kind: "termination", told: this.#w.now });
    this.#group!.end(held.id);
  }

  /** SQS delivers at least once: the same message a second time. */
  repeat(): void {
    const [first] = this.#messages();
    if (first !== undefined) this.#w.send(first.body);
  }

  /** A message is kept for so long only. Whoever has begun its work must end it without. */
  lose(): void {
    const planned = this.plannedIds();
    const message = this.#messages().find(({ body }) => planned.has(eventHex(body)));
    if (message === undefined) return;
    this.lost.add(eventHex(message.body));
    this.#history.tell("aws", `loses message ${message.id}`);
    const { sqs } = this.#w.aws.account;
    for (const { id, body } of this.#messages()) {
      if (body === message.body) messagesOf(sqs, sqs.queues.get("events")!).delete(id);
    }
  }

  /** Ids of messages in the queue, as their events carry them. */
  queuedIds(): ReadonlySet<string> {
    return new Set(this.#messages().map(({ body }) => eventHex(body)));
  }

  /** Ids of messages whose events are in a plan and have not ended. */
  plannedIds(): ReadonlySet<string> {
    const events = [...this.named.keys()].flatMap((node) => this.#w.plan(node)?.events ?? []);
    return new Set(events.filter(({ end }) => end === undefined).flatMap(({ id }) => hexIn(id)));
  }

  /** AWS, or the API server, has a bad moment. */
  misbehave(): void {
    const w = this.#w;
    const action = this.#chance.pick(["sqs:*", "autoscaling:*", "ec2:*"])!;
    const effect = this.#chance.pick(effects)!;
    w.aws.controls.faults.add({ action, effect, probability: this.#chance.between(0.2, 0.8), times: 5 });
    if (this.#chance.happens(0.5)) {
      const lost = this.#chance.happens(0.5);
      // Kubelets, which are the world's own, are spared.
      const match = ({ method, headers }: Pick<HttpRequest, "method" | "headers">) =>
        method !== "GET" && headers["user-agent"] !== "kubelet";
      w.cluster.faults.add({ match, effect: lost ? { kind: "lose-answer" } : { kind: "refuse", status: 503 }, times: 3 });
    }
    this.trouble("faults", `${action} ${effect.kind}`);
  }

  trouble(who: string, what: string): void {
    this.lastTrouble = this.#w.now;
    this.#history.tell(who, what);
  }

  /** Instances of a group whose hook holds them for five minutes, with Nodes. */
  async group(size: number): Promise<readonly Instance[]> {
    this.#group = await workerGroup(this.#w, size, hookMs / 1000);
    this.#inGroup = this.#group.instances;
    return this.#inGroup;
  }

  #name(instance: Instance): Named {
    const named = this.named.get(instance.privateDnsName) ?? {
      instance,
      notices: [],
      restarted: false,
      over: new Set<string>(),
      calledOff: false,
    };
    this.named.set(instance.privateDnsName, named);
    return named;
  }

  #messages() {
    const { sqs } = this.#w.aws.account;
    return messagesOf(sqs, sqs.queues.get("events")!)
      .values()
      .filter(({ body }) => body.startsWith("{"));
  }
}

/** The id of a message as the ids of its events carry it. */
function eventHex(body: string): string {
  return Buffer.from((JSON.parse(body) as { id?: string }).id ?? "").toString("hex");
}

/** The id of the message in that of an event; none in those of the metadata service. */
function hexIn(eventId: string): readonly string[] {
  const found = /(?:-event|asg-lifecycle-term)-([0-9a-f]{72})/.exec(eventId)?.[1];
  return found === undefined ? [] : [found];
}
