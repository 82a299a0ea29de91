/** The bad days: what befalls replicas, their lines and the servers, while it lasts. */
import { sleep } from "../../src/runtime/world.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { FaultRule } from "../../src/sandbox/cloud/controls/faults.ts";
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";
import type { Line } from "./line.ts";
import type { Replicas, Resident } from "./replicas.ts";

/** Where it happens. */
export interface Sky {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
}

/** What the weather of a world is like. */
export interface Climate {
  /** How the replicas' user agent begins: others are not refused by the API server. */
  readonly agent: string;
  /** The bad days of AWS; each is drawn anew when it comes. */
  readonly aws: readonly (() => FaultRule)[];
  /** How long a bad day of AWS lasts at most. */
  readonly awsMs: number;
  /** The longest pause between two happenings. */
  readonly calmMs: number;
  /** What can happen in this world only. */
  readonly own?: readonly (() => void)[];
}

type Town = Replicas<Resident>;

/** Lets faults happen until the signal aborts, then lifts them all. */
export async function storm(sky: Sky, town: Town, climate: Climate, signal: AbortSignal): Promise<void> {
  const { chance, world, cluster, cloud, history } = sky;
  const happenings: readonly (() => void)[] = [
    () => crash(sky, town),
    () => stall(sky, town),
    () => leave(sky, town),
    () => setClock(sky, town),
    () => partition(sky, town),
    () => partition(sky, town),
    () => lossy(sky, town),
    () => slow(sky, town),
    () => {
      history.tell("weather", "every watch is cut");
      cluster.cutWatches();
    },
    () => {
      history.tell("weather", "the cluster forgets its past");
      cluster.compact();
    },
    () => {
      const ms = chance.between(5000, 120_000);
      history.tell("weather", `open watches say nothing for ${Math.round(ms)} ms`);
      cluster.stallWatches(true);
      world.clock.after(ms, () => cluster.stallWatches(false));
    },
    () => {
      history.tell("weather", "the API server refuses requests");
      const status = chance.pick([429, 500, 503])!;
      const effect = { kind: "refuse", status, ...(status === 429 ? { retryAfterSeconds: 1 } : {}) } as const;
      const match = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
        headers["user-agent"]?.startsWith(climate.agent) ?? false;
      lasting(sky, cluster.faults.add({ match, effect, probability: 0.5 }));
    },
    ...climate.aws.map((draw) => () => {
      const rule = draw();
      history.tell("weather", `AWS: ${JSON.stringify(rule)}`);
      const id = cloud.controls.faults.add(rule);
      lasting(sky, () => cloud.controls.faults.remove(id), climate.awsMs);
    }),
    ...(climate.own ?? []),
  ];
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(1000, climate.calmMs), signal).catch(() => {});
    if (!signal.aborted) chance.pick(happenings)!();
  }
  clear(sky, town);
}

/** The sun comes out. */
function clear({ history, cluster, cloud }: Sky, town: Town): void {
  history.tell("weather", "clears up");
  cluster.faults.clear();
  cluster.stallWatches(false);
  cloud.controls.faults.remove();
  for (const replica of town.all()) for (const line of [replica.kubeLine, replica.awsLine]) line.heal();
}

function lasting({ world, chance }: Sky, end: () => void, maxMs = 20_000): void {
  world.clock.after(chance.between(2000, maxMs), end);
}

/** More often the leader than not: what befalls the other changes little. */
function somebody({ chance }: Sky, town: Town): Resident | undefined {
  const leader = town.all().find((replica) => replica.leading);
  return leader !== undefined && chance.happens(0.6) ? leader : chance.pick(town.all());
}

function crash(sky: Sky, town: Town): void {
  const replica = somebody(sky, town);
  if (replica === undefined) return;
  sky.history.tell("weather", `${replica.name} crashes`);
  replica.crash();
  town.replace(replica);
}

function leave(sky: Sky, town: Town): void {
  const replica = somebody(sky, town);
  if (replica === undefined) return;
  sky.history.tell("weather", `${replica.name} is asked to leave`);
  replica.leave();
}

/** Half of them longer than the lease holds. */
function stall(sky: Sky, town: Town): void {
  const replica = somebody(sky, town);
  const ms = sky.chance.between(2000, 30_000);
  sky.history.tell("weather", `${replica?.name} stands still for ${Math.round(ms)} ms`);
  replica?.machine.stall(ms);
}

function setClock(sky: Sky, town: Town): void {
  const replica = somebody(sky, town);
  const ms = Math.round(sky.chance.between(-900_000, 900_000));
  sky.history.tell("weather", `the wall clock of ${replica?.name} is set by ${ms} ms`);
  replica?.machine.jump(ms);
}

function partition(sky: Sky, town: Town): void {
  const { chance, history } = sky;
  const replica = somebody(sky, town);
  if (replica === undefined) return;
  const [line, of] = aLine(sky, replica);
  line.partition = chance.pick(["silent", "refusing"] as const)!;
  history.tell("weather", `${replica.name} is cut off from ${of}, ${line.partition}`);
  if (chance.happens(0.5)) line.cut();
  sky.world.clock.after(chance.between(1000, 40_000), () => {
    line.partition = "none";
    history.tell("weather", `${replica.name} reaches ${of} again`);
  });
}

function lossy(sky: Sky, town: Town): void {
  const replica = somebody(sky, town);
  if (replica === undefined) return;
  const [line, of] = aLine(sky, replica);
  sky.history.tell("weather", `answers of ${of} to ${replica.name} get lost`);
  line.lossRate = 0.4;
  lasting(sky, () => {
    line.lossRate = 0;
  });
}

/** Never so slow that a write could arrive when another leads already. */
function slow(sky: Sky, town: Town): void {
  const replica = somebody(sky, town);
  if (replica === undefined) return;
  const [line, of] = aLine(sky, replica);
  sky.history.tell("weather", `the way of ${replica.name} to ${of} is slow`);
  line.slownessMs = 2000;
  lasting(sky, () => {
    line.slownessMs = 10;
  });
}

function aLine({ chance }: Sky, replica: Resident): [Line, string] {
  return chance.happens(0.7) ? [replica.kubeLine, "the cluster"] : [replica.awsLine, "AWS"];
}
