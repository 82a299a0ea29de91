/**
 * One history of Services from one seed: two replicas, users, kubelets and machines live through faults; then everything
 * that is wanted must stand, and when the last Service is gone the account must be as it was before the first.
 */
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { loadClients } from "../bed/service-world.ts";
import { comeToNothing, comeToOrder, type EndingTimes } from "./ending.ts";
import { badDays, type FaultMix, injectFaults } from "./faults.ts";
import { ManagerReplica } from "./manager-replica.ts";
import { live, report } from "./nodes-users.ts";
import { type Outcome, played } from "./outcome.ts";
import { Replicas } from "./replicas.ts";
import { holdDeletions, releaseAll } from "./services-finalizers.ts";
import { askForTooMuch } from "./services-greedy.ts";
import { meddle } from "./services-meddlers.ts";
import { letFewerIn } from "./services-narrowing.ts";
import { ServicesScene } from "./services-scene.ts";
import { handOverGroup } from "./services-shared-group.ts";
import { squat } from "./services-squatter.ts";
import { bringStrangers } from "./services-strangers.ts";
import { deleteAll, lookAround, useServices } from "./services-users.ts";

const faultsMs = 6 * 60_000;
const times: EndingTimes = {
  // A replaced load balancer is drained for ten minutes, by the wall clocks of replicas that may be half an hour apart.
  patienceMs: 75 * 60_000,
  // A group that was replaced goes when AWS lets go of it.
  restMs: 60_000,
  quietMs: 3 * 60_000,
};

/** Plays the history of a seed to its end. */
export async function simulateServices(seed: number): Promise<Outcome> {
  await loadClients();
  const scene = new ServicesScene(seed);
  return played(seed, scene.history, () => play(scene));
}

async function play(scene: ServicesScene): Promise<void> {
  const { world } = scene;
  const [faulty, everything] = [new AbortController(), new AbortController()];
  const replicas = new Replicas(scene, (name) => new ManagerReplica(scene, name));
  const actors = [live, useServices, askForTooMuch, holdDeletions, letFewerIn, handOverGroup, bringStrangers, meddle];
  const ending = [...actors.map((act) => act(scene, faulty.signal)), injectFaults(scene, replicas, faultMixOf(scene), faulty.signal)];
  const lasting = [report(scene, everything.signal), lookAround(scene, everything.signal), scene.others.run(everything.signal)];
  await world.advance(faultsMs);
  faulty.abort(new Error("the faults are over"));
  await world.advance(0);
  await Promise.all(ending);
  await comeToOrder(scene, times);
  const moveOut = squat(scene);
  await deleteAll(scene);
  await moveOut();
  await comeToNothing(scene, times);
  await releaseAll(scene);
  everything.abort(new Error("the world ends"));
  await world.advance(0);
  await Promise.all(lasting);
  replicas.close();
  scene.cluster.close();
}

const effects: readonly Effect[] = [...badDays, { kind: "fail", code: "RequestExpired", status: 400 }];

function faultMixOf({ chance }: ServicesScene): FaultMix {
  const actions = ["*", "*", "ec2:*", "elasticloadbalancing:*", "*:Create*", "*:Delete*", "ec2:*SecurityGroup*"];
  const trouble = () => ({ effect: chance.pick(effects)!, action: chance.pick(actions)!, probability: chance.between(0.1, 0.9) });
  const stale = () => ({ effect: { kind: "stale", ageMs: 60_000 }, action: "ec2:DescribeInstances", probability: 0.5 }) as const;
  return { agent: "fairlead", aws: [trouble, trouble, trouble, trouble, trouble, stale], awsMs: 60_000, maxPauseMs: 20_000 };
}
