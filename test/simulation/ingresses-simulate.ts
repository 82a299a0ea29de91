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
import { loadClients } from "../bed/service-world.ts";
import { operateServices } from "./backends.ts";
import { playBalancers } from "./balancers-play.ts";
import { meddle } from "./ingresses-meddlers.ts";
import { administrate, prepare } from "./ingresses-place.ts";
import { IngressesScene } from "./ingresses-scene.ts";
import { deleteAll, lookAround, useIngresses } from "./ingresses-users.ts";
import { type Outcome, played } from "./outcome.ts";

/** Plays the history of a seed to its end. */
export async function simulateIngresses(seed: number): Promise<Outcome> {
  await loadClients();
  const scene = new IngressesScene(seed);
  await prepare(scene, [targetGroupBindingDefinition, ingressClassParamsDefinition]);
  await scene.open();
  const actors = [useIngresses, operateServices, administrate, meddle];
  return played(seed, scene.history, () => playBalancers(scene, { actors, lookAround, deleteAll }));
}
