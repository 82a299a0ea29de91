/** Load balancers: made, changed, found again, joined by a node, left by it, and removed. */
import { nodes, services } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Service } from "../../src/kube/types.ts";
import { Bed } from "../bed/bed.ts";
import type { Machine } from "../bed/cloud-process.ts";
import type { Entrant } from "../bed/entrants.ts";
import type { Figures } from "../bed/figures.ts";
import { nodeOf } from "../bed/nodes.ts";
import { inParallel } from "../bed/parallel.ts";
import { until } from "../bed/program.ts";
import { alone, quietMs, type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

const [count, atOnce, members] = [100, 200, 10];
const namespace = "default";
const [firstPort, changedPort] = [80, 8080];

export const servicesScenario: Scenario = {
  name: "services",
  title: "100 Services",
  about:
    "A cluster of 10 nodes; half of the Services ask for a classic load balancer, half for a network one. Create: until " +
    "the last has an address. Change: every Service gets another port, until every load balancer listens on it. Restart: " +
    "killed and restarted, until its last call to AWS. Join: a node registers, until all 100 load " +
    "balancers send it traffic. Leave: its Node is deleted, until none does. Delete: until no Service is left.",
  entrants: ["reference", "fairlead"],
  run: live,
};

export const servicesAtOnce: Scenario = {
  name: "services-200",
  title: "200 Services at once",
  about:
    "The same cluster. Create: 200 Services, half of each kind, are created at once, until the last has an address; the " +
    "rate is their number divided by that time.",
  entrants: ["reference", "fairlead"],
  async run(entrant, size) {
    await using bed = await opened(entrant);
    return { create: await creation(bed, namesOf(size.count(atOnce))) };
  },
};

async function live(entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await opened(entrant);
  const { cluster, cloud } = bed;
  const { admin } = cluster;
  const names = namesOf(size.count(count));
  const everyService = (work: (name: string) => Promise<unknown>) => () => inParallel(names, work);

  const create = await creation(bed, names);
  const change = await bed.step(
    everyService((name) =>
      admin.patch(services, { namespace, name }, { json: [{ op: "replace", path: "/spec/ports/0/port", value: changedPort }] }),
    ),
    (program) =>
      until(program, "every load balancer listens on the new port and no longer on the old one", async () => {
        const [now, before] = [await cloud.look({ port: changedPort }), await cloud.look({ port: firstPort })];
        return now.onPort === names.length && before.onPort === 0;
      }),
  );
  const restart = await bed.fromStart(alone, () => cloud.quiet(quietMs));
  let newcomer: Machine | undefined;
  const join = await bed.step(
    async () => {
      [newcomer] = await cloud.launch(1);
      await admin.create(nodes, nodeOf(newcomer!, { kind: "registered", providerId: true }));
    },
    (program) =>
      until(program, "every load balancer has the new node", async () => {
        return (await cloud.look({ instanceId: newcomer!.id })).registered === names.length;
      }),
  );
  const leave = await bed.step(
    () => admin.delete(nodes, { name: newcomer!.name }).then(() => {}),
    (program) =>
      until(program, "no load balancer has the node that left", async () => {
        return (await cloud.look({ instanceId: newcomer!.id })).registered === 0;
      }),
  );
  const remove = await bed.step(
    everyService((name) => admin.delete(services, { namespace, name })),
    (program) => until(program, "no Service is left", async () => (await balanced(admin)).length === 0),
  );
  return { create, change, restart, join, leave, delete: remove };
}

/** A cluster of some nodes, with the program at rest in it. */
async function opened(entrant: Entrant): Promise<Bed> {
  const bed = await Bed.make(entrant, usualCloud);
  try {
    await bed.join(members, () => ({ kind: "initialised" }));
    await bed.fromStart(alone, () => bed.cloud.quiet(quietMs));
    return bed;
  } catch (error) {
    await bed[Symbol.asyncDispose]();
    throw error;
  }
}

function namesOf(number: number): readonly string[] {
  return Array.from({ length: number }, (_, index) => `service-${index}`);
}

function creation(bed: Bed, names: readonly string[]): Promise<Figures> {
  const { admin } = bed.cluster;
  return bed.step(
    () => inParallel(names, (name) => admin.create(services, loadBalancer(name, names.indexOf(name) % 2 === 0 ? "classic" : "network"))),
    (program) => until(program, "every Service has an address", () => allHaveAddresses(admin)),
  );
}

function loadBalancer(name: string, kind: "classic" | "network"): Service {
  return {
    metadata: { name, namespace, annotations: kind === "network" ? { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" } : {} },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ name: "http", port: firstPort, targetPort: 8080 }] },
  };
}

async function balanced(admin: KubeClient) {
  const { items } = await admin.list(services, { namespace });
  return items.filter(({ spec }) => spec?.type === "LoadBalancer");
}

async function allHaveAddresses(admin: KubeClient): Promise<boolean> {
  return (await balanced(admin)).every(({ status }) => status?.loadBalancer?.ingress?.[0]?.hostname);
}
