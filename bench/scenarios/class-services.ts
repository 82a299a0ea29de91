/** Services with a load balancer class: made, found again, and removed. */
import { services } from "../../src/kube/builtin.ts";
import type { Entrant } from "../bed/entrants.ts";
import { inParallel } from "../bed/parallel.ts";
import { until } from "../bed/program.ts";
import { balancerBed, bindGroups, filledBindings, makeGroups } from "./bound-groups.ts";
import { quietMs, type Scenario, type Size, type Steps } from "./scenario.ts";

const members = 10;
const namespace = "default";
const count = 200;
const ownCount = 500;
/** The Service behind target groups of the user's own. */
const own = "own";
const ports = [{ name: "http", port: 80, targetPort: 8080 }];

export const classServices: Scenario = {
  name: "class-services",
  title: "200 Services with a load balancer class, and 500 bindings",
  about:
    "A cluster of 10 nodes; every Service has a network load balancer of its own with the nodes as targets. The reference is the AWS Load Balancer Controller with twenty workers. Create: until the last has an address and its " +
    "target group its targets. Bind: 500 target groups of a user's own, each with the nodes as targets. Restart: killed and started again, until AWS has been asked its last question. Delete: until no Service is left.",
  entrants: ["reference", "fairlead"],
  onlyFull: true,
  run: live,
};

async function live(entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await balancerBed(entrant);
  const { cluster, cloud } = bed;
  const { admin } = cluster;
  await bed.join(members, () => ({ kind: "initialised" }));
  await bed.fromStart([], () => cloud.quiet(quietMs));
  const names = Array.from({ length: size.count(count) }, (_, index) => `service-${index}`);
  const there = async () => (await admin.list(services, { namespace })).items.filter(({ metadata }) => names.includes(metadata.name));

  const create = await bed.step(
    () =>
      inParallel(names, (name) =>
        admin.create(services, {
          metadata: { name, namespace },
          spec: {
            type: "LoadBalancer",
            loadBalancerClass: "service.k8s.aws/nlb",
            selector: { app: name },
            ports,
          },
        }),
      ),
    (program) =>
      until(program, "every Service has an address, and every target group its targets", async () => {
        const all = await there();
        const filled = await filledBindings(bed);
        return all.every(({ status }) => status?.loadBalancer?.ingress?.[0]?.hostname) && filled === names.length;
      }),
  );
  await admin.create(services, { metadata: { name: own, namespace }, spec: { type: "NodePort", selector: { app: own }, ports } });
  const arns = await makeGroups(bed, "instance", size.count(ownCount));
  const bind = await bed.step(
    () => bindGroups(bed, arns, "instance", own),
    (program) => until(program, "every binding is brought about", async () => (await filledBindings(bed)) === names.length + arns.length),
  );
  // Before its first question it reads the whole cluster, which may take longer than it is silent at its end.
  const restart = await bed.fromStart([], async (program) => {
    await until(program, "it has asked AWS something", async () => (await cloud.calls()).total > 0);
    return cloud.quiet(quietMs);
  });
  const remove = await bed.step(
    () => inParallel(names, (name) => admin.delete(services, { namespace, name })),
    (program) => until(program, "no Service is left", async () => (await there()).length === 0),
  );
  return { create, bind, restart, delete: remove };
}
