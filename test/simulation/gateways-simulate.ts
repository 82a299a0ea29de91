/**
 * One history of Gateways from one seed: two replicas and users live through faults; then everything that is wanted must
 * stand and be told, and when the last Gateway is gone the account must be as it was before the first.
 */
import "../../src/aws/sdk/acm.ts";
import "../../src/commands/load-balancer-controller/gateway.ts";
import "../../src/loadbalancers/targets/binding-controller.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import "../../src/loadbalancers/targets/informers.ts";
import type { FaultRule } from "../../src/sandbox/cloud/controls/faults.ts";
import { configurationDefinitions, gatewayApiDefinitions } from "../bed/gateway-definitions.ts";
import { loadClients } from "../bed/service-world.ts";
import { operateServices } from "./backends.ts";
import { playBalancers } from "./balancers-play.ts";
import { meddle } from "./gateways-meddlers.ts";
import { administrate, installLater, prepare } from "./gateways-place.ts";
import { GatewaysScene } from "./gateways-scene.ts";
import { deleteAll, lookAround, useGateways } from "./gateways-users.ts";
import { gatewayNames } from "./gateways-wish.ts";
import { type Outcome, played } from "./outcome.ts";

const definitions = [targetGroupBindingDefinition, ...gatewayApiDefinitions, ...configurationDefinitions];

/** What AWS says for a while of what was a moment ago. */
const staleReads =
  ({ chance }: GatewaysScene) =>
  (): FaultRule => ({
    effect: { kind: "stale", ageMs: chance.between(500, 5_000) },
    action: chance.pick(["ec2:Describe*", "elasticloadbalancing:DescribeTags", "elasticloadbalancing:DescribeTargetHealth"])!,
    probability: chance.between(0.3, 1),
  });

/** Plays the history of a seed to its end. */
export async function simulateGateways(seed: number): Promise<Outcome> {
  await loadClients();
  const scene = new GatewaysScene(seed);
  await prepare(scene, definitions, gatewayNames);
  scene.open();
  const actors = [useGateways, operateServices, administrate, meddle, installLater(definitions)];
  const cast = { actors, lookAround, deleteAll, aws: [staleReads(scene)], crashesAlways: seed % 10 === 0 };
  return played(seed, scene.history, () => playBalancers(scene, cast));
}
