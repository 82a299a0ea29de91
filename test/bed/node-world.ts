/**
 * A cluster, an AWS account and the whole controller manager in one process on virtual time: minutes of grace periods
 * pass in milliseconds.
 */
import { Clouds } from "../../src/aws/cloud.ts";
import {
  createTags,
  deleteTags,
  describeAvailabilityZones,
  describeInstances,
  describeInstanceTopology,
  describeNetworkInterfaces,
} from "../../src/aws/ec2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { operate } from "../../src/commands/controller-manager/operate.ts";
import { clusterPrograms } from "../../src/commands/host/cluster-programs.ts";
import { processFlags } from "../../src/commands/host/flags.ts";
import { operate as operateHost } from "../../src/commands/host/operate.ts";
import { settle } from "../../src/commands/host/settle.ts";
import type { Life } from "../../src/commands/long-running.ts";
import type { Node, Taint } from "../../src/kube/types.ts";
import "../../src/commands/controller-manager/configz.ts";
import "../../src/loadbalancers/service/controller.ts";
import "../../src/routes/controller.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import "../../src/nodes/cloud-node.ts";
import "../../src/nodes/lifecycle.ts";
import "../../src/nodes/tagging.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../src/runtime/http.ts";
import { bodyText } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance, InstanceStateName } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, type NetworkOptions, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { once } from "../../src/sandbox/cluster/embedded/faults.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";

export interface NodeWorldOptions {
  readonly seed?: number;
  readonly network?: Partial<NetworkOptions>;
  /** Lines of the [Global] section of the cloud config, besides where the cluster is. */
  readonly config?: string;
}

export interface KubeletWish {
  readonly name?: string;
  readonly providerID?: string;
  /** `none`: no Ready condition at all. */
  readonly ready?: "True" | "False" | "Unknown" | "none";
  readonly taints?: readonly Taint[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
}

export interface RunningManager {
  readonly metrics: () => Promise<string>;
  stop(): void;
  readonly ended: Promise<void>;
}

export interface KubeWrite {
  readonly method: string;
  readonly path: string;
  readonly agent: string;
  readonly body: unknown;
  readonly status: number;
}

export const uninitialized: Taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };

/** A world with a network of three zones in it, and no instance. */
export async function nodeWorld(options: NodeWorldOptions = {}): Promise<NodeWorld> {
  await loadEc2();
  return new NodeWorld(options);
}

export class NodeWorld {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly network: Network;
  readonly cluster: EmbeddedCluster;
  /** What the controller manager has said in its log. */
  readonly lines: string[] = [];
  /** What the controller manager has written to the cluster, Events and Leases left out. */
  readonly writes: KubeWrite[] = [];
  readonly #files: Record<string, string>;
  readonly #running: RunningManager[] = [];
  readonly #requests = new Map<string, number>();
  #empty = false;

  constructor(options: NodeWorldOptions) {
    const { seed = 1 } = options;
    this.#files = { "/etc/cloud": "" };
    this.world = virtualWorld(seed, {
      files: this.#files,
      environment: { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" },
    });
    this.aws = createCloud({ world: this.world, seed, shapes });
    this.network = standardNetwork(this.aws, { clusterId: "test", ...options.network });
    this.cluster = createEmbeddedCluster({ world: this.world });
    const [subnet] = this.network.privateSubnetIds;
    void this.world.files.write(
      "/etc/cloud",
      `[Global]\nRegion=us-east-1\nVPC=${this.network.vpcId}\nSubnetID=${subnet}\nKubernetesClusterID=test\n${options.config ?? ""}\n`,
      0o600,
    );
  }

  /** Instances of the cluster, running. */
  launch(count: number, type: Instance["type"] = "m5.large"): readonly Instance[] {
    return launchNodes(this.aws, this.network, count, type).map(({ id }) => this.setState(id, "running"));
  }

  setState(id: string, state: InstanceStateName): Instance {
    return this.aws.account.ec2.instances.update(id, { state });
  }

  instance(id: string): Instance {
    return this.aws.account.ec2.instances.get(id)!;
  }

  /** A Node as the kubelet of this instance registers it: tainted, with its provider ID unless told otherwise. */
  async join(instance: Instance, wish: KubeletWish = {}): Promise<string> {
    const name = wish.name ?? instance.privateDnsName;
    const providerID = wish.providerID ?? `aws:///${instance.zone}/${instance.id}`;
    const { ready = "True", taints = [uninitialized], labels = {}, annotations = {}, addresses = [] } = wish;
    const node: Node = {
      metadata: { name, labels, annotations },
      spec: { ...(providerID && { providerID }), taints: [...taints] },
      status: {
        addresses: [...addresses],
        conditions: ready === "none" ? [] : [{ type: "Ready", status: ready }],
      },
    };
    await this.say("POST", "/api/v1/nodes", node);
    return name;
  }

  /** The kubelet of a Node reports, or somebody reports that it does not. */
  report(name: string, ready: "True" | "False" | "Unknown"): Promise<void> {
    return this.say("PATCH", `/api/v1/nodes/${name}/status`, { status: { conditions: [{ type: "Ready", status: ready }] } });
  }

  async say(method: string, path: string, body?: object): Promise<void> {
    const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
    const headers = { "content-type": type, "user-agent": "kubelet" };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, body: JSON.stringify(body ?? {}) });
    const text = await bodyText(answer);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  }

  /** Starts the controller manager with these flags, alone in charge. */
  start(...flags: readonly string[]): RunningManager {
    const argv = [
      "--cloud-provider=aws",
      "--secure-port=0",
      "--master=http://cluster",
      "--cloud-config=/etc/cloud",
      "--leader-elect=false",
    ];
    const { values: options } = parseOptions([...argv, ...flags]);
    return this.#run((life) => operate({ options, table: controllerTable, ...life }));
  }

  /** Starts `fairlead cluster` with a file of this content. It leads by leases. */
  startCluster(config: string, ...flags: readonly string[]): RunningManager {
    const argv = ["--config=/etc/cluster.yaml", "--secure-port=0", "--master=http://cluster", "--cloud-config=/etc/cloud"];
    const table = processFlags("fairlead-cluster");
    return this.#run(async (life) => {
      await this.world.files.write("/etc/cluster.yaml", config, 0o600);
      const settled = await settle(parseFlags(table, [...argv, ...flags]), table, clusterPrograms, this.world.files);
      await operateHost("fairlead-cluster", settled, life);
    });
  }

  #run(operateWith: (life: Life) => Promise<void>): RunningManager {
    const logs = openLogs(this.world.clock, {
      format: "json",
      verbosity: 0,
      destination: { write: (line) => this.lines.push(line), flush() {} },
    });
    const host: Host = { world: this.world, log: logs.log, metrics: newRegistry() };
    const stop = new AbortController();
    const send = this.#noting(this.cluster.send);
    const ended = operateWith({
      version: "v0.0.0",
      host,
      logs,
      network: { aws: (request) => this.#ask(request), kube: () => ({ send, close: async () => {} }) },
      stop: stop.signal,
    });
    ended.catch(() => {});
    const running = { metrics: () => host.metrics.metrics(), stop: () => stop.abort(new Error("received SIGTERM")), ended };
    this.#running.push(running);
    return running;
  }

  node(name: string): Node | undefined {
    return this.cluster.objects("nodes").find(({ metadata }) => metadata.name === name) as Node | undefined;
  }

  nodeNames(): readonly string[] {
    return this.cluster.objects("nodes").map(({ metadata }) => metadata.name);
  }

  hasTaint(name: string, key: string): boolean {
    return this.node(name)?.spec?.taints?.some((taint) => taint.key === key) ?? false;
  }

  isInitialized(name: string): boolean {
    return this.node(name) !== undefined && !this.hasTaint(name, uninitialized.key);
  }

  /** How many Nodes have lost the taint. */
  initialized(): number {
    const nodes = this.cluster.objects("nodes") as readonly Node[];
    return nodes.filter(({ spec }) => !spec?.taints?.some(({ key }) => key === uninitialized.key)).length;
  }

  /** Events about a Node, as `type reason: message`. */
  events(name?: string): readonly string[] {
    return this.cluster
      .objects("events")
      .map((event) => event as unknown as { type: string; reason: string; message: string; involvedObject: { kind: string; name: string } })
      .filter(({ involvedObject }) => involvedObject.kind === "Node" && (name === undefined || involvedObject.name === name))
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** How often the controller manager has called an EC2 action. */
  calls(action: string): number {
    return this.aws.controls.journal.calls(`ec2:${action}`);
  }

  /** How often it was tried to call an EC2 action, whether or not the call arrived. */
  requests(action: string): number {
    return this.#requests.get(action) ?? 0;
  }

  /** DescribeInstances answers that there is nothing, until the returned function is called. */
  answerEmpty(): () => void {
    this.#empty = true;
    return () => {
      this.#empty = false;
    };
  }

  /** Lets time pass until it is so. */
  until(what: string, predicate: () => boolean, limitMs = 60_000): Promise<void> {
    return this.world.runUntil(predicate, limitMs, what);
  }

  close(): void {
    for (const running of this.#running) running.stop();
    this.cluster.close();
  }

  async #ask(request: HttpRequest): Promise<HttpResponse> {
    const action = new URLSearchParams(String(request.body)).get("Action") ?? "";
    this.#requests.set(action, this.requests(action) + 1);
    if (!this.#empty || !String(request.body).includes("Action=DescribeInstances&")) return this.aws.handle(request);
    const body = "<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>";
    return { status: 200, headers: { "x-amzn-requestid": "empty" }, body: once(body) };
  }

  #noting(send: Transport): Transport {
    return async (request) => {
      const answer = await send(request);
      if (isWrite(request)) {
        this.writes.push({
          method: request.method,
          path: request.url.pathname,
          agent: request.headers["user-agent"] ?? "",
          body: JSON.parse(String(request.body ?? "null")) as unknown,
          status: answer.status,
        });
      }
      return answer;
    };
  }
}

function isWrite({ method, url }: HttpRequest): boolean {
  return method !== "GET" && !/\/(events|leases)(\/|$)/.test(url.pathname);
}

const shapes = new Shapes();

/** Loads the SDK's code once: virtual time does not wait for files. */
export async function loadEc2(): Promise<void> {
  const world = virtualWorld(1);
  const clouds = new Clouds({
    host: { world, log: { error() {}, warn() {}, info() {}, v: () => undefined, with: () => undefined as never }, metrics: newRegistry() },
    transport: () => Promise.reject(new Error("nothing is asked")),
    gate: openGate(),
    settings: { ...noSettings, region: "us-east-1" },
    version: "test",
  });
  const cloud = clouds.in("us-east-1");
  const actions = [
    describeInstances,
    describeInstanceTopology,
    describeAvailabilityZones,
    describeNetworkInterfaces,
    createTags,
    deleteTags,
  ];
  await Promise.all(actions.map((action) => cloud.preload(action)));
}
