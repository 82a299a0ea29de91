/** The demonstration. A new capability adds its scene here; those whose controller a build does not carry are left out. */
import type { CanonicalName } from "../../commands/controller-manager/controller-names.ts";
import { atTheEnd } from "./at-the-end.ts";
import { everythingDestroyed } from "./everything-destroyed.ts";
import { ingressMoves } from "./ingress-moves.ts";
import { layoutStands } from "./layout-stands.ts";
import { leaderKilled } from "./leader-killed.ts";
import { machinesEnd } from "./machines-end.ts";
import { nodesArrive } from "./nodes-arrive.ts";
import { podsRouted } from "./pods-routed.ts";
import { rollingUpdate } from "./rolling-update.ts";
import { scaleIn } from "./scale-in.ts";
import type { Scene } from "./scene.ts";
import { servicesBalanced } from "./services-balanced.ts";
import { spotInterruption } from "./spot-interruption.ts";
import { teamsShare } from "./teams-share.ts";
import { throttled } from "./throttled.ts";
import { volumeFollows } from "./volume-follows.ts";

const scenes: readonly Scene[] = [
  layoutStands,
  nodesArrive,
  podsRouted,
  servicesBalanced,
  teamsShare,
  ingressMoves,
  rollingUpdate,
  volumeFollows,
  leaderKilled,
  throttled,
  machinesEnd,
  spotInterruption,
  scaleIn,
  atTheEnd,
  everythingDestroyed,
];

/** The scenes that these controllers can play, in order. */
export function scenesFor(controllers: ReadonlySet<CanonicalName>): readonly Scene[] {
  return scenes.filter(({ needs }) => needs.every((name) => controllers.has(name)));
}
