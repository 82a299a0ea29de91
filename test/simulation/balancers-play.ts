/** How a history of load balancers that users share is played: faults for a while, then order, then nothing. */
import { BalancerReplica, type BalancerScene } from "./balancer-replica.ts";
import type { BalancersScene } from "./balancers-scene.ts";
import { crashAfterWrites } from "./crash-after-writes.ts";
import { comeToNothing, comeToOrder, type EndingScene, type EndingTimes } from "./ending.ts";
import { badDays, type FaultMix, injectFaults } from "./faults.ts";
import { Replicas } from "./replicas.ts";

const faultsMs = 6 * 60_000;
const times: EndingTimes = { patienceMs: 60 * 60_000, restMs: 60_000, quietMs: 3 * 60_000 };

type PlayedScene = BalancersScene & BalancerScene & EndingScene;

/** Who takes part. */
export interface Cast<Scene> {
  /** Until the faults end. */
  readonly actors: readonly ((scene: Scene, signal: AbortSignal) => Promise<void>)[];
  /** Until the end. */
  readonly lookAround: (scene: Scene, signal: AbortSignal) => Promise<void>;
  /** Users leave. */
  readonly deleteAll: (scene: Scene) => Promise<void>;
  /** Further faults of AWS. */
  readonly aws?: FaultMix["aws"];
  /** Whether every write of the whole while ends the process that makes it, instead of some. */
  readonly crashesAlways?: boolean;
}

export async function playBalancers<Scene extends PlayedScene>(
  scene: Scene,
  { actors, lookAround, deleteAll, aws = [], crashesAlways = false }: Cast<Scene>,
): Promise<void> {
  const { world } = scene;
  const [faulty, everything] = [new AbortController(), new AbortController()];
  const replicas = new Replicas(scene, (name) => new BalancerReplica(scene, name));
  const usual = faultMixOf(scene);
  const crashes = crashAfterWrites(scene, replicas);
  const mix: FaultMix = { ...usual, aws: [...usual.aws, ...aws], own: crashesAlways ? [] : [crashes, crashes, crashes] };
  if (crashesAlways) crashAfterWrites(scene, replicas, () => Number.POSITIVE_INFINITY)();
  const ending = [...actors.map((act) => act(scene, faulty.signal)), injectFaults(scene, replicas, mix, faulty.signal)];
  const lasting = lookAround(scene, everything.signal);
  await world.advance(faultsMs);
  faulty.abort(new Error("the faults are over"));
  await world.advance(0);
  await Promise.all(ending);
  scene.onWrite = () => {};
  await comeToOrder(scene, times);
  await deleteAll(scene);
  await comeToNothing(scene, times);
  everything.abort(new Error("the world ends"));
  await world.advance(0);
  await lasting;
  replicas.close();
  scene.cluster.close();
}

function faultMixOf({ chance }: PlayedScene): FaultMix {
  const actions = ["*", "*", "ec2:*", "elasticloadbalancing:*", "*:Create*", "*:Delete*", "*:Modify*", "elasticloadbalancing:*Rule*"];
  const trouble = () => ({ effect: chance.pick(badDays)!, action: chance.pick(actions)!, probability: chance.between(0.1, 0.9) });
  return { agent: "fairlead", aws: [trouble, trouble, trouble, trouble, trouble], awsMs: 60_000, maxPauseMs: 20_000 };
}
