/** What AWS does in the interruptions' world: notices of every kind, hooks, messages that come twice or not at all, and its bad days. */
import { rebalanceZones } from "../../src/sandbox/cloud/autoscaling/scaling.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { endMaintenance, interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type CloudEvent, envelope } from "../../src/sandbox/cloud/events/bus.ts";
import { capacityBlockExpiration, reservationInterruption, scheduledChange, stateChange } from "../../src/sandbox/cloud/events/shapes.ts";
import type { InterruptionWorld } from "../bed/interruption-world.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";
import type { InterruptionGroup } from "./interruptions-group.ts";
import { eventHex, hexIn, queued, removeMessages } from "./interruptions-queue.ts";

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

/** What AWS's bad days look like. */
const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "fail", code: "InternalError", status: 500 },
  { kind: "delay", ms: 3_000 },
];

const minuteMs = 60_000;
/** A handler on the machine looks every two seconds, and needs another moment to write down what it heard. */
const lastWordMs = 10_000;
/** The reservation that some instances are in. */
export const reservationId = "cr-0123456789abcdef0";

export class Happenings {
  /** By the name of the Node. */
  readonly named = new Map<string, Named>();
  /** Messages that were taken away, by the id that their events carry. */
  readonly lost = new Set<string>();
  /** Instances that have no Node here, or none any more: messages about them, or their reservation, are other clusters'. */
  readonly nodeless = new Set<string>();
  /** The instance of another cluster, as often as its notice was sent. */
  readonly foreignTold: string[] = [];
  readonly #w: InterruptionWorld;
  readonly #chance: Chance;
  readonly #history: History;
  /** The Nodes of messages that are about several machines, by the id that their events carry. */
  readonly #several = new Map<string, readonly string[]>();
  #blockEnds = false;

  constructor(w: InterruptionWorld, chance: Chance, history: History) {
    this.#w = w;
    this.#chance = chance;
    this.#history = history;
  }

  /** A notice to one of these Nodes; seldom a second one to the same. The metadata service tells some kinds only. */
  notice(nodes: readonly Instance[], ownNode: string): void {
    const instance = this.#chance.pick(this.#fresh(nodes).length > 0 && this.#chance.happens(0.8) ? this.#fresh(nodes) : nodes);
    if (instance === undefined || !this.#mayBeTold(instance)) return;
    const own = instance.privateDnsName === ownNode;
    const kind = this.#chance.pick(["spot", "rebalance", "maintenance", ...(own ? [] : ["reservation", "state-change"])])!;
    const named = this.#name(instance);
    // Nobody is told twice that his capacity is wanted.
    if (named.notices.some((notice) => notice.kind === kind)) return;
    const { ec2 } = this.#w.aws.account;
    const current = ec2.instances.get(instance.id)!;
    if (kind === "rebalance") recommendRebalance(ec2, current);
    if (kind === "maintenance") {
      const notBefore = this.#w.now + 60 * minuteMs;
      named.maintenance = scheduleMaintenance(ec2, current, { code: "system-reboot", description: "why", notBefore });
    }
    if (kind === "state-change") this.#emit(stateChange(this.#w.aws.account, instance.id, "stopping"));
    const deadline = kind === "spot" ? interruptSpot(ec2, current) : kind === "reservation" ? this.#reservation(current) : undefined;
    this.#tell(instance, kind, deadline);
  }

  /** One message of AWS Health about several machines. */
  maintenanceOfMany(nodes: readonly Instance[]): void {
    const hit = this.#fresh(nodes)
      .filter((instance) => this.#mayBeTold(instance))
      .slice(0, 3);
    if (hit.length < 2) return;
    const { account } = this.#w.aws;
    const ids = hit.map(({ id }) => id);
    this.#emitOfSeveral(scheduledChange(account, ids, "AWS_EC2_SYSTEM_REBOOT_SCHEDULED", "why", this.#w.now + 60 * minuteMs), hit);
    for (const instance of hit) this.#tell(instance, "maintenance");
  }

  /** The capacity block of these instances ends in forty minutes; in ten they are terminated. */
  endBlock(nodes: readonly Instance[]): void {
    const hit = nodes.filter((instance) => this.#mayBeTold(instance));
    if (this.#blockEnds || hit.length < nodes.length) return;
    this.#blockEnds = true;
    this.#emitOfSeveral(capacityBlockExpiration(this.#w.aws.account, reservationId, this.#w.now + 40 * minuteMs), hit);
    for (const instance of hit) this.#tell(instance, "capacity-block", this.#w.now + 10 * minuteMs);
  }

  /** A notice about an instance that is no Node of this cluster. */
  foreign(instance: Instance): void {
    this.nodeless.add(instance.id);
    this.foreignTold.push(instance.id);
    this.#history.tell("aws", `rebalance ${instance.id}, which is another cluster's`);
    recommendRebalance(this.#w.aws.account.ec2, this.#w.aws.account.ec2.instances.get(instance.id)!);
  }

  /** A machine that maintenance was announced for starts anew, as soon as somebody has written down why. */
  async restart(): Promise<void> {
    for (const [node, named] of this.named) {
      const announced = this.#w.plan(node)?.events.filter(({ restarts }) => restarts) ?? [];
      if (announced.length === 0 || named.restarted || !this.#isRunning(named.instance) || !this.#chance.happens(0.5)) continue;
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
    if (!this.#isRunning(named.instance) || this.#isEnding(named)) return;
    if (!(this.#w.plan(node)?.events.some(({ id }) => id === named.maintenance) ?? false)) return;
    named.calledOff = true;
    named.over.add(named.maintenance);
    this.#history.tell("aws", `calls maintenance of ${node} off`);
    endMaintenance(this.#w.aws.account.ec2, named.instance, named.maintenance, "Canceled");
  }

  /** The group gives one of its instances up; its hook holds it. */
  scaleIn(group: InterruptionGroup): void {
    const held = group.giveUp();
    if (held !== undefined) this.#tell(held, "termination");
  }

  /** The group has its instances in the wrong zones: a new one is launched, and when it is in service an old one goes. */
  rebalance(group: InterruptionGroup): void {
    this.#history.tell("aws", "rebalances between zones");
    const { as } = group.workers;
    rebalanceZones(as, as.groups.get("workers")!);
  }

  /** Instances whose termination the group began by itself. */
  noteTerminations(group: InterruptionGroup): void {
    for (const instance of group.ending()) {
      if (this.#w.node(instance.privateDnsName) === undefined) this.nodeless.add(instance.id);
      else this.#tell(instance, "termination");
    }
  }

  /** SQS delivers at least once: the same message a second time. */
  repeat(): void {
    const [first] = queued(this.#w);
    if (first !== undefined) this.#w.send(first.body);
  }

  /** A message is kept for so long only. Whoever has begun its work must end it without. */
  lose(): void {
    const planned = this.plannedIds();
    const isPlanned = (hex: string) => (node: string) => this.#w.plan(node)?.events.some(({ id }) => hexIn(id).includes(hex)) ?? false;
    const isKnown = (hex: string) => planned.has(hex) && (this.#several.get(hex) ?? []).every(isPlanned(hex));
    const message = queued(this.#w).find(({ body }) => isKnown(eventHex(body)));
    if (message === undefined) return;
    this.lost.add(eventHex(message.body));
    this.#history.tell("aws", `loses message ${message.id}`);
    removeMessages(this.#w, message.body);
  }

  /** Ids of messages whose events are in a plan and have not ended. */
  plannedIds(): ReadonlySet<string> {
    const events = [...this.named.keys()].flatMap((node) => this.#w.plan(node)?.events ?? []);
    return new Set(events.filter(({ end }) => end === undefined).flatMap(({ id }) => hexIn(id)));
  }

  /** Calls of one service go wrong for a while. */
  misbehave(): string {
    const action = this.#chance.pick(["sqs:*", "autoscaling:*", "ec2:*"])!;
    const effect = this.#chance.pick(effects)!;
    this.#w.aws.controls.faults.add({ action, effect, probability: this.#chance.between(0.2, 0.8), times: 5 });
    return `${action} ${effect.kind}`;
  }

  #reservation({ id, zoneId }: Instance): number {
    const deadline = this.#w.now + 2 * minuteMs;
    this.#emit(reservationInterruption(this.#w.aws.account, id, zoneId, deadline));
    return deadline;
  }

  #fresh(nodes: readonly Instance[]): readonly Instance[] {
    return nodes.filter(({ privateDnsName }) => !this.named.has(privateDnsName));
  }

  #mayBeTold(instance: Instance): boolean {
    const named = this.named.get(instance.privateDnsName);
    if (this.nodeless.has(instance.id) || !this.#isRunning(instance)) return false;
    if (named !== undefined && this.#isEnding(named)) return false;
    return named === undefined || (named.notices.length < 2 && !named.restarted);
  }

  /** What is told to a machine in its last seconds nobody can hear. */
  #isEnding({ notices }: Named): boolean {
    return notices.some(({ deadline }) => deadline !== undefined && deadline - this.#w.now < lastWordMs);
  }

  #isRunning({ id }: Instance): boolean {
    return this.#w.aws.account.ec2.instances.get(id)?.state === "running";
  }

  /** Sends what the world's rules do not ask for. */
  #emit(event: CloudEvent): ReturnType<typeof envelope> {
    const message = envelope(this.#w.aws.account, event);
    this.#w.send(message);
    return message;
  }

  #emitOfSeveral(event: CloudEvent, machines: readonly Instance[]): void {
    const nodes = machines.map(({ privateDnsName }) => privateDnsName);
    this.#several.set(eventHex(JSON.stringify(this.#emit(event))), nodes);
  }

  #tell(instance: Instance, kind: string, deadline?: number): void {
    this.#history.tell("aws", `${kind} ${instance.privateDnsName}`);
    this.#name(instance).notices.push({ kind, told: this.#w.now, ...(deadline !== undefined && { deadline }) });
  }

  #name(instance: Instance): Named {
    const known = this.named.get(instance.privateDnsName);
    const named: Named = known ?? { instance, notices: [], restarted: false, over: new Set(), calledOff: false };
    this.named.set(instance.privateDnsName, named);
    return named;
  }
}
