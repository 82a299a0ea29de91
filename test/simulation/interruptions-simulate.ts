/**
 * One history of interruptions from one seed: notices of every kind, hooks on the way in and out, restarts, messages that come twice, that
 * are lost and that are other clusters', two replicas on the queue, in some worlds a third one of another installation, and one handler on
 * its own machine, that end after any of their writes and come again, people and controllers that write the same Nodes, an API server and an AWS with bad days. In the end every notice has its
 * end, and nothing else was touched.
 */
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import { type InterruptionWorld, interruptionWorld, managed, type RunningHandler } from "../bed/interruption-world.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { InterruptionGroup } from "./interruptions-group.ts";
import { Happenings, reservationId } from "./interruptions-happenings.ts";
import { InterruptionRules } from "./interruptions-rules.ts";
import { ClusterUsers } from "./interruptions-users.ts";
import { type Outcome, played } from "./outcome.ts";

const troubledMs = 240_000;
/** The longest a hook holds here, and then some. */
const patienceMs = 900_000;
/** How often a handler ends after one of its writes, while there is trouble. */
const crashesPerWrite = 0.04;
/** How often somebody else writes the Node right before a handler does. */
const meddlingPerWrite = 0.03;

/** Flags that some clusters have. */
const wishes = [
  "--taint-node",
  "--enable-out-of-service-taint",
  "--exclude-from-load-balancers",
  "--heartbeat-interval=60",
  "--override-budgets-before-deadline-seconds=30",
  "--load-balancer-wait-seconds=15",
];

/** Plays the history of a seed to its end. */
export async function simulateInterruptions(seed: number): Promise<Outcome> {
  const world = await interruptionWorld(seed);
  const history = new History(world.world.clock);
  return played(seed, history, () => new InterruptionScene(world, history).play());
}

/** Who is in the world besides handlers. */
interface Cast {
  /** They may be told anything; one more is there that nobody speaks of. */
  readonly nodes: readonly Instance[];
  readonly inBlock: readonly Instance[];
  readonly own: Instance;
  readonly foreign: Instance;
  /** A machine that may come under another's name. */
  readonly spare: Instance;
  readonly group: InterruptionGroup;
  readonly rules: InterruptionRules;
}

class InterruptionScene {
  readonly #w: InterruptionWorld;
  readonly #history: History;
  readonly #chance: Chance;
  readonly #happenings: Happenings;
  readonly #users: ClusterUsers;
  readonly #handlers = new Map<string, { readonly name: string; readonly handler: RunningHandler }>();
  readonly #flags: readonly string[];
  readonly #replicas: readonly string[];
  #generation = 0;
  #troubled = true;
  #over = false;
  #cast!: Cast;

  constructor(w: InterruptionWorld, history: History) {
    this.#w = w;
    this.#history = history;
    this.#chance = chanceOf(w.world.random);
    this.#happenings = new Happenings(w, this.#chance, history);
    this.#users = new ClusterUsers(w, history);
    this.#flags = wishes.filter(() => this.#chance.happens(0.3));
    this.#replicas = ["a", "b", "own", ...(this.#chance.happens(0.4) ? ["far"] : [])];
  }

  async play(): Promise<void> {
    const w = this.#w;
    this.#cast = await this.#assemble();
    const { rules } = this.#cast;
    w.watcher = (...write) => {
      rules.judgeWrite(...write);
      this.#perhapsMeddle(write[2]);
    };
    w.written = (who) => {
      rules.judgeCalls();
      this.#perhapsCrash(who);
    };
    this.#history.tell("flags", this.#flags.join(" "));
    for (const replica of this.#replicas) this.#start(replica);
    const until = w.now + troubledMs;
    while (w.now < until) {
      await w.world.advance(this.#chance.between(500, 15_000));
      rules.judgeMoment();
      await this.#aws();
      await this.#people();
      this.#accidents();
    }
    await this.#calm();
    for (let waited = 0; waited < patienceMs && rules.differences().length > 0; waited += 5_000) {
      await w.world.advance(5_000);
      await this.#cast.group.progress();
      rules.judgeMoment();
    }
    rules.judgeEnd();
    this.#over = true;
    w.close();
  }

  async #assemble(): Promise<Cast> {
    const w = this.#w;
    const [, ...nodes] = await w.nodes(6);
    const [own] = await w.nodes(1, {});
    const { instances } = w.aws.account.ec2;
    const [foreign, spare] = launchNodes(w.aws, w.network, 2).map(({ id }) =>
      instances.update(id, { state: "running", tags: { ...instances.get(id)!.tags, ...managed } }),
    );
    const inBlock = nodes.slice(0, 2);
    for (const { id } of inBlock) instances.update(id, { capacityReservationId: reservationId });
    const group = await InterruptionGroup.make(w, this.#history, 2);
    await this.#fill([...w.cluster.objects("nodes").map(({ metadata }) => metadata.name)]);
    const { privateDnsName: ownNode } = own!;
    const rules = new InterruptionRules(w, this.#history, { ownNode, happenings: this.#happenings, users: this.#users, group });
    return { nodes, inBlock, own: own!, foreign: foreign!, spare: spare!, group, rules };
  }

  async #fill(nodes: readonly string[]): Promise<void> {
    const w = this.#w;
    for (const node of nodes) {
      const count = Math.floor(this.#chance.between(1, 5));
      for (let at = 0; at < count; at++) {
        const labels: Record<string, string> = this.#chance.happens(0.3) ? { app: "budgeted" } : {};
        await w.pod({ name: `pod-${w.pods().length}`, node, labels, graceSeconds: 30, endsAfterMs: this.#chance.between(500, 20_000) });
      }
    }
    await w.budget("budgeted", this.#chance.happens(0.5) ? 50 : 0);
  }

  async #aws(): Promise<void> {
    const happenings = this.#happenings;
    const chance = this.#chance;
    const { nodes, inBlock, own, foreign, group } = this.#cast;
    if (chance.happens(0.5)) happenings.notice([...nodes, own], own.privateDnsName);
    if (chance.happens(0.04)) happenings.maintenanceOfMany(nodes);
    if (chance.happens(0.03)) happenings.endBlock(inBlock);
    if (chance.happens(0.05)) happenings.foreign(foreign);
    if (chance.happens(0.15)) happenings.scaleIn(group);
    if (chance.happens(0.05)) happenings.rebalance(group);
    if (chance.happens(0.6)) await group.progress();
    if (chance.happens(0.2)) happenings.repeat();
    if (chance.happens(0.1)) happenings.lose();
    if (chance.happens(0.1)) this.#w.send("poison");
    if (chance.happens(0.2)) await happenings.restart();
    if (chance.happens(0.1)) happenings.callOff(own.privateDnsName);
  }

  async #people(): Promise<void> {
    const { named, nodeless } = this.#happenings;
    const chance = this.#chance;
    const { nodes, spare } = this.#cast;
    const fresh = nodes.filter(({ privateDnsName }) => !named.has(privateDnsName));
    if (fresh.length > 0 && chance.happens(0.05)) await this.#users.cordon(chance.pick(fresh)!.privateDnsName);
    const worked = nodes.find(({ privateDnsName: node }) => this.#w.plan(node)?.events.some(({ end }) => end === undefined));
    if (worked === undefined || nodeless.has(worked.id) || !chance.happens(0.04)) return;
    nodeless.add(worked.id);
    await this.#users.remove(worked.privateDnsName, this.#users.successors.size === 0 ? spare : undefined);
  }

  #accidents(): void {
    const chance = this.#chance;
    const replica = chance.pick(this.#replicas)!;
    if (chance.happens(0.12)) this.#crash(replica);
    else if (chance.happens(0.05)) this.#restart(replica);
    if (chance.happens(0.3)) this.#trouble("faults", this.#happenings.misbehave());
    if (chance.happens(0.15)) this.#refuse();
    if (chance.happens(0.1)) {
      this.#trouble("faults", "watches are cut");
      if (chance.happens(0.5)) this.#w.cluster.compact();
      this.#w.cluster.cutWatches();
    }
  }

  /** The API server refuses writes for a moment, or carries them out and does not say so. */
  #refuse(): void {
    // Kubelets and people, who are the world's own, are spared.
    const match = ({ method, headers }: Pick<HttpRequest, "method" | "headers">) => method !== "GET" && headers["user-agent"] !== "kubelet";
    const lost = this.#chance.happens(0.5);
    this.#w.cluster.faults.add({ match, effect: lost ? { kind: "lose-answer" } : { kind: "refuse", status: 503 }, times: 3 });
    this.#trouble("faults", lost ? "answers are lost" : "writes are refused");
  }

  #start(replica: string): void {
    const { own } = this.#cast;
    const name = replica === "own" ? own.privateDnsName : `handler-${replica}${this.#generation++}`;
    this.#history.tell(name, "starts");
    const handler =
      replica === "own"
        ? this.#w.metadataHandler(own, ["--enable-rebalance-monitoring", ...this.#forMetadata()])
        : this.#w.queueHandler([...this.#flags, `--pod-namespace=${replica === "far" ? "default" : "kube-system"}`], name);
    const started = { name, handler };
    this.#handlers.set(replica, started);
    // One that has lost its Lease ends, and kubelet starts it again.
    void handler.ended
      .catch((error: unknown) => this.#trouble(name, String(error)))
      .then(() => {
        if (replica !== "own") this.#cast.rules.ended.add(name);
        if (this.#handlers.get(replica) === started && !this.#over) this.#start(replica);
      });
  }

  /** Heartbeats are for hooks, and hooks are told through queues. */
  #forMetadata(): readonly string[] {
    return this.#flags.filter((flag) => !flag.startsWith("--heartbeat"));
  }

  /** Any write may be a handler's last. */
  #perhapsCrash(who: string): void {
    if (!this.#troubled || !this.#chance.happens(crashesPerWrite)) return;
    const [replica] = [...this.#handlers].find(([, { name }]) => name === who) ?? [];
    if (replica !== undefined) this.#crash(replica);
  }

  /** Somebody else writes the Node that a handler is about to write. */
  #perhapsMeddle(path: string): void {
    if (!this.#troubled || !this.#chance.happens(meddlingPerWrite)) return;
    const node = /\/nodes\/([^/]+)$/.exec(path)?.[1];
    if (node !== undefined && !this.#users.deleted.has(node)) this.#users.taint(node);
  }

  #crash(replica: string): void {
    this.#trouble(replica, "crashes");
    this.#handlers.get(replica)?.handler.kill();
    this.#start(replica);
  }

  /** A roll-out: one is asked to end, and another takes its place at once. */
  #restart(replica: string): void {
    const running = this.#handlers.get(replica);
    if (replica === "own" || running === undefined) return;
    this.#trouble(running.name, "is asked to end");
    running.handler.stop();
    this.#start(replica);
  }

  #trouble(who: string, what: string): void {
    this.#cast.rules.lastTrouble = this.#w.now;
    this.#history.tell(who, what);
  }

  async #calm(): Promise<void> {
    const w = this.#w;
    this.#troubled = false;
    w.aws.controls.faults.remove();
    w.cluster.faults.clear();
    await w.allow("budgeted", 50);
    this.#history.tell("faults", "are over");
  }
}
