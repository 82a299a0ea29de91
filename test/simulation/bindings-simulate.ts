/**
 * One history of pods behind target groups, from one seed: rollouts with and without readiness gates, a switch from blue to
 * green and back, a group shared with another cluster, nodes; two replicas that crash, also right after a write, an API
 * server and an AWS with bad days. In the end every endpoint is a target and nothing else is.
 */
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import type { Target } from "../../src/sandbox/cloud/elbv2/state.ts";
import { type BindingWorld, bindingWorld } from "../bed/binding-world.ts";
import { Rollout } from "../bed/rollout.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { type Outcome, played } from "./outcome.ts";

const troubledMs = 600_000;
/** The longest that a pod takes traffic for its Service and gets none from its load balancer, on the worst of days. */
const maxMissingMs = 240_000;
/** In which all is in order again, once nothing fails any more. */
const patienceMs = 900_000;
/** A target that serves is held for its successors no longer than this, whoever is in charge. */
const maxHeldMs = 5 * 60_000;

/** So long ago may have been decided what is done now: calls are delayed, and tried again. */
const decidedMs = 15_000;

const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "fail", code: "InternalFailure", status: 500 },
  { kind: "delay", ms: 3_000 },
];

/** Plays the history of a seed to its end. */
export async function simulateBindings(seed: number): Promise<Outcome> {
  const world = await bindingWorld({ seed });
  const history = new History(world.world.clock);
  return played(seed, history, async () => {
    const scene = new BindingScene(world, history);
    try {
      await scene.play();
    } finally {
      world.close();
    }
  });
}

const foreign = ["10.0.60.1:8080", "10.0.60.2:8080"];

class BindingScene {
  readonly #w: BindingWorld;
  readonly #history: History;
  readonly #chance: Chance;
  readonly #kills = new Map<number, () => void>();
  readonly #rollouts: Rollout[] = [];
  readonly #arns: Record<string, string> = {};
  /** Since when a ready pod is no target, by group and address. */
  readonly #missing = new Map<string, number>();
  readonly #switchedAt: number[] = [];
  #registered: ReadonlySet<string> = new Set();
  #colour: "blue" | "green" = "blue";
  #started = 0;
  #calm = false;
  #leaving = false;

  constructor(w: BindingWorld, history: History) {
    this.#w = w;
    this.#history = history;
    this.#chance = chanceOf(w.world.random);
    w.onWrite = (who, what) => this.#wrote(who, what);
  }

  async play(): Promise<void> {
    const w = this.#w;
    await this.#prepare();
    for (let i = 0; i < 2; i++) this.#start();
    const until = w.world.clock.monotonic() + troubledMs;
    while (w.world.clock.monotonic() < until) {
      await this.#tick();
      await this.#something();
      if (this.#chance.happens(0.01)) this.#crash();
      if (this.#chance.happens(0.03)) this.#misbehave();
    }
    w.aws.controls.faults.remove();
    w.cluster.faults.clear();
    this.#calm = true;
    this.#history.tell("faults", "are over");
    await this.#settle("every endpoint is a target, and nothing else is", () => this.#differences());
    await this.#leave();
  }

  async #prepare(): Promise<void> {
    const w = this.#w;
    const protocol = this.#chance.happens(0.5) ? "HTTP" : "TCP";
    for (const name of ["gated", "plain", "shared", "swap"]) this.#arns[name] = await w.group(name, { protocol, used: true });
    this.#arns.nodes = await w.group("nodes", { type: "instance" });
    for (const name of ["gated", "plain", "shared", "blue", "green"]) await w.service(name);
    await w.service("nodes", { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30080 }] });
    await w.register(this.#arns.shared!, foreign);
    const ref = (name: string) => ({ name, port: 80 });
    const source = { securityGroup: { groupID: w.network.nodeGroupId } };
    await w.bind("gated", { targetGroupARN: this.#arns.gated!, serviceRef: ref("gated") });
    await w.bind("plain", { targetGroupName: "plain", serviceRef: ref("plain") });
    await w.bind("shared", { targetGroupARN: this.#arns.shared!, serviceRef: ref("shared"), multiClusterTargetGroup: true });
    await w.bind("swap", { targetGroupARN: this.#arns.swap!, serviceRef: ref("blue") });
    await w.bind("nodes", {
      targetGroupARN: this.#arns.nodes!,
      serviceRef: ref("nodes"),
      networking: { ingress: [{ from: [source], ports: [{ port: 30080 }] }] },
    });
    const size = () => Math.floor(this.#chance.between(2, 6));
    this.#rollouts.push(
      new Rollout(w, "gated", { size: size(), gate: "target-health.elbv2.k8s.aws/gated", chance: this.#chance }),
      ...["plain", "shared", "blue", "green"].map((name) => new Rollout(w, name, { size: size(), chance: this.#chance })),
    );
  }

  /** A second or a few in which Deployments and kubelets do their part. */
  async #tick(): Promise<void> {
    await this.#w.world.advance(this.#chance.between(500, 4_000));
    for (const rollout of this.#rollouts) await rollout.step();
    this.#judge();
  }

  async #something(): Promise<void> {
    const w = this.#w;
    if (!this.#chance.happens(0.15)) return;
    const what = this.#chance.pick(["roll", "roll", "scale", "lose", "switch", "join"])!;
    const rollout = this.#chance.pick(this.#rollouts)!;
    this.#history.tell("users", `${what} ${rollout.name}`);
    if (what === "roll") rollout.roll();
    if (what === "scale") rollout.scale(Math.floor(this.#chance.between(1, 7)));
    if (what === "lose") await rollout.lose();
    if (what === "join" && w.nodes.size < 5) await w.join(1);
    if (what !== "switch") return;
    this.#colour = this.#colour === "blue" ? "green" : "blue";
    this.#switchedAt.push(w.world.clock.monotonic());
    await w.edit("swap", { spec: { serviceRef: { name: this.#colour } } });
  }

  #start(): void {
    const who = ++this.#started;
    this.#kills.set(who, this.#w.start("--enable-leader-election=true", "--leader-election-namespace=kube-system"));
    this.#history.tell(`replica ${who}`, "starts");
  }

  #crash(who = this.#chance.pick([...this.#kills.keys()])!): void {
    this.#history.tell(`replica ${who}`, "crashes");
    this.#kills.get(who)?.();
    this.#kills.delete(who);
    this.#start();
  }

  #misbehave(): void {
    const action = this.#chance.pick(["elasticloadbalancing:*", "ec2:*", "elasticloadbalancing:RegisterTargets"])!;
    const effect = this.#chance.pick(effects)!;
    this.#w.aws.controls.faults.add({ action, effect, probability: this.#chance.between(0.2, 0.8), times: 5 });
    if (this.#chance.happens(0.5)) {
      const lost = this.#chance.happens(0.5);
      const match = ({ method, headers }: HttpRequest) => method !== "GET" && headers["user-agent"] !== "user";
      this.#w.cluster.faults.add({ match, effect: lost ? { kind: "lose-answer" } : { kind: "refuse", status: 503 }, times: 3 });
    }
    this.#history.tell("faults", `${action} ${effect.kind}`);
  }

  /** A replica has changed something: it may die of it, and what it did is judged before anybody does anything else. */
  #wrote(who: number, what: string): void {
    this.#history.tell(`replica ${who}`, what);
    const before = this.#registered;
    const all = this.#targets();
    this.#registered = new Set(all.filter(({ drainingSince }) => drainingSince === undefined).map(keyOf));
    for (const key of before) if (!this.#registered.has(key)) this.#judgeDeparture(key, all);
    if (!this.#calm && this.#chance.happens(0.01)) this.#crash(who);
  }

  /** What has just been deregistered was allowed to go. */
  #judgeDeparture(key: string, all: readonly Target[]): void {
    const [arn = "", address = ""] = key.split(" ");
    if (arn === this.#arns.shared && foreign.includes(address))
      this.#history.broken("a target of another cluster stays", `${address} was deregistered`);
    const rollout = this.#rollouts.find((each) => each.isServing(address));
    if (rollout === undefined || this.#w.binding(this.#nameOf(arn))?.metadata?.deletionTimestamp !== undefined) return;
    const current = arn === this.#arns.swap ? this.#rollouts.find(({ name }) => name === this.#colour)! : rollout;
    if (current === rollout) {
      this.#history.broken("no target of a serving pod is deregistered", `${address} of ${rollout.name}`);
      return;
    }
    const now = this.#w.world.clock.monotonic();
    if (this.#switchedAt.every((at) => now - at > maxHeldMs)) return;
    const starting = current.addressesKnownFor(decidedMs).filter((each) => {
      const target = all.find((one) => keyOf(one) === `${arn} ${each}`);
      return target === undefined || target.verdict.kind === "pending";
    });
    const held = (this.#switchedAt.at(-1) ?? 0) + maxHeldMs;
    if (starting.length > 0 && now < held)
      this.#history.broken(
        "no target of a serving pod is deregistered before its successor is healthy",
        `${address} of ${rollout.name} went while ${starting.join(", ")} of ${current.name} had just begun`,
      );
  }

  /** What has to hold at every moment. */
  #judge(): void {
    if (this.#leaving) return;
    const now = this.#w.world.clock.monotonic();
    const all = this.#targets();
    const registered = new Set(all.filter(({ drainingSince }) => drainingSince === undefined).map(keyOf));
    const wanted = new Set(this.#bound().flatMap(([arn, rollout]) => rollout.readyAddresses().map((each) => `${arn} ${each}`)));
    for (const key of wanted) {
      if (registered.has(key)) this.#missing.delete(key);
      else if (!this.#missing.has(key)) this.#missing.set(key, now);
    }
    for (const [key, since] of this.#missing) {
      if (!wanted.has(key)) this.#missing.delete(key);
      else if (now - since > maxMissingMs) {
        this.#history.broken("no target of a ready pod is missing for long", `${key} for ${Math.round((now - since) / 1000)} s`);
        this.#missing.set(key, now);
      }
    }
    const gated = this.#rollouts[0]!;
    const healthy = all.filter(
      (each) => each.groupArn === this.#arns.gated && each.verdict.kind === "healthy" && registered.has(keyOf(each)),
    );
    const serving = healthy.filter(({ id, port }) => gated.isServing(`${id}:${port}`)).length;
    if (serving < gated.promised())
      this.#history.broken("a rollout with gates has as many healthy targets as it promised", `${serving} of ${gated.promised()}`);
  }

  /** Each group with the pods that are to be in it. */
  #bound(): readonly (readonly [string, Rollout])[] {
    const by = (name: string) => this.#rollouts.find((each) => each.name === name)!;
    const { gated = "", plain = "", shared = "", swap = "" } = this.#arns;
    return [
      [gated, by("gated")],
      [plain, by("plain")],
      [shared, by("shared")],
      [swap, by(this.#colour)],
    ];
  }

  #differences(): readonly string[] {
    const w = this.#w;
    const groups = this.#bound().flatMap(([arn, rollout]) => {
      const wanted = [...rollout.addresses(), ...(arn === this.#arns.shared ? foreign : [])].toSorted();
      const seen = w.targets(arn);
      return JSON.stringify(seen) === JSON.stringify(wanted)
        ? []
        : [`${this.#nameOf(arn)} has ${seen.join(" ")}, wanted ${wanted.join(" ")}`];
    });
    const names = ["gated", "plain", "shared", "swap", "nodes"];
    const unready = names.filter((name) => w.condition(name)?.status !== "True").map((name) => `${name}: ${w.condition(name)?.message}`);
    const nodes = w.targets(this.#arns.nodes!).length;
    return [
      ...groups,
      ...unready,
      ...(nodes === w.nodes.size ? [] : [`nodes has ${nodes} of ${w.nodes.size}`]),
      ...(this.#rollouts.every((rollout) => rollout.isDone()) ? [] : ["a rollout is not done"]),
    ];
  }

  /** The bindings go, and with them everything that was theirs. */
  async #leave(): Promise<void> {
    const w = this.#w;
    const names = ["gated", "plain", "shared", "swap", "nodes"];
    this.#leaving = true;
    for (const name of names) await w.unbind(name);
    await this.#settle("what goes leaves nothing behind", () => [
      ...names.filter((name) => w.binding(name) !== undefined),
      ...Object.entries(this.#arns).flatMap(([name, arn]) =>
        w
          .targets(arn)
          .filter((each) => !(name === "shared" && foreign.includes(each)))
          .map((each) => `${each} in ${name}`),
      ),
      ...(w.targets(this.#arns.shared!).length === foreign.length ? [] : ["targets of another cluster are gone"]),
      ...w.cluster
        .objects("configmaps")
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith("aws-lbc-targets-")),
      ...w.aws.account.ec2.rules
        .values()
        .filter(({ description }) => description === "elbv2.k8s.aws/targetGroupBinding=shared")
        .map(({ id }) => `rule ${id}`),
    ]);
  }

  async #settle(rule: string, differences: () => readonly string[]): Promise<void> {
    const until = this.#w.world.clock.monotonic() + patienceMs;
    while (differences().length > 0 && this.#w.world.clock.monotonic() < until) await this.#tick();
    for (const difference of differences()) this.#history.broken(rule, difference);
  }

  #targets(): readonly Target[] {
    return Object.values(this.#w.aws.controls.snapshot()["elbv2/targets"] ?? {}) as Target[];
  }

  #nameOf(arn: string): string {
    return Object.entries(this.#arns).find(([, each]) => each === arn)?.[0] ?? arn;
  }
}

const keyOf = ({ groupArn, id, port }: Target) => `${groupArn} ${id}:${port}`;
