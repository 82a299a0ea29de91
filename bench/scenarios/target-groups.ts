/** Target groups of a user's own, each with a thousand pods: filled, found again, and followed when a pod moves. */
import { endpointSlices, pods, services } from "../../src/kube/builtin.ts";
import type { Bed } from "../bed/bed.ts";
import type { Entrant } from "../bed/entrants.ts";
import { inParallel } from "../bed/parallel.ts";
import { until } from "../bed/program.ts";
import { balancerBed, bindGroups, filledBindings, makeGroups } from "./bound-groups.ts";
import { quietMs, type Scenario, type Size, type Steps } from "./scenario.ts";

const namespace = "default";
/** AWS takes 1,000 in a group: one that moves needs room beside them. */
const podCount = 990;
const groupCount = 50;
const perSlice = 99;

export const targetGroups: Scenario = {
  name: "target-groups",
  title: "50 target groups of 990 pods",
  about:
    "One Service with 990 pods, bound to 50 target groups. The reference is the AWS Load Balancer Controller with twenty workers. Fill: until every pod is a target in every group. Restart: killed and started again, until AWS " +
    "has been asked its last question. Move: one pod goes and another comes, until all groups have it.",
  entrants: ["reference", "fairlead"],
  onlyFull: true,
  run: live,
};

async function live(entrant: Entrant, size: Size): Promise<Steps> {
  await using bed = await balancerBed(entrant);
  const { cluster, cloud } = bed;
  const { admin } = cluster;
  const [machine] = await bed.join(1, () => ({ kind: "initialised" }));
  const nodeName = machine!.name;
  await admin.create(services, { metadata: { name: "web", namespace }, spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] } });
  const numbers = Array.from({ length: size.count(podCount) + 1 }, (_, number) => number);
  await inParallel(numbers, (number) => makePod(bed, number, nodeName));
  const [last = 0, ...rest] = numbers.toReversed();
  const slices = Array.from({ length: Math.ceil(rest.length / perSlice) }, (_, i) => rest.slice(i * perSlice, (i + 1) * perSlice));
  for (const [i, some] of slices.entries()) await admin.create(endpointSlices, slice(i, some));
  const arns = await makeGroups(bed, "ip", size.count(groupCount));
  await bed.fromStart([], () => cloud.quiet(quietMs));

  const fill = await bed.step(
    () => bindGroups(bed, arns, "ip", "web"),
    async (program) => {
      await until(program, "every binding is brought about", async () => (await filledBindings(bed)) === arns.length);
      return cloud.quiet(quietMs);
    },
  );
  const restart = await bed.fromStart([], () => cloud.quiet(3 * quietMs));
  const move = await bed.step(
    async () => {
      await admin.patch(endpointSlices, { namespace, name: "web-0" }, { merge: { endpoints: endpoints([last, ...slices[0]!.slice(1)]) } });
    },
    () => cloud.quiet(quietMs),
  );
  return { fill, restart, move };
}

/** In the first private subnet, beyond what AWS gives away itself. */
const addressOf = (number: number) => `10.0.${50 + Math.floor(number / 200)}.${10 + (number % 200)}`;

async function makePod({ cluster: { admin } }: Bed, number: number, nodeName: string): Promise<void> {
  const name = `web-${number}`;
  const podIP = addressOf(number);
  await admin.create(pods, {
    metadata: { name, namespace, labels: { app: "web" } },
    spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: "c", image: "c:1" }] },
  });
  const conditions = ["ContainersReady", "Ready"].map((type) => ({ type, status: "True" }));
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions };
  await admin.patch(pods, { namespace, name, subresource: "status" }, { merge: { status } });
}

const endpoints = (numbers: readonly number[]) =>
  numbers.map((number) => ({
    addresses: [addressOf(number)],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: "Pod", namespace, name: `web-${number}` },
  }));

const slice = (i: number, numbers: readonly number[]) => ({
  metadata: { name: `web-${i}`, namespace, labels: { "kubernetes.io/service-name": "web" } },
  addressType: "IPv4" as const,
  ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  endpoints: endpoints(numbers),
});
