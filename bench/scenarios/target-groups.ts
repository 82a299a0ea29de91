/** Target groups of a user's own, each with a thousand pods: filled, found again, and followed when a pod moves. */
import { CreateTargetGroupCommand, ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { endpointSlices, pods, services } from "../../src/kube/builtin.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { installDefinitions } from "../../test/bed/definitions.ts";
import { Bed } from "../bed/bed.ts";
import { region } from "../bed/cloud.ts";
import type { Entrant } from "../bed/entrants.ts";
import { asLoadBalancerController, startLoadBalancerController } from "../bed/load-balancer-controller.ts";
import { inParallel } from "../bed/parallel.ts";
import { until } from "../bed/program.ts";
import { quietMs, type Scenario, type Size, type Steps, usualCloud } from "./scenario.ts";

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
  await using bed = await Bed.make(await asLoadBalancerController(entrant), usualCloud, startLoadBalancerController);
  const { cluster, cloud } = bed;
  const { admin } = cluster;
  await installDefinitions(admin);
  const [machine] = await bed.join(1, () => ({ kind: "initialised" }));
  const nodeName = machine!.name;
  await admin.create(services, { metadata: { name: "web", namespace }, spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] } });
  const numbers = Array.from({ length: size.count(podCount) + 1 }, (_, number) => number);
  await inParallel(numbers, (number) => makePod(bed, number, nodeName));
  const [last = 0, ...rest] = numbers.toReversed();
  const slices = Array.from({ length: Math.ceil(rest.length / perSlice) }, (_, i) => rest.slice(i * perSlice, (i + 1) * perSlice));
  for (const [i, some] of slices.entries()) await admin.create(endpointSlices, slice(i, some));
  const arns = await makeGroups(bed, size.count(groupCount));
  await bed.fromStart([], () => cloud.quiet(quietMs));

  const filled = async () => {
    const { items } = await admin.list(targetGroupBindings, { namespace });
    return items.length === arns.length && items.every(({ metadata, status }) => status?.observedGeneration === metadata.generation);
  };
  const fill = await bed.step(
    () =>
      inParallel(arns, (targetGroupARN) =>
        admin.create(targetGroupBindings, {
          metadata: { name: targetGroupARN.split("/").at(-2)!, namespace },
          spec: {
            targetGroupARN,
            targetType: "ip",
            ipAddressType: "ipv4",
            vpcID: cloud.network.vpcId,
            targetGroupProtocol: "TCP",
            serviceRef: { name: "web", port: 80 },
          },
        }),
      ),
    async (program) => {
      await until(program, "every binding is brought about", filled);
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

async function makeGroups({ cloud }: Bed, count: number): Promise<readonly string[]> {
  const credentials = { accessKeyId: "AKIABENCH", secretAccessKey: "of-no-worth" };
  const client = new ElasticLoadBalancingV2Client({ region, endpoint: cloud.url, credentials });
  const VpcId = cloud.network.vpcId;
  const made = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      client.send(new CreateTargetGroupCommand({ Name: `group-${i}`, Protocol: "TCP", Port: 80, VpcId, TargetType: "ip" })),
    ),
  );
  return made.flatMap(({ TargetGroups }) => TargetGroups?.[0]?.TargetGroupArn ?? []);
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
