/**
 * One history of Gateways from one seed: two replicas and users live through faults; then everything that is wanted must
 * stand and be told, and when the last Gateway is gone the account must be as it was before the first.
 */
import "../../src/aws/sdk/acm.ts";
import "../../src/commands/load-balancer-controller/gateway.ts";
import "../../src/loadbalancers/targets/binding-controller.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import "../../src/loadbalancers/targets/informers.ts";
import { configurationDefinitions, gatewayApiDefinitions } from "../bed/gateway-definitions.ts";
import { loadClients } from "../bed/service-world.ts";
import { operateServices } from "./backends.ts";
import { playBalancers } from "./balancers-play.ts";
import { meddle } from "./gateways-meddlers.ts";
import { administrate, prepare } from "./gateways-place.ts";
import { GatewaysScene } from "./gateways-scene.ts";
import { deleteAll, gatewayNames, lookAround, useGateways } from "./gateways-users.ts";
import { type Outcome, played } from "./outcome.ts";

/** Plays the history of a seed to its end. */
export async function simulateGateways(seed: number): Promise<Outcome> {
  await loadClients();
  const scene = new GatewaysScene(seed);
  await prepare(scene, [targetGroupBindingDefinition, ...gatewayApiDefinitions, ...configurationDefinitions], gatewayNames);
  scene.open();
  const actors = [useGateways, operateServices, administrate, meddle];
  return played(seed, scene.history, () => playBalancers(scene, { actors, lookAround, deleteAll }));
}
