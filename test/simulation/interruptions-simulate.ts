/**
 * One history of interruptions from one seed: notices of every kind, hooks, restarts and repeated messages, two replicas that crash and
 * come again, an API server and an AWS with bad days. In the end every notice has its end, and nothing else was touched.
 */
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { putLifecycleHook } from "../../src/sandbox/cloud/autoscaling/hooks.ts";
import { terminateInstanceInAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/instances.ts";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { messagesOf } from "../../src/sandbox/cloud/sqs/state.ts";
import { type InterruptionWorld, interruptionWorld, managed, type RunningHandler } from "../bed/interruption-world.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { type Outcome, played } from "./outcome.ts";

const troubledMs = 240_000;
/** The longest a hook holds here, and then some. */
const patienceMs = 900_000;

/** What AWS's bad days look like. */
const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "fail", code: "InternalError", status: 500 },
  { kind: "delay", ms: 3_000 },
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
  /** When the instance of a Node goes, by the Nodes that some notice has named. */
  readonly #named = new Map<string, { readonly told: number; readonly deadline: number | undefined }>();
  readonly #handlers = new Map<string, RunningHandler>();
  #generation = 0;
  #heldNodes: readonly Instance[] = [];

  constructor(w: InterruptionWorld, history: History) {
    this.#w = w;
    this.#history = history;
    this.#chance = chanceOf(w.world.random);
    w.watcher = (who, method, path, body) => this.#judge(who, method, path, body);
  }

  async play(): Promise<void> {
    const w = this.#w;
    const nodes = await w.nodes(5);
    this.#heldNodes = await this.#group(2);
    for (const { privateDnsName: node } of [...nodes, ...this.#heldNodes]) {
      const count = Math.floor(this.#chance.between(1, 5));
      for (let at = 0; at < count; at++) {
        const labels: Record<string, string> = this.#chance.happens(0.3) ? { app: "budgeted" } : {};
        await w.pod({ name: `pod-${w.pods().length}`, node, labels, graceSeconds: 30, endsAfterMs: this.#chance.between(500, 20_000) });
      }
    }
    await w.budget("budgeted", this.#chance.happens(0.5) ? 50 : 0);
    for (const replica of ["a", "b"]) this.#start(replica);
    const until = w.now + troubledMs;
    const waiting = [...nodes];
    while (w.now < until) {
      await w.world.advance(this.#chance.between(500, 15_000));
      this.#something(waiting);
      if (this.#chance.happens(0.2)) this.#crash();
      if (this.#chance.happens(0.3)) this.#misbehave();
    }
    await this.#calm();
    for (let waited = 0; waited < patienceMs && this.#differences().length > 0; waited += 5_000) await w.world.advance(5_000);
    for (const difference of this.#differences()) this.#history.broken("every notice has its end", difference);
    this.#judgeDeadlines();
    w.close();
  }

  /** One of the things that happen to instances. */
  #something(waiting: Instance[]): void {
    const w = this.#w;
    const { ec2 } = w.aws.account;
    const instance = waiting.length > 1 ? waiting.shift() : undefined;
    if (instance !== undefined) {
      const current = ec2.instances.get(instance.id)!;
      const kind = this.#chance.pick(["spot", "rebalance", "maintenance"])!;
      this.#history.tell("aws", `${kind} ${instance.privateDnsName}`);
      const deadline = kind === "spot" ? interruptSpot(ec2, current) : undefined;
      this.#named.set(instance.privateDnsName, { told: w.now, deadline });
      if (kind === "rebalance") recommendRebalance(ec2, current);
      if (kind === "maintenance")
        scheduleMaintenance(ec2, current, { code: "system-reboot", description: "why", notBefore: w.now + 3_600_000 });
    }
    const [held] = this.#heldNodes;
    if (held !== undefined && this.#chance.happens(0.3)) {
      this.#heldNodes = this.#heldNodes.slice(1);
      this.#history.tell("aws", `scale-in ${held.privateDnsName}`);
      this.#named.set(held.privateDnsName, { told: w.now, deadline: undefined });
      terminateInstanceInAutoScalingGroup(autoScalingOf(w.aws.account), { InstanceId: held.id, ShouldDecrementDesiredCapacity: true });
    }
    if (this.#chance.happens(0.2)) this.#repeat();
    if (this.#chance.happens(0.1)) w.send("poison");
  }

  /** SQS delivers at least once: the same message a second time. */
  #repeat(): void {
    const queue = this.#w.aws.account.sqs.queues.get("events")!;
    const [first] = messagesOf(this.#w.aws.account.sqs, queue).values();
    if (first !== undefined) this.#w.send(first.body);
  }

  #start(replica: string): void {
    const name = `handler-${replica}${this.#generation++}`;
    this.#history.tell(name, "starts");
    this.#handlers.set(replica, this.#w.queueHandler([], name));
  }

  #crash(): void {
    const replica = this.#chance.pick(["a", "b"])!;
    this.#history.tell(replica, "crashes");
    this.#handlers.get(replica)?.kill();
    this.#start(replica);
  }

  #misbehave(): void {
    const w = this.#w;
    const action = this.#chance.pick(["sqs:*", "autoscaling:*", "ec2:*"])!;
    const effect = this.#chance.pick(effects)!;
    w.aws.controls.faults.add({ action, effect, probability: this.#chance.between(0.2, 0.8), times: 5 });
    if (this.#chance.happens(0.5)) {
      const lost = this.#chance.happens(0.5);
      const match = ({ method }: { method: string }) => method !== "GET";
      w.cluster.faults.add({ match, effect: lost ? { kind: "lose-answer" } : { kind: "refuse", status: 503 }, times: 3 });
    }
    this.#history.tell("faults", `${action} ${effect.kind}`);
  }

  async #calm(): Promise<void> {
    const w = this.#w;
    w.aws.controls.faults.remove();
    w.cluster.faults.clear();
    await w.allow("budgeted", 50);
    this.#history.tell("faults", "are over");
  }

  /** Instances of a group whose hook holds them for five minutes, with Nodes. */
  async #group(size: number): Promise<readonly Instance[]> {
    const w = this.#w;
    const as = autoScalingOf(w.aws.account);
    createAutoScalingGroup(as, {
      AutoScalingGroupName: "workers",
      VPCZoneIdentifier: w.network.privateSubnetIds.join(","),
      MinSize: 0,
      MaxSize: 10,
      DesiredCapacity: size,
      launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large", MinCount: 1, MaxCount: 1 },
      Tags: Object.entries(managed).map(([Key, Value]) => ({ Key, Value, PropagateAtLaunch: true })),
    });
    await w.world.advance(60_000);
    w.aws.account.time.settle();
    const instances = as.members.values().map(({ instanceId }) => w.aws.account.ec2.instances.get(instanceId)!);
    for (const instance of instances) await w.join(instance);
    const transition = "autoscaling:EC2_INSTANCE_TERMINATING";
    putLifecycleHook(as, {
      AutoScalingGroupName: "workers",
      LifecycleHookName: "drain",
      LifecycleTransition: transition,
      HeartbeatTimeout: 300,
    });
    return instances;
  }

  /** What no handler may ever do. */
  #judge(who: string, method: string, path: string, body: unknown): void {
    this.#history.tell(who, `${method} ${path}`);
    const pod = /\/pods\/([^/]+)(\/eviction)?$/.exec(path)?.[1];
    const node =
      pod === undefined
        ? /\/nodes\/([^/]+)$/.exec(path)?.[1]
        : this.#w.pods().find(({ metadata }) => metadata?.name === pod)?.spec?.nodeName;
    if (node === undefined) return;
    if (!this.#named.has(node))
      this.#history.broken("no Node is touched that no notice named", `${who} ${method} ${path} ${JSON.stringify(body)}`);
    if (pod === undefined) return;
    const holder = this.#w.plan(node)?.holder ?? "nobody";
    if (!holder.startsWith(`${who}_`))
      this.#history.broken("only who holds the plan evicts", `${who} evicts ${pod} of ${node}, which ${holder} holds`);
  }

  /** What is not as it must be in the end. */
  #differences(): readonly string[] {
    const w = this.#w;
    w.aws.account.time.settle();
    const left = [...this.#named.keys()].flatMap((node) => {
      const plan = w.plan(node);
      return plan === undefined || plan.events.some(({ end }) => end === undefined) ? [`${node}: ${JSON.stringify(plan?.events)}`] : [];
    });
    const hooks = autoScalingOf(w.aws.account)
      .actions.values()
      .map(({ instanceId }) => `the hook of ${instanceId} still holds it`);
    return [...left, ...hooks, ...(w.messages > 0 ? [`${w.messages} messages are left`] : [])];
  }

  /** A notice that came in time ends drained before its deadline, or with the reason said. */
  #judgeDeadlines(): void {
    const w = this.#w;
    for (const [node, { deadline }] of this.#named) {
      const plan = w.plan(node);
      const done = plan?.events.every(({ end }) => end !== "failed") ?? false;
      const said = w.events(node).includes("CordonAndDrainError") || w.events(node).includes("PostDrainError");
      const inTime = deadline === undefined || (plan?.drainedAt ?? Number.POSITIVE_INFINITY) <= deadline;
      if (!(done && inTime) && !said) {
        this.#history.broken(
          "in time, or with the reason said",
          `${node}: drained ${plan?.drainedAt}, deadline ${deadline}, ${w.events(node).join(" ")}`,
        );
      }
      if (!w.isCordoned(node)) this.#history.broken("what is to go takes no more pods", node);
    }
  }
}
