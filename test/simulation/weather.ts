/** The bad days: what befalls replicas, their lines and the servers, while it lasts. */
import { sleep } from "../../src/runtime/world.ts";
import type { Line } from "./line.ts";
import type { Replica } from "./replica.ts";
import type { Scene } from "./scene.ts";

export interface Town {
  /** Those that run now. */
  replicas(): readonly Replica[];
  /** A replica is gone; another takes its place after a while. */
  replace(replica: Replica): void;
}

/** Lets faults happen until the signal aborts, then lifts them all. */
export async function storm(scene: Scene, town: Town, signal: AbortSignal): Promise<void> {
  const { chance, world, cluster, cloud, history } = scene;
  const happenings: readonly (() => void)[] = [
    () => crash(scene, town),
    () => stall(scene, town),
    () => leave(scene, town),
    () => setClock(scene, town),
    () => partition(scene, town),
    () => partition(scene, town),
    () => lossy(scene, town),
    () => slow(scene, town),
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
      lasting(
        scene,
        cluster.faults.add({ match: ({ headers }) => headers["user-agent"]?.startsWith("replica") ?? false, effect, probability: 0.5 }),
      );
    },
    () => {
      history.tell("weather", "AWS throttles");
      const id = cloud.controls.faults.add({ action: "ec2:*", effect: { kind: "throttle" }, probability: 0.6 });
      lasting(scene, () => cloud.controls.faults.remove(id));
    },
    () => {
      history.tell("weather", "AWS loses answers");
      const id = cloud.controls.faults.add({ action: "ec2:*", effect: { kind: "lose-answer" }, probability: 0.4 });
      lasting(scene, () => cloud.controls.faults.remove(id));
    },
  ];
  if (chance.happens(0.3)) {
    history.tell("weather", "this API server does not stream lists");
    cluster.faults.add({ match: ({ url }) => url.searchParams.has("sendInitialEvents"), effect: { kind: "refuse", status: 422 } });
  }
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(1000, 15_000), signal).catch(() => {});
    if (!signal.aborted) chance.pick(happenings)!();
  }
  clear(scene, town);
}

/** The sun comes out. */
export function clear(scene: Scene, town: Town): void {
  scene.history.tell("weather", "clears up");
  scene.cluster.faults.clear();
  scene.cluster.stallWatches(false);
  scene.cloud.controls.faults.remove();
  for (const replica of town.replicas()) for (const line of [replica.kubeLine, replica.awsLine]) line.heal();
}

function lasting(scene: Scene, end: () => void): void {
  scene.world.clock.after(scene.chance.between(2000, 20_000), end);
}

function somebody(scene: Scene, town: Town): Replica | undefined {
  const { chance } = scene;
  const leader = town.replicas().find((replica) => replica.leading);
  return leader !== undefined && chance.happens(0.6) ? leader : chance.pick(town.replicas());
}

function crash(scene: Scene, town: Town): void {
  const replica = somebody(scene, town);
  if (replica === undefined) return;
  scene.history.tell("weather", `${replica.name} crashes`);
  replica.crash();
  town.replace(replica);
}

function leave(scene: Scene, town: Town): void {
  const replica = somebody(scene, town);
  if (replica === undefined) return;
  scene.history.tell("weather", `${replica.name} is asked to leave`);
  void replica.leave().then(() => town.replace(replica));
}

/** Half of them longer than the lease holds. */
function stall(scene: Scene, town: Town): void {
  const replica = somebody(scene, town);
  const ms = scene.chance.between(2000, 30_000);
  scene.history.tell("weather", `${replica?.name} stands still for ${Math.round(ms)} ms`);
  replica?.machine.stall(ms);
}

function setClock(scene: Scene, town: Town): void {
  const replica = somebody(scene, town);
  const ms = Math.round(scene.chance.between(-900_000, 900_000));
  scene.history.tell("weather", `the wall clock of ${replica?.name} is set by ${ms} ms`);
  replica?.machine.jump(ms);
}

function partition(scene: Scene, town: Town): void {
  const { chance, history } = scene;
  const replica = somebody(scene, town);
  if (replica === undefined) return;
  const [line, of] = aLine(scene, replica);
  line.partition = chance.pick(["silent", "refusing"] as const)!;
  history.tell("weather", `${replica.name} is cut off from ${of}, ${line.partition}`);
  if (chance.happens(0.5)) line.cut();
  scene.world.clock.after(chance.between(1000, 40_000), () => {
    line.partition = "none";
    history.tell("weather", `${replica.name} reaches ${of} again`);
  });
}

function lossy(scene: Scene, town: Town): void {
  const replica = somebody(scene, town);
  if (replica === undefined) return;
  const [line, of] = aLine(scene, replica);
  scene.history.tell("weather", `answers of ${of} to ${replica.name} get lost`);
  line.lossRate = 0.4;
  lasting(scene, () => {
    line.lossRate = 0;
  });
}

/** Never so slow that a write could arrive when another leads already. */
function slow(scene: Scene, town: Town): void {
  const replica = somebody(scene, town);
  if (replica === undefined) return;
  const [line, of] = aLine(scene, replica);
  scene.history.tell("weather", `the way of ${replica.name} to ${of} is slow`);
  line.slownessMs = 2000;
  lasting(scene, () => {
    line.slownessMs = 10;
  });
}

function aLine(scene: Scene, replica: Replica): [Line, string] {
  return scene.chance.happens(0.7) ? [replica.kubeLine, "the cluster"] : [replica.awsLine, "AWS"];
}
