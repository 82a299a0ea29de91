/** Known faults of the controller of Services with a load balancer class. */
import type { Mutant } from "./mutants.ts";

export const classMutants: readonly Mutant[] = [
  {
    name: "class-finalizer-goes-early",
    world: "classes",
    file: "src/loadbalancers/service-class/removal.ts",
    changes: [['if (removal.kind === "waiting") return', 'if (removal.kind === "waiting" && removal.why === "") return']],
    killedBy: "a finalizer goes only after all it guards",
  },
  {
    name: "class-made-without-finalizer",
    world: "classes",
    file: "src/loadbalancers/service-class/pass.ts",
    changes: [
      ["report.setFinalizer(service, classFinalizer, true, ask.signal)", 'Promise.resolve(report !== undefined && classFinalizer !== "")'],
    ],
    killedBy: "a finalizer goes only after all it guards",
  },
  {
    name: "class-of-any-cluster",
    world: "classes",
    file: "src/loadbalancers/service-class/names.ts",
    changes: [["return isOfCluster(tags, cluster) &&", 'return (isOfCluster(tags, cluster) || cluster !== "") &&']],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "class-bindings-stay",
    world: "classes",
    file: "src/loadbalancers/service-class/deploy.ts",
    changes: [["await deleteBindings(surplus, context, ask.signal);", "void [deleteBindings, surplus];"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "class-and-manager-serve-alike",
    world: "classes",
    file: "src/loadbalancers/service-claim.ts",
    changes: [['if (asked === "nlb-ip") return', 'if (asked === "nlb-ip" || asked === "nlb") return']],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "class-mistakes-are-carried-out",
    world: "classes",
    file: "src/loadbalancers/service-class/pass.ts",
    changes: [["if (problems.length > 0) throw", "if (problems.length > 99) throw"]],
    killedBy: "what is wanted exists, and nothing else",
  },
  {
    name: "class-takes-others-bindings",
    world: "classes",
    file: "src/loadbalancers/targets/owned-bindings.ts",
    changes: [["metadata.labels[key] === value)", "[value, undefined].includes(metadata.labels[key]))"]],
    killedBy: "no target of a serving pod is deregistered",
  },
  {
    name: "class-group-stays",
    world: "classes",
    file: "src/loadbalancers/service-class/removal.ts",
    changes: [["withGroups: true,", "withGroups: false,"]],
    killedBy: "nothing is left",
  },
  {
    name: "class-old-one-goes-at-once",
    world: "classes",
    file: "src/loadbalancers/service-class/replacement.ts",
    changes: [["const handOverMs = 5 * 60_000;", "const handOverMs = 10_000;"]],
    killedBy: "clients have five minutes to leave a load balancer that is replaced",
  },
];
