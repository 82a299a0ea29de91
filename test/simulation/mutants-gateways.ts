/** Known faults of the controllers of Gateways. */
import type { Mutant } from "./mutants.ts";

export const gatewayMutants: readonly Mutant[] = [
  {
    name: "bad-configuration-takes-its-listeners",
    world: "gateways",
    file: "src/loadbalancers/gateway/survey.ts",
    changes: [["...problems.map((message) => ({ message })),", ""]],
    killedBy: "a settled route's rules are never removed by another's mistake",
  },
  {
    name: "gateway-class-that-vanishes-takes-all",
    world: "gateways",
    file: "src/loadbalancers/gateway/pass.ts",
    changes: [
      ["if (of === undefined) return done;", "if (of === undefined) return isGuarded ? removeGateway(gateway, context, ask) : done;"],
    ],
    killedBy: "a settled route's rules are never removed by another's mistake",
  },
  {
    name: "gateway-marks-of-any-cluster",
    world: "gateways",
    file: "src/loadbalancers/gateway/names.ts",
    changes: [
      [
        "return isOfCluster(tags, cluster) && tags[stackTag(flavour)]",
        "return (isOfCluster(tags, cluster) || true) && tags[stackTag(flavour)]",
      ],
    ],
    killedBy: "nothing foreign is touched",
  },
  {
    name: "gateway-let-go-early",
    world: "gateways",
    file: "src/loadbalancers/gateway/removal.ts",
    changes: [['if (removal.kind === "waiting") return again(', 'if (removal.kind === "waiting" && Math.abs(1) < 0) return again(']],
    killedBy: "nothing is left",
  },
  {
    name: "every-listener-set-may-join",
    world: "gateways",
    file: "src/loadbalancers/gateway/listener-sets.ts",
    changes: [["=> allows(allowedListeners, namespace,", "=> true || allows(allowedListeners, namespace,"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "route-is-told-of-another-generation",
    world: "gateways",
    file: "src/loadbalancers/gateway/conditions.ts",
    changes: [["observedGeneration: generation,", "observedGeneration: before?.observedGeneration ?? generation,"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "youngest-route-has-the-port",
    world: "gateways",
    file: "src/loadbalancers/gateway/network-routes.ts",
    changes: [["compareText(a.createdAt, b.createdAt) ||", "compareText(b.createdAt, a.createdAt) ||"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "definitions-that-come-later-unnoticed",
    world: "gateways",
    file: "src/loadbalancers/gateway/activation.ts",
    changes: [["while (closed.length > 0) {", "while (closed.length < 0) {"]],
    killedBy: "what is wanted exists, and nothing else",
  },
];
