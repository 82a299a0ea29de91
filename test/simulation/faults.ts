/** Faults of replicas, of their network links and of the servers, injected for a while. */
import { sleep } from "../../src/runtime/world.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Effect, FaultRule } from "../../src/sandbox/cloud/controls/faults.ts";
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";
import type { NetworkLink } from "./network-link.ts";
import type { Replicas, Resident } from "./replicas.ts";

/** What can fail. */
export interface FaultTargets {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
}

/** Which faults a world has, and how often. */
export interface FaultMix {
  /** How the replicas' user agent begins: others are not refused by the API server. */
  readonly agent: string;
  /** Faults of AWS; each is drawn anew when it comes. */
  readonly aws: readonly (() => FaultRule)[];
  /** How long a fault of AWS lasts at most. */
  readonly awsMs: number;
  /** The longest pause between two happenings. */
  readonly maxPauseMs: number;
  /** What can happen in this world only. */
  readonly own?: readonly (() => void)[];
}

/** What AWS's bad days look like. */
export const badDays: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "delay", ms: 3_000 },
  { kind: "fail", code: "InternalFailure", status: 500 },
  { kind: "fail", code: "AccessDenied", status: 403 },
];

type Town = Replicas<Resident>;

/** Lets faults happen until the signal aborts, then lifts them all. */
export async function injectFaults(targets: FaultTargets, town: Town, mix: FaultMix, signal: AbortSignal): Promise<void> {
  const { chance, world, cluster, cloud, history } = targets;
  const happenings: readonly (() => void)[] = [
    () => crash(targets, town),
    () => stall(targets, town),
    () => leave(targets, town),
    () => setClock(targets, town),
    () => partition(targets, town),
    () => partition(targets, town),
    () => lossy(targets, town),
    () => slow(targets, town),
    () => {
      history.tell("faults", "every watch is cut");
      cluster.cutWatches();
    },
    () => {
      history.tell("faults", "the cluster forgets its past");
      cluster.compact();
    },
    () => {
      const ms = chance.between(5000, 120_000);
      history.tell("faults", `open watches say nothing for ${Math.round(ms)} ms`);
      cluster.stallWatches(true);
      world.clock.after(ms, () => cluster.stallWatches(false));
    },
    () => {
      history.tell("faults", "the API server refuses requests");
      const status = chance.pick([429, 500, 503])!;
      const effect = { kind: "refuse", status, ...(status === 429 ? { retryAfterSeconds: 1 } : {}) } as const;
      const match = ({ headers }: { headers: Readonly<Record<string, string>> }) => headers["user-agent"]?.startsWith(mix.agent) ?? false;
      lasting(targets, cluster.faults.add({ match, effect, probability: 0.5 }));
    },
    ...mix.aws.map((draw) => () => {
      const rule = draw();
      history.tell("faults", `AWS: ${JSON.stringify(rule)}`);
      const id = cloud.controls.faults.add(rule);
      lasting(targets, () => cloud.controls.faults.remove(id), mix.awsMs);
    }),
    ...(mix.own ?? []),
  ];
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(1000, mix.maxPauseMs), signal).catch(() => {});
    if (!signal.aborted) chance.pick(happenings)!();
  }
  clear(targets, town);
}

/** Ends every fault. */
function clear({ history, cluster, cloud }: FaultTargets, town: Town): void {
  history.tell("faults", "clears up");
  cluster.faults.clear();
  cluster.stallWatches(false);
  cloud.controls.faults.remove();
  for (const replica of town.all()) for (const line of [replica.kubeLink, replica.awsLink]) line.heal();
}

function lasting({ world, chance }: FaultTargets, end: () => void, maxMs = 20_000): void {
  world.clock.after(chance.between(2000, maxMs), end);
}

/** More often the leader than not: what happens to the other changes little. */
function somebody({ chance }: FaultTargets, town: Town): Resident | undefined {
  const leader = town.all().find((replica) => replica.leading);
  return leader !== undefined && chance.happens(0.6) ? leader : chance.pick(town.all());
}

function crash(targets: FaultTargets, town: Town): void {
  const replica = somebody(targets, town);
  if (replica === undefined) return;
  targets.history.tell("faults", `${replica.name} crashes`);
  replica.crash();
  town.replace(replica);
}

function leave(targets: FaultTargets, town: Town): void {
  const replica = somebody(targets, town);
  if (replica === undefined) return;
  targets.history.tell("faults", `${replica.name} is asked to leave`);
  replica.leave();
}

/** Half of them longer than the lease holds. */
function stall(targets: FaultTargets, town: Town): void {
  const replica = somebody(targets, town);
  const ms = targets.chance.between(2000, 30_000);
  targets.history.tell("faults", `${replica?.name} stands still for ${Math.round(ms)} ms`);
  replica?.machine.stall(ms);
}

function setClock(targets: FaultTargets, town: Town): void {
  const replica = somebody(targets, town);
  const ms = Math.round(targets.chance.between(-900_000, 900_000));
  targets.history.tell("faults", `the wall clock of ${replica?.name} is set by ${ms} ms`);
  replica?.machine.jump(ms);
}

function partition(targets: FaultTargets, town: Town): void {
  const { chance, history } = targets;
  const replica = somebody(targets, town);
  if (replica === undefined) return;
  const [line, of] = aLink(targets, replica);
  line.partition = chance.pick(["silent", "refusing"] as const)!;
  history.tell("faults", `${replica.name} is cut off from ${of}, ${line.partition}`);
  if (chance.happens(0.5)) line.cut();
  targets.world.clock.after(chance.between(1000, 40_000), () => {
    line.partition = "none";
    history.tell("faults", `${replica.name} reaches ${of} again`);
  });
}

function lossy(targets: FaultTargets, town: Town): void {
  const replica = somebody(targets, town);
  if (replica === undefined) return;
  const [line, of] = aLink(targets, replica);
  targets.history.tell("faults", `answers of ${of} to ${replica.name} get lost`);
  line.lossRate = 0.4;
  lasting(targets, () => {
    line.lossRate = 0;
  });
}

/** Never so slow that a write could arrive when another leads already. */
function slow(targets: FaultTargets, town: Town): void {
  const replica = somebody(targets, town);
  if (replica === undefined) return;
  const [line, of] = aLink(targets, replica);
  targets.history.tell("faults", `the way of ${replica.name} to ${of} is slow`);
  line.slownessMs = 2000;
  lasting(targets, () => {
    line.slownessMs = 10;
  });
}

function aLink({ chance }: FaultTargets, replica: Resident): [NetworkLink, string] {
  return chance.happens(0.7) ? [replica.kubeLink, "the cluster"] : [replica.awsLink, "AWS"];
}
