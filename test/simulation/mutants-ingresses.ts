/** Known faults of the Ingress controller and of the bindings behind it. */
import type { Mutant } from "./mutants.ts";

export const ingressMutants: readonly Mutant[] = [
  {
    name: "mistake-takes-its-rules",
    world: "ingresses",
    file: "src/loadbalancers/ingress/desire.ts",
    changes: [
      [
        "const modelOf = (key: string) => understood.get(key) ?? remembered.get(key);",
        "const modelOf = (key: string) => understood.get(key);",
      ],
      ["const unknown = keys.filter((key) => modelOf(key) === undefined);", "const unknown: readonly string[] = [];"],
    ],
    killedBy: "a settled member's rules are never removed by another's mistake",
  },
  {
    name: "class-that-vanishes-takes-all",
    world: "ingresses",
    file: "src/loadbalancers/ingress/groups.ts",
    changes: [['isFinalized && membership.kind === "invalid-class"', 'isFinalized && membership.kind === "in"']],
    killedBy: "a settled member's rules are never removed by another's mistake",
  },
  {
    name: "marks-of-any-cluster",
    world: "ingresses",
    file: "src/loadbalancers/ingress/names.ts",
    changes: [["return isOfCluster(tags, cluster) && tags[stackTag]", "return (isOfCluster(tags, cluster) || true) && tags[stackTag]"]],
    killedBy: "nothing foreign is touched",
  },
  {
    name: "group-let-go-early",
    world: "ingresses",
    file: "src/loadbalancers/ingress/removal.ts",
    changes: [['if (removal.kind === "waiting") return again(', 'if (removal.kind === "waiting" && Math.abs(1) < 0) return again(']],
    killedBy: "nothing is left",
  },
  {
    name: "service-that-comes-back-unnoticed",
    world: "ingresses",
    file: "src/loadbalancers/ingress/controller.ts",
    changes: [["this.#byService((after ?? before)!.metadata)", "(before && after ? this.#byService(after.metadata) : [])"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "webhook-refuses-what-was-there",
    world: "ingresses",
    file: "src/loadbalancers/ingress/admission.ts",
    changes: [["const isNew = before === undefined ||", "const isNew = true || before === undefined ||"]],
    killedBy: "a webhook refuses only mistakes",
  },
  {
    name: "certificates-of-any-cluster",
    world: "ingresses",
    file: "src/loadbalancers/ingress/certificate-pass.ts",
    changes: [
      [
        "hasMarks(tags, settings.cluster, group.id)",
        'hasMarks({ ...tags, "elbv2.k8s.aws/cluster": settings.cluster }, settings.cluster, group.id)',
      ],
    ],
    killedBy: "nothing foreign is touched",
  },
  {
    name: "groups-share-what-is-refused",
    world: "ingresses",
    file: "src/loadbalancers/ingress/groups.ts",
    changes: [["stackOf(group)} ", "stackOf(group).slice(0, 0)} "]],
    killedBy: "what AWS refuses is not asked for in a hot loop",
  },
];
