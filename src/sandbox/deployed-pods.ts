/**
 * A stand-in for what runs the pods of a Service: the Deployment's controller, the network plugin that gives pods addresses of the
 * VPC, the kubelet that says when they are ready, and the controller of EndpointSlices.
 */
import { AssignPrivateIpAddressesCommand, EC2Client, UnassignPrivateIpAddressesCommand } from "@aws-sdk/client-ec2";
import { endpointSlices, pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Cloud } from "./cloud/cloud.ts";
import { sdkConfig } from "./cloud/sdk-handler.ts";
import type { Machines } from "./machines.ts";

export interface DeployedPodsOptions {
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  readonly machines: Machines;
  readonly namespace: string;
  /** Of the Service; pods are called after it. */
  readonly name: string;
  /** Where containers listen. */
  readonly port: number;
  /** So long a container goes on answering after its pod was asked to end. */
  readonly preStopSeconds: number;
}

interface DeployedPod {
  readonly name: string;
  readonly address: string;
  readonly version: number;
  readonly interfaceId: string;
  readonly gates: readonly string[];
  isReady: boolean;
  isEnding: boolean;
}

export class DeployedPods {
  readonly #options: DeployedPodsOptions;
  readonly #ec2: EC2Client;
  readonly #taken: Pick<DeployedPod, "address" | "interfaceId">[] = [];
  #pods: DeployedPod[] = [];
  #made = 0;

  constructor(options: DeployedPodsOptions) {
    this.#options = options;
    this.#ec2 = new EC2Client(sdkConfig(options.cloud));
  }

  /** Names of pods of a version that are there and not asked to end. */
  running(version: number): readonly string[] {
    return this.#pods.filter((pod) => pod.version === version && !pod.isEnding).map(({ name }) => name);
  }

  isReady(name: string): boolean {
    return this.#pods.some((pod) => pod.name === name && pod.isReady);
  }

  /** One more, which is ready when its containers and its gates are. */
  async create(version: number, gates: readonly string[]): Promise<string> {
    const { kube, namespace, name: app, port, preStopSeconds } = this.#options;
    const number = this.#made++;
    const machine = this.#machine(number);
    const [interfaceId = ""] = machine.interfaceIds;
    const given = await this.#ec2.send(
      new AssignPrivateIpAddressesCommand({ NetworkInterfaceId: interfaceId, SecondaryPrivateIpAddressCount: 1 }),
    );
    const address = given.AssignedPrivateIpAddresses?.[0]?.PrivateIpAddress ?? "";
    this.#taken.push({ address, interfaceId });
    const name = `${app}-v${version}-${number}`;
    const containers = [
      {
        name: app,
        image: `${app}:${version}`,
        ports: [{ containerPort: port }],
        lifecycle: { preStop: { sleep: { seconds: preStopSeconds } } },
      },
    ];
    await kube.create(pods, {
      metadata: { namespace, name, labels: { app, version: `${version}` } },
      spec: {
        nodeName: machine.privateDnsName,
        automountServiceAccountToken: false,
        containers,
        readinessGates: gates.map((conditionType) => ({ conditionType })),
      },
    });
    const conditions = [{ type: "ContainersReady", status: "True" }];
    const status = { phase: "Running", podIP: address, podIPs: [{ ip: address }], conditions };
    await kube.patch(pods, { namespace, name, subresource: "status" }, { strategic: { status } });
    this.#pods.push({ name, address, version, interfaceId, gates, isReady: false, isEnding: false });
    await this.#tellEndpoints();
    return name;
  }

  /** Pods whose gates are all open become ready, and pods that have ended are forgotten. */
  async look(): Promise<void> {
    const { kube, namespace } = this.#options;
    const { items } = await kube.list(pods, { namespace });
    const seen = new Map(items.map((pod) => [pod.metadata.name, pod.status?.conditions ?? []]));
    const before = JSON.stringify(this.#pods);
    this.#pods = this.#pods.filter(({ name }) => seen.has(name));
    for (const pod of this.#pods.filter(({ isReady, isEnding }) => !isReady && !isEnding)) {
      const isOpen = (gate: string) => seen.get(pod.name)?.some(({ type, status }) => type === gate && status === "True");
      if (!pod.gates.every(isOpen)) continue;
      const status = { conditions: [{ type: "Ready", status: "True" }] };
      await kube.patch(pods, { namespace, name: pod.name, subresource: "status" }, { strategic: { status } });
      pod.isReady = true;
    }
    if (JSON.stringify(this.#pods) !== before) await this.#tellEndpoints();
  }

  /** Asks a pod to end. */
  async end(name: string): Promise<void> {
    const { kube, namespace } = this.#options;
    await kube.delete(pods, { namespace, name });
    for (const pod of this.#pods) if (pod.name === name) pod.isEnding = true;
    await this.#tellEndpoints();
  }

  /** Everything goes, addresses too. */
  async remove(): Promise<void> {
    const { kube, namespace, name } = this.#options;
    await this.look();
    for (const pod of this.#pods.filter(({ isEnding }) => !isEnding)) await this.end(pod.name);
    await kube.delete(endpointSlices, { namespace, name: `${name}-1` });
    for (const { address, interfaceId } of this.#taken.splice(0)) {
      await this.#ec2.send(new UnassignPrivateIpAddressesCommand({ NetworkInterfaceId: interfaceId, PrivateIpAddresses: [address] }));
    }
    this.#pods = [];
  }

  #machine(number: number) {
    const running = this.#options.machines.list().filter(({ state }) => state === "running");
    const machine = running[number % running.length];
    if (machine === undefined) throw new Error("pods need a running machine");
    return machine;
  }

  async #tellEndpoints(): Promise<void> {
    const { kube, namespace, name, port } = this.#options;
    const endpoints = this.#pods.map(({ address, isReady, isEnding, name: pod }) => ({
      addresses: [address],
      conditions: { ready: isReady && !isEnding, serving: isReady, terminating: isEnding },
      targetRef: { kind: "Pod", namespace, name: pod },
    }));
    const slice = { addressType: "IPv4" as const, ports: [{ name: "http", port, protocol: "TCP" }], endpoints };
    const labels = { "kubernetes.io/service-name": name };
    const known = await kube.list(endpointSlices, { namespace, labelSelector: `kubernetes.io/service-name=${name}` });
    if (known.items.length === 0) await kube.create(endpointSlices, { metadata: { namespace, name: `${name}-1`, labels }, ...slice });
    else await kube.patch(endpointSlices, { namespace, name: `${name}-1` }, { merge: { endpoints } });
  }
}
