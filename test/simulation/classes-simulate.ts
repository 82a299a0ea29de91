/**
 * One history of Services with a load balancer class from one seed: two replicas of the load balancer controller, two of the
 * controller manager beside them, users, Deployments and bindings of others live through faults; then everything that is
 * wanted must stand, and when the last Service is gone the account must be as it was before the first.
 */
import "../../src/commands/load-balancer-controller/operate.ts";
import { BalancerReplica } from "./balancer-replica.ts";
import { ClassesScene } from "./classes-scene.ts";
import { deleteAll, runPods, useDeployments, useServices } from "./classes-users.ts";
import { comeToNothing, comeToOrder, type EndingTimes } from "./ending.ts";
import { badDays, type FaultMix, injectFaults } from "./faults.ts";
import { ManagerReplica } from "./manager-replica.ts";
import { type Outcome, played } from "./outcome.ts";
import { Replicas, type Resident } from "./replicas.ts";

const faultsMs = 5 * 60_000;
/** A new load balancer takes two minutes, in which nothing is heard of its targets. */
const times: EndingTimes = { patienceMs: 60 * 60_000, restMs: 3 * 60_000, quietMs: 3 * 60_000 };
/** How often a process dies by what it has just done. */
const deadly = 0.01;

/** Plays the history of a seed to its end. */
export async function simulateClasses(seed: number): Promise<Outcome> {
  const scene = await ClassesScene.open(seed);
  return played(seed, scene.history, () => play(scene));
}

async function play(scene: ClassesScene): Promise<void> {
  const { world } = scene;
  const [faulty, everything] = [new AbortController(), new AbortController()];
  const balancers = residents(scene, faulty.signal, "balancer", (place, name) => new BalancerReplica(place, name));
  const managers = residents(scene, faulty.signal, "manager", (place, name) => new ManagerReplica(place, name));
  const ending = [
    useServices(scene, faulty.signal),
    useDeployments(scene, faulty.signal),
    injectFaults(scene, balancers, faultMixOf(scene, managers), faulty.signal),
  ];
  const lasting = runPods(scene, everything.signal);
  await world.advance(faultsMs);
  faulty.abort(new Error("the faults are over"));
  await world.advance(0);
  await Promise.all(ending);
  await comeToOrder(scene, times);
  await deleteAll(scene);
  await comeToNothing(scene, times);
  everything.abort(new Error("the world ends"));
  await world.advance(0);
  await lasting;
  balancers.close();
  managers.close();
  scene.w.close();
}

type Place = ReturnType<ClassesScene["placeOf"]>;

/** Two processes of a program, each of which may die after any of its writes. */
function residents<R extends Resident>(
  scene: ClassesScene,
  faulty: AbortSignal,
  program: "balancer" | "manager",
  make: (place: Place, name: string) => R,
): Replicas<R> {
  const { chance, history } = scene;
  const town: Replicas<R> = new Replicas<R>(scene, (numbered) => {
    const name = numbered.replace("replica", program);
    const wrote = () => {
      if (faulty.aborted || !chance.happens(deadly)) return;
      const replica = town.all().find((each) => each.name === name);
      if (replica === undefined) return;
      history.tell("faults", `${name} dies by what it has done`);
      replica.crash();
      town.replace(replica);
    };
    return make(scene.placeOf(program, wrote), name);
  });
  return town;
}

function faultMixOf({ chance, history }: ClassesScene, managers: Replicas<ManagerReplica>): FaultMix {
  const actions = ["*", "*", "ec2:*", "elasticloadbalancing:*", "*:Create*", "*:Delete*", "*:Modify*", "elasticloadbalancing:*Targets"];
  const trouble = () => ({ effect: chance.pick(badDays)!, action: chance.pick(actions)!, probability: chance.between(0.1, 0.9) });
  const managerCrashes = () => {
    const replica = chance.pick(managers.all());
    if (replica === undefined) return;
    history.tell("faults", `${replica.name} crashes`);
    replica.crash();
    managers.replace(replica);
  };
  return {
    agent: "fairlead",
    aws: [trouble, trouble, trouble, trouble, trouble],
    awsMs: 60_000,
    maxPauseMs: 20_000,
    own: [managerCrashes],
  };
}
