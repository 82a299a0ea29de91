/**
 * One history of interruptions from one seed: notices of every kind, hooks, restarts, messages that come twice and that are lost, two
 * replicas on the queue and one handler on its own machine that end after any of their writes and come again, an API server and an AWS
 * with bad days. In the end every notice has its end, and nothing else was touched.
 */
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type InterruptionWorld, interruptionWorld, type RunningHandler } from "../bed/interruption-world.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { Happenings } from "./interruptions-happenings.ts";
import { InterruptionRules } from "./interruptions-rules.ts";
import { type Outcome, played } from "./outcome.ts";

const troubledMs = 240_000;
/** The longest a hook holds here, and then some. */
const patienceMs = 900_000;
/** How often a handler ends after one of its writes, while there is trouble. */
const crashesPerWrite = 0.04;

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

class InterruptionScene {
  readonly #w: InterruptionWorld;
  readonly #history: History;
  readonly #chance: Chance;
  readonly #happenings: Happenings;
  readonly #handlers = new Map<string, RunningHandler>();
  readonly #flags: readonly string[];
  #generation = 0;
  #troubled = true;
  #own: Instance | undefined;

  constructor(w: InterruptionWorld, history: History) {
    this.#w = w;
    this.#history = history;
    this.#chance = chanceOf(w.world.random);
    this.#happenings = new Happenings(w, this.#chance, history);
    this.#flags = wishes.filter(() => this.#chance.happens(0.3));
  }

  async play(): Promise<void> {
    const w = this.#w;
    const nodes = await w.nodes(5);
    const [own] = await w.nodes(1, {});
    this.#own = own!;
    const rules = new InterruptionRules(w, this.#history, this.#happenings, { ownNode: own!.privateDnsName });
    w.watcher = (...write) => rules.judgeWrite(...write);
    w.written = (who) => this.#perhapsCrash(who);
    await this.#fill([...nodes, own!, ...(await this.#happenings.group(2))]);
    this.#history.tell("flags", this.#flags.join(" "));
    for (const replica of ["a", "b", "own"]) this.#start(replica);
    const until = w.now + troubledMs;
    // One Node stays that nobody speaks of.
    const candidates = [...nodes.slice(1), own!];
    while (w.now < until) {
      await w.world.advance(this.#chance.between(500, 15_000));
      rules.judgeMoment();
      await this.#something(candidates);
    }
    await this.#calm();
    for (let waited = 0; waited < patienceMs && rules.differences().length > 0; waited += 5_000) {
      await w.world.advance(5_000);
      rules.judgeMoment();
    }
    rules.judgeEnd();
    w.close();
  }

  async #fill(nodes: readonly Instance[]): Promise<void> {
    const w = this.#w;
    for (const { privateDnsName: node } of nodes) {
      const count = Math.floor(this.#chance.between(1, 5));
      for (let at = 0; at < count; at++) {
        const labels: Record<string, string> = this.#chance.happens(0.3) ? { app: "budgeted" } : {};
        await w.pod({ name: `pod-${w.pods().length}`, node, labels, graceSeconds: 30, endsAfterMs: this.#chance.between(500, 20_000) });
      }
    }
    await w.budget("budgeted", this.#chance.happens(0.5) ? 50 : 0);
  }

  async #something(candidates: readonly Instance[]): Promise<void> {
    const happenings = this.#happenings;
    const chance = this.#chance;
    if (chance.happens(0.5)) happenings.notice(candidates);
    if (chance.happens(0.2)) happenings.scaleIn();
    if (chance.happens(0.2)) happenings.repeat();
    if (chance.happens(0.1)) happenings.lose();
    if (chance.happens(0.1)) this.#w.send("poison");
    if (chance.happens(0.2)) await happenings.restart();
    if (chance.happens(0.1)) happenings.callOff(this.#own!.privateDnsName);
    if (chance.happens(0.15)) this.#crash(chance.pick(["a", "b", "own"])!);
    if (chance.happens(0.3)) happenings.misbehave();
  }

  #start(replica: string): void {
    if (replica === "own") {
      this.#history.tell(this.#own!.privateDnsName, "starts");
      this.#handlers.set(replica, this.#w.metadataHandler(this.#own!, ["--enable-rebalance-monitoring", ...this.#forMetadata()]));
      return;
    }
    const name = `handler-${replica}${this.#generation++}`;
    this.#history.tell(name, "starts");
    this.#handlers.set(replica, this.#w.queueHandler(this.#flags, name));
  }

  /** Heartbeats are for hooks, and hooks are told through queues. */
  #forMetadata(): readonly string[] {
    return this.#flags.filter((flag) => !flag.startsWith("--heartbeat"));
  }

  /** Any write may be a handler's last. */
  #perhapsCrash(who: string): void {
    if (!this.#troubled || !this.#chance.happens(crashesPerWrite)) return;
    const replica = who === this.#own!.privateDnsName ? "own" : /^handler-([ab])/.exec(who)?.[1];
    if (replica !== undefined) this.#crash(replica);
  }

  #crash(replica: string): void {
    this.#happenings.trouble(replica, "crashes");
    this.#handlers.get(replica)?.kill();
    this.#start(replica);
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
