/**
 * One history of Ingresses from one seed: two replicas and users live through faults; then everything that is wanted must
 * stand, and when the last Ingress is gone the account must be as it was before the first.
 */
import "../../src/aws/sdk/acm.ts";
import "../../src/aws/sdk/route53.ts";
import "../../src/commands/load-balancer-controller/ingress.ts";
import { ingressClassParamsDefinition } from "../../src/loadbalancers/ingress/crd.ts";
import "../../src/loadbalancers/targets/binding-controller.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import "../../src/loadbalancers/targets/informers.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { loadClients } from "../bed/service-world.ts";
import { operateServices } from "./backends.ts";
import { BalancerReplica } from "./balancer-replica.ts";
import { crashAfterWrites } from "./crash-after-writes.ts";
import { comeToNothing, comeToOrder, type EndingTimes } from "./ending.ts";
import { type FaultMix, injectFaults } from "./faults.ts";
import { meddle } from "./ingresses-meddlers.ts";
import { administrate, prepare } from "./ingresses-place.ts";
import { IngressesScene } from "./ingresses-scene.ts";
import { deleteAll, lookAround, useIngresses } from "./ingresses-users.ts";
import { type Outcome, played } from "./outcome.ts";
import { Replicas } from "./replicas.ts";

const faultsMs = 6 * 60_000;
const times: EndingTimes = { patienceMs: 60 * 60_000, restMs: 60_000, quietMs: 3 * 60_000 };

/** Plays the history of a seed to its end. */
export async function simulateIngresses(seed: number): Promise<Outcome> {
  await loadClients();
  const scene = new IngressesScene(seed);
  await prepare(scene, [targetGroupBindingDefinition, ingressClassParamsDefinition]);
  await scene.open();
  return played(seed, scene.history, () => play(scene));
}

async function play(scene: IngressesScene): Promise<void> {
  const { world } = scene;
  const [faulty, everything] = [new AbortController(), new AbortController()];
  const replicas = new Replicas(scene, (name) => new BalancerReplica(scene, name));
  const actors = [useIngresses, operateServices, administrate, meddle];
  const mix = faultMixOf(scene, replicas);
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

/** What AWS's bad days look like. */
const effects: readonly Effect[] = [
  { kind: "throttle" },
  { kind: "throttle" },
  { kind: "lose-answer" },
  { kind: "lose-answer" },
  { kind: "cut" },
  { kind: "delay", ms: 3_000 },
  { kind: "fail", code: "InternalFailure", status: 500 },
  { kind: "fail", code: "AccessDenied", status: 403 },
];

function faultMixOf(scene: IngressesScene, replicas: Replicas<BalancerReplica>): FaultMix {
  const { chance } = scene;
  const actions = ["*", "*", "ec2:*", "elasticloadbalancing:*", "*:Create*", "*:Delete*", "*:Modify*", "elasticloadbalancing:*Rule*"];
  const trouble = () => ({ effect: chance.pick(effects)!, action: chance.pick(actions)!, probability: chance.between(0.1, 0.9) });
  const crashes = crashAfterWrites(scene, replicas);
  const aws = [trouble, trouble, trouble, trouble, trouble];
  return { agent: "fairlead", aws, awsMs: 60_000, maxPauseMs: 20_000, own: [crashes, crashes, crashes] };
}
