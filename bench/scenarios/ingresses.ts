/** Ingresses: made, found again, and removed. */

import { services } from "../../src/kube/builtin.ts";
import type { Ingress } from "../../src/kube/types.ts";
import { ingressClasses, ingresses } from "../../src/loadbalancers/ingress/seen.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { installDefinitions } from "../../test/bed/definitions.ts";
import { Bed } from "../bed/bed.ts";
import type { Entrant } from "../bed/entrants.ts";
import { asLoadBalancerController, startLoadBalancerController } from "../bed/load-balancer-controller.ts";
import { inParallel } from "../bed/parallel.ts";
import { until } from "../bed/program.ts";
import { quietMs, type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

const members = 10;
const namespace = "default";

/** How many Ingresses, and how many share a load balancer. */
interface Herd {
  readonly count: number;
  readonly perGroup: number;
}

const steps =
  "The reference is the AWS Load Balancer Controller with twenty workers. Create: until the last has an address and its target group its targets. Restart: killed and started again, until AWS has been asked its last " +
  "question. Delete: until no Ingress is left.";

export const ingressScenario: Scenario = {
  name: "ingresses",
  title: "40 Ingresses",
  about: `A cluster of 10 nodes; every Ingress has one path to a Service and a load balancer of its own. ${steps}`,
  entrants: ["reference", "fairlead"],
  run: (entrant, size) => live(entrant, size, { count: 40, perGroup: 1 }),
};

export const ingressesShared: Scenario = {
  name: "ingresses-900",
  title: "900 Ingresses in 90 groups",
  about: `The same cluster; ten Ingresses share a load balancer. ${steps}`,
  entrants: ["reference", "fairlead"],
  onlyFull: true,
  run: (entrant, size) => live(entrant, size, { count: 900, perGroup: 10 }),
};

async function live(entrant: Entrant, size: Size, { count, perGroup }: Herd): Promise<Steps> {
  await using bed = await opened(entrant);
  const { cluster, cloud } = bed;
  const { admin } = cluster;
  const wanted = Array.from({ length: size.count(count) }, (_, index) => ingress(index, perGroup));
  const there = async () => (await admin.list(ingresses, { namespace })).items;

  const create = await bed.step(
    () => inParallel(wanted, (each) => admin.create(ingresses, each)),
    (program) =>
      until(program, "every Ingress has an address, and every target group its targets", async () => {
        const all = await there();
        const { items } = await admin.list(targetGroupBindings, { namespace });
        const filled = items.filter(({ metadata, status }) => status?.observedGeneration === metadata.generation);
        return all.every(({ status }) => status?.loadBalancer?.ingress?.[0]?.hostname) && filled.length === wanted.length;
      }),
  );
  // Before its first question it reads the whole cluster, which may take longer than it is silent at its end.
  const restart = await bed.fromStart([], async (program) => {
    await until(program, "it has asked AWS something", async () => (await cloud.calls()).total > 0);
    return cloud.quiet(quietMs);
  });
  const remove = await bed.step(
    () => inParallel(wanted, ({ metadata }) => admin.delete(ingresses, { namespace, name: metadata?.name ?? "" })),
    (program) => until(program, "no Ingress is left", async () => (await there()).length === 0),
  );
  return { create, restart, delete: remove };
}

/** A cluster of some nodes with one Service, and the program at rest in it. */
async function opened(entrant: Entrant): Promise<Bed> {
  const bed = await Bed.make(await asLoadBalancerController(entrant), usualCloud, startLoadBalancerController);
  try {
    const { admin } = bed.cluster;
    await installDefinitions(admin);
    await admin.create(ingressClasses, { metadata: { name: "alb" }, spec: { controller: "ingress.k8s.aws/alb" } });
    await bed.join(members, () => ({ kind: "initialised" }));
    await admin.create(services, {
      metadata: { name: "web", namespace },
      spec: { type: "NodePort", selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
    });
    await bed.fromStart([], () => bed.cloud.quiet(quietMs));
    return bed;
  } catch (error) {
    await bed[Symbol.asyncDispose]();
    throw error;
  }
}

function ingress(index: number, perGroup: number): Ingress {
  const name = `ingress-${index}`;
  const group = { "alb.ingress.kubernetes.io/group.name": `group-${Math.floor(index / perGroup)}` };
  const paths = [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }];
  return {
    metadata: { name, namespace, annotations: perGroup > 1 ? group : {} },
    spec: { ingressClassName: "alb", rules: [{ host: `${name}.example.com`, http: { paths } }] },
  };
}
