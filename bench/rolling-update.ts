/**
 * `npm run bench rolling-update`: a rolling update of a hundred pods behind a network and an application load balancer, under the reference and under ours, with
 * readiness gates and without: how many requests of a client before each are lost. Both are told to look at targets every second.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  CreateListenerCommand,
  CreateLoadBalancerCommand,
  CreateTargetGroupCommand,
  ElasticLoadBalancingV2Client,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { endpointSlices, pods, services } from "../src/kube/builtin.ts";
import { targetGroupBindings } from "../src/loadbalancers/targets/binding.ts";
import { realWorld } from "../src/runtime/world.ts";
import { healthOf, targetsOf } from "../src/sandbox/cloud/elbv2/health-state.ts";
import { createElbv2 } from "../src/sandbox/cloud/elbv2/state.ts";
import { sdkConfig } from "../src/sandbox/cloud/sdk-handler.ts";
import type { PodWish } from "../test/bed/binding-world.ts";
import { Rollout, type RolloutWorld } from "../test/bed/rollout.ts";
import { RoutedClient } from "../test/bed/routed-client.ts";
import { type IngressCluster, ingressCluster } from "../test/referees/ingress-cluster.ts";
import { chanceOf } from "../test/simulation/chance.ts";

const namespace = "default";
const size = 100;
/** A quarter more during the update, none fewer. */
const surge = 25;
/** Seconds for which pods answer after they were asked to end. */
const graceSeconds = 5;
/** How much faster than AWS the cloud is: a new target is healthy after twenty seconds. */
const speed = 7.5;
const stepMs = 250;
const patienceMs = 400_000;
const flags = ["--targetgroupbinding-requeue-duration=1s"];

const kinds = {
  network: { protocol: "TCP", type: "network" },
  application: { protocol: "HTTP", type: "application" },
} as const;
type Kind = keyof typeof kinds;

test("a rolling update of 100 pods with gates loses no request under ours; the reference and updates without gates are told beside it", {
  timeout: 1_800_000,
}, async (t) => {
  const judged = await ingressCluster(t);
  judged.cloud.controls.change({ speed });
  for (const [who, start] of [
    ["reference", judged.reference],
    ["ours", judged.ours],
  ] as const) {
    const inCharge = await start(...flags);
    for (const isGated of [true, false]) {
      const lost = await rollOut(t, judged, `${who}-${isGated ? "gated" : "open"}`, isGated);
      if (who === "ours" && isGated) assert.deepEqual(lost, { network: 0, application: 0 });
    }
    await inCharge.stop();
  }
});

/** Requests that were lost, by the kind of load balancer. */
async function rollOut(t: TestContext, judged: IngressCluster, name: string, isGated: boolean): Promise<Readonly<Record<Kind, number>>> {
  const { clock, random } = realWorld();
  const bound = { network: await bind(judged, name, "network"), application: await bind(judged, name, "application") };
  const world = new ClusterPods(judged, name);
  await world.open();
  const gates = Object.keys(kinds).map((kind) => `target-health.elbv2.k8s.aws/${name}-${kind}`);
  const chance = { ...chanceOf(random), between: () => graceSeconds };
  const rollout = new Rollout(world, name, { size, surge, chance, ...(isGated && { gate: () => gates }) });
  const clients = Object.keys(kinds).map((kind) => {
    const { balancer } = bound[kind as Kind];
    return [
      kind as Kind,
      new RoutedClient(
        judged.cloud,
        (target) => rollout.answers(target),
        ({ arn }) => arn === balancer,
      ),
    ] as const;
  });
  const until = async (what: string, isOver: () => boolean, sends: boolean) => {
    const began = clock.monotonic();
    while (!isOver()) {
      assert.ok(clock.monotonic() - began < patienceMs, `${name}: ${what}: not after ${patienceMs} ms`);
      await world.look();
      await rollout.step();
      if (sends) for (const [, client] of clients) client.send();
      await new Promise((resolve) => setTimeout(resolve, stepMs));
      if (sends) for (const [, client] of clients) client.send();
    }
  };
  const healthy = () => Object.values(bound).every(({ group }) => healthyIn(judged, group) === size);
  await until("all pods are healthy", () => rollout.isDone() && healthy(), false);
  const began = clock.monotonic();
  rollout.roll();
  await until("all pods are new", () => rollout.isDone(), true);
  const tookMs = clock.monotonic() - began;
  // What ends last is waited for, and so are targets that are healthy late.
  const endsAt = clock.monotonic() + 30_000;
  await until("the pods of before have ended", () => clock.monotonic() > endsAt, true);
  const lost = Object.fromEntries(clients.map(([kind, { failed }]) => [kind, failed])) as Record<Kind, number>;
  const told = clients.map(([kind, { sent, failed }]) => `${kind}: ${failed} of ${sent} requests lost`).join(", ");
  t.diagnostic(`${name}: ${told}; replaced in ${(tookMs / 1000).toFixed(0)} s`);
  await world.close();
  return lost;
}

function healthyIn({ cloud }: IngressCluster, arn: string): number {
  cloud.account.time.settle();
  const elbv2 = createElbv2(cloud.account);
  const group = elbv2.targetGroups.get(arn)!;
  return targetsOf(elbv2, arn).filter((target) => healthOf(elbv2, group, target).State === "healthy").length;
}

interface Bound {
  readonly balancer: string;
  readonly group: string;
}

/** A load balancer with a target group and its binding, by their ARNs. */
async function bind({ cloud, network, cluster }: IngressCluster, service: string, kind: Kind): Promise<Bound> {
  const { protocol, type } = kinds[kind];
  const client = new ElasticLoadBalancingV2Client(sdkConfig(cloud));
  const name = `${service}-${kind}`;
  const group = await client.send(
    new CreateTargetGroupCommand({ Name: name, Protocol: protocol, Port: 8080, VpcId: network.vpcId, TargetType: "ip" }),
  );
  const TargetGroupArn = group.TargetGroups?.[0]?.TargetGroupArn ?? "";
  const made = await client.send(new CreateLoadBalancerCommand({ Name: name, Type: type, Subnets: [...network.publicSubnetIds] }));
  const LoadBalancerArn = made.LoadBalancers?.[0]?.LoadBalancerArn ?? "";
  const DefaultActions = [{ Type: "forward" as const, TargetGroupArn }];
  await client.send(new CreateListenerCommand({ LoadBalancerArn, Port: 80, Protocol: protocol, DefaultActions }));
  await cluster.admin.create(targetGroupBindings, {
    metadata: { name, namespace },
    spec: {
      targetGroupARN: TargetGroupArn,
      targetType: "ip",
      ipAddressType: "ipv4",
      vpcID: network.vpcId,
      targetGroupProtocol: protocol,
      serviceRef: { name: service, port: 80 },
    },
  });
  return { balancer: LoadBalancerArn, group: TargetGroupArn };
}

interface ClusterPod {
  readonly ip: string;
  readonly gates: readonly string[];
  ready: boolean;
  terminating: boolean;
}

/** How many pods were made in all: their addresses are never used twice. */
let made = 0;

/** The pods of a Service in a real cluster, with what kubelets and the controller of EndpointSlices say of them. */
class ClusterPods implements RolloutWorld {
  readonly world = { clock: realWorld().clock };
  readonly #judged: IngressCluster;
  readonly #service: string;
  readonly #pods = new Map<string, ClusterPod>();
  #passed = new Map<string, Set<string>>();

  constructor(judged: IngressCluster, service: string) {
    this.#judged = judged;
    this.#service = service;
  }

  async open(): Promise<void> {
    const { admin } = this.#judged.cluster;
    const ports = [{ name: "http", port: 80, targetPort: 8080 }];
    await admin.create(services, { metadata: { namespace, name: this.#service }, spec: { selector: { app: this.#service }, ports } });
    await admin.create(endpointSlices, {
      metadata: { namespace, name: `${this.#service}-1`, labels: { "kubernetes.io/service-name": this.#service } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: [],
    });
  }

  async pods(_service: string, count: number, { gates = [], ready = true }: PodWish = {}): Promise<readonly string[]> {
    const [node] = this.#judged.cloud.account.ec2.instances.values();
    const nodeName = node!.privateDnsName;
    const names = await Promise.all(
      Array.from({ length: count }, async () => {
        const number = made++;
        const name = `${this.#service}-${number}`;
        const ip = `10.0.${40 + Math.floor(number / 200)}.${10 + (number % 200)}`;
        const { admin } = this.#judged.cluster;
        await admin.create(pods, {
          metadata: { namespace, name, labels: { app: this.#service } },
          spec: {
            nodeName,
            automountServiceAccountToken: false,
            containers: [{ name: "c", image: "c:1" }],
            readinessGates: gates.map((conditionType) => ({ conditionType })),
          },
        });
        const types = ["ContainersReady", ...(ready ? ["Ready"] : [])];
        const conditions = types.map((type) => ({ type, status: "True" }));
        const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions };
        await admin.patch(pods, { namespace, name, subresource: "status" }, { strategic: { status } });
        this.#pods.set(name, { ip, gates, ready, terminating: false });
        return name;
      }),
    );
    await this.#tell();
    return names;
  }

  addressesOf(_service: string, names: readonly string[]): readonly string[] {
    return names.map((name) => `${this.#pods.get(name)?.ip}:8080`);
  }

  passed(gate: string): ReadonlySet<string> {
    return this.#passed.get(gate) ?? new Set();
  }

  async turn(_service: string, names: string | readonly string[], change: PodWish): Promise<void> {
    const { admin } = this.#judged.cluster;
    for (const name of [names].flat()) {
      const pod = this.#pods.get(name)!;
      this.#pods.set(name, { ...pod, ready: change.ready ?? pod.ready, terminating: change.terminating ?? pod.terminating });
      if (!change.ready) continue;
      const status = { conditions: [{ type: "Ready", status: "True" }] };
      await admin.patch(pods, { namespace, name, subresource: "status" }, { strategic: { status } });
    }
    await this.#tell();
  }

  async end(service: string, name: string, gracePeriodSeconds: number): Promise<void> {
    await this.#judged.cluster.admin.delete(pods, { namespace, name }, { gracePeriodSeconds });
    await this.turn(service, name, { ready: false, terminating: true });
  }

  async remove(_service: string, name: string): Promise<void> {
    this.#pods.delete(name);
    await this.#tell();
    await this.#judged.cluster.admin.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
  }

  /** Reads which gates are open. */
  async look(): Promise<void> {
    const { items } = await this.#judged.cluster.admin.list(pods, { namespace, labelSelector: `app=${this.#service}` });
    const passed = new Map<string, Set<string>>();
    for (const { metadata, status } of items) {
      for (const { type, status: is } of status?.conditions ?? [])
        if (is === "True") passed.set(type, (passed.get(type) ?? new Set()).add(metadata.name));
    }
    this.#passed = passed;
  }

  /** Everything of it goes, the bindings last: whoever is in charge empties their groups. */
  async close(): Promise<void> {
    const { admin } = this.#judged.cluster;
    for (const kind of Object.keys(kinds)) await admin.delete(targetGroupBindings, { namespace, name: `${this.#service}-${kind}` });
    await Promise.all([...this.#pods.keys()].map((name) => admin.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 })));
    await admin.delete(services, { namespace, name: this.#service });
    await admin.delete(endpointSlices, { namespace, name: `${this.#service}-1` });
  }

  async #tell(): Promise<void> {
    const endpoints = [...this.#pods].map(([name, { ip, ready, terminating }]) => ({
      addresses: [ip],
      conditions: { ready: ready && !terminating, serving: ready, terminating },
      targetRef: { kind: "Pod", namespace, name },
    }));
    const slice = { namespace, name: `${this.#service}-1` };
    await this.#judged.cluster.admin.patch(endpointSlices, slice, { merge: { endpoints } });
  }
}
