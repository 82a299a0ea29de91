/**
 * A cluster, an account and the whole termination handler in one process on virtual time: pods end after their grace periods,
 * instances two minutes after their notice.
 */
import type { Life } from "../../src/commands/long-running.ts";
import { operate } from "../../src/commands/node-termination-handler/operate.ts";
import { parseOptions } from "../../src/commands/node-termination-handler/options.ts";
import { interruptionPlanAnnotation } from "../../src/identity/node-view.ts";
import { type NodePlan, readPlan } from "../../src/interruptions/plan.ts";
import type { Node, Pod } from "../../src/kube/types.ts";
import type { Host } from "../../src/runtime/host.ts";
import { bodyText, type HttpRequest, type HttpResponse, type Transport } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { sendMessage } from "../../src/sandbox/cloud/sqs/messages.ts";
import { createQueue, getQueueAttributes } from "../../src/sandbox/cloud/sqs/queues.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { environment, loadSdk } from "./interruption-sdk.ts";

const shapes = new Shapes();

/** What a pod of these tests is made of. */
export interface PodWish {
  readonly name: string;
  readonly node: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly graceSeconds?: number;
  readonly daemonSet?: string;
  readonly mirror?: boolean;
  readonly emptyDir?: boolean;
  /** How long it really takes to end; its grace period unless told otherwise. Never longer than that. */
  readonly endsAfterMs?: number;
}

export interface RunningHandler {
  readonly metrics: () => Promise<string>;
  readonly lines: readonly string[];
  /** How many of its timers are running. */
  readonly timers: () => number;
  stop(): void;
  /** Ends it as a machine that loses its power: it never says or hears anything again. */
  kill(): void;
  readonly ended: Promise<void>;
}

/** A request of a handler to the cluster. */
export interface KubeCall {
  readonly who: string;
  readonly method: string;
  readonly path: string;
  readonly at: number;
  readonly status: number;
  readonly body: unknown;
}

/** A world with a network and a queue in it that hears everything of instances. */
export async function interruptionWorld(seed = 1): Promise<InterruptionWorld> {
  await loadSdk();
  return new InterruptionWorld(seed);
}

export class InterruptionWorld {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly network: Network;
  readonly cluster: EmbeddedCluster;
  readonly queueUrl: string;
  readonly calls: KubeCall[] = [];
  /** Told of every call of a handler that changes something, before it is carried out. */
  watcher: (who: string, method: string, path: string, body: unknown) => void = () => {};
  /** Told of every such call, and of every call that changes something in AWS, after it was carried out and before it is answered. */
  written: (who: string) => void = () => {};
  /** What was posted to the webhook. */
  readonly posts: string[] = [];
  readonly #handlers: RunningHandler[] = [];
  readonly #endings = new Map<string, number>();
  #kubelet: () => void = () => {};

  constructor(seed: number) {
    this.world = virtualWorld(seed, { environment });
    this.aws = createCloud({ world: this.world, seed, shapes });
    this.network = standardNetwork(this.aws, { clusterId: "test" });
    this.cluster = createEmbeddedCluster({ world: this.world, historyLimit: 200_000, housekeeping: false });
    const { account } = this.aws;
    this.queueUrl = createQueue(account.sqs, { QueueName: "events" }).QueueUrl;
    const queueArn = `arn:aws:sqs:us-east-1:${account.id}:events`;
    rules(account).put("all", {
      name: "all",
      sources: ["aws.ec2", "aws.health", "aws.autoscaling"],
      detailTypes: [
        "EC2 Spot Instance Interruption Warning",
        "EC2 Instance Rebalance Recommendation",
        "AWS Health Event",
        "EC2 Instance-terminate Lifecycle Action",
        "EC2 Instance-launch Lifecycle Action",
      ],
      queueArn,
    });
    this.#followPods();
  }

  get now(): number {
    return this.world.clock.now();
  }

  /** Instances of the cluster that run, with their Nodes. */
  async nodes(count: number, tags: Readonly<Record<string, string>> = managed): Promise<readonly Instance[]> {
    const launched = launchNodes(this.aws, this.network, count).map(({ id }) => {
      const { instances } = this.aws.account.ec2;
      return instances.update(id, { state: "running", tags: { ...instances.get(id)!.tags, ...tags }, spot: true });
    });
    for (const instance of launched) await this.join(instance);
    return launched;
  }

  async join(instance: Instance, ready = "True"): Promise<void> {
    const node: Node = {
      metadata: { name: instance.privateDnsName, labels: { "kubernetes.io/hostname": instance.privateDnsName } },
      spec: { providerID: `aws:///${instance.zone}/${instance.id}` },
      status: { conditions: [{ type: "Ready", status: ready }], nodeInfo: { bootID: "boot-1" } as never },
    };
    await this.say("POST", "/api/v1/nodes", node);
  }

  /** The machine starts anew. */
  restart(name: string, bootID: string): Promise<unknown> {
    return this.say("PATCH", `/api/v1/nodes/${name}/status`, { status: { nodeInfo: { bootID } } });
  }

  async pod(wish: PodWish): Promise<void> {
    const { name, node, labels = {}, graceSeconds = 30, daemonSet, mirror, emptyDir } = wish;
    const pod = {
      metadata: {
        name,
        labels,
        ...(mirror && { annotations: { "kubernetes.io/config.mirror": "x" } }),
        ...(daemonSet && { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: daemonSet, uid: "ds", controller: true }] }),
      },
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: graceSeconds,
        containers: [{ name: "c", image: "i:1" }],
        ...(emptyDir && { volumes: [{ name: "tmp", emptyDir: {} }] }),
      },
    };
    if (wish.endsAfterMs !== undefined) this.#endings.set(name, wish.endsAfterMs);
    await this.say("POST", "/api/v1/namespaces/default/pods", pod);
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await this.say("PATCH", `/api/v1/namespaces/default/pods/${name}/status`, { status });
  }

  /** A budget over pods of an app that allows so many to go. */
  async budget(app: string, disruptionsAllowed: number): Promise<void> {
    const budget = { metadata: { name: app }, spec: { minAvailable: 1, selector: { matchLabels: { app } } } };
    await this.say("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget);
    await this.allow(app, disruptionsAllowed);
  }

  allow(app: string, disruptionsAllowed: number): Promise<unknown> {
    const status = {
      observedGeneration: 1,
      disruptionsAllowed,
      currentHealthy: 1 + disruptionsAllowed,
      desiredHealthy: 1,
      expectedPods: 2,
    };
    return this.say("PATCH", `/apis/policy/v1/namespaces/default/poddisruptionbudgets/${app}/status`, { status }, "merge");
  }

  send(body: object | string): void {
    sendMessage(this.aws.account.sqs, { QueueUrl: this.queueUrl, MessageBody: typeof body === "string" ? body : JSON.stringify(body) });
  }

  /** Messages in the queue, in flight or not. */
  get messages(): number {
    this.aws.account.time.settle();
    const { Attributes } = getQueueAttributes(this.aws.account.sqs, { QueueUrl: this.queueUrl, AttributeNames: ["All"] });
    return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible);
  }

  /** Starts a handler on the queue. */
  queueHandler(flags: readonly string[] = [], hostname = "handler-a"): RunningHandler {
    return this.#handler(hostname, ["--enable-sqs-termination-draining", `--queue-url=${this.queueUrl}`, ...flags], this.aws.handle);
  }

  /** Starts a handler on a machine, whose metadata service may answer otherwise than it should. */
  metadataHandler(instance: Instance, flags: readonly string[] = [], service: Transport = this.aws.imds(instance.id)): RunningHandler {
    return this.#handler(instance.privateDnsName, flags, service);
  }

  #handler(hostname: string, flags: readonly string[], aws: Transport): RunningHandler {
    const argv = [`--node-name=${hostname}`, "--master=http://cluster", "--emit-kubernetes-events", ...flags];
    const webhook: Transport = async (request) => {
      this.posts.push(String(request.body));
      return { status: 200, headers: {}, body: nothing() };
    };
    return this.start(hostname, aws, ({ host, network, stop }) =>
      operate({ options: parseOptions(argv, {}).options, host, network: { ...network, webhook }, stop }),
    );
  }

  /** Starts a process on a machine of this name, which can be ended at any moment. */
  start(
    hostname: string,
    aws: Transport,
    run: (life: Life) => Promise<void>,
    variables: Readonly<Record<string, string>> = {},
  ): RunningHandler {
    const lines: string[] = [];
    const logs = openLogs(this.world.clock, {
      format: "json",
      verbosity: 0,
      destination: { write: (line) => lines.push(line), flush() {} },
    });
    let alive = true;
    let timers = 0;
    const severed = <T>(work: () => Promise<T>): Promise<T> =>
      alive
        ? work().then(
            (value) => (alive ? value : new Promise<T>(() => {})),
            (error) => (alive ? Promise.reject(error) : new Promise<T>(() => {})),
          )
        : new Promise<T>(() => {});
    const { clock } = this.world;
    const world = {
      clock: {
        ...clock,
        after: (ms: number, callback: () => void) => {
          timers++;
          const over = once(() => timers--);
          const cancel = clock.after(ms, () => {
            over();
            if (alive) callback();
          });
          return () => {
            over();
            cancel();
          };
        },
      },
      random: this.world.random,
      files: this.world.files,
      environment: { ...environment, ...variables },
      hostname,
    };
    const host: Host = { world, log: logs.log, metrics: newRegistry() };
    const stop = new AbortController();
    const send = this.#noting(hostname);
    const ended = run({
      version: "v0.0.0",
      host,
      logs,
      network: {
        aws: (request) => severed(() => this.#telling(hostname, aws, request)),
        kube: () => ({ send: (request) => severed(() => send(request)), close: async () => {} }),
      },
      stop: stop.signal,
    });
    ended.catch(() => {});
    const handler: RunningHandler = {
      metrics: () => host.metrics.metrics(),
      lines,
      timers: () => timers,
      stop: () => stop.abort(new Error("received SIGTERM")),
      kill: () => {
        alive = false;
      },
      ended,
    };
    this.#handlers.push(handler);
    return handler;
  }

  node(name: string): Node | undefined {
    return this.cluster.objects("nodes").find(({ metadata }) => metadata.name === name) as Node | undefined;
  }

  plan(name: string): NodePlan | undefined {
    return readPlan(this.node(name)?.metadata?.annotations?.[interruptionPlanAnnotation]);
  }

  isCordoned(name: string): boolean {
    return this.node(name)?.spec?.unschedulable ?? false;
  }

  pods(node?: string): readonly Pod[] {
    return (this.cluster.objects("pods") as unknown as readonly Pod[]).filter(({ spec }) => node === undefined || spec?.nodeName === node);
  }

  podNames(node: string): readonly string[] {
    return this.pods(node).map(({ metadata }) => metadata!.name!);
  }

  /** Reasons of the Events about a Node. */
  events(name: string): readonly string[] {
    return this.cluster
      .objects("events")
      .map((event) => event as unknown as { reason: string; involvedObject: { kind: string; name: string } })
      .filter(({ involvedObject }) => involvedObject.kind === "Node" && involvedObject.name === name)
      .map(({ reason }) => reason)
      .sort();
  }

  /** Messages of the Events of one reason. */
  eventMessages(reason: string): readonly string[] {
    return this.cluster
      .objects("events")
      .map((event) => event as unknown as { reason: string; message: string })
      .filter((event) => event.reason === reason)
      .map(({ message }) => message);
  }

  evictions(): readonly KubeCall[] {
    return this.calls.filter(({ path }) => path.endsWith("/eviction"));
  }

  until(what: string, predicate: () => boolean, limitMs = 60_000): Promise<void> {
    return this.world.runUntil(predicate, limitMs, what);
  }

  close(): void {
    for (const handler of this.#handlers) handler.stop();
    this.#kubelet();
    this.cluster.close();
  }

  async say(method: string, path: string, body?: object, patch = "strategic-merge"): Promise<string> {
    const type = method === "PATCH" ? `application/${patch}-patch+json` : "application/json";
    const headers = { "content-type": type, "user-agent": "kubelet" };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, body: JSON.stringify(body ?? {}) });
    const text = await bodyText(answer);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  }

  /** Every kubelet at once: a pod that is to go is gone when its time is over. */
  #followPods(): void {
    for (const pod of this.pods()) {
      const { name = "", namespace = "", deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = pod.metadata ?? {};
      if (deletionTimestamp === undefined) continue;
      const begun = Date.parse(deletionTimestamp) - grace * 1000;
      if (this.now < begun + Math.min(this.#endings.get(name) ?? Number.POSITIVE_INFINITY, grace * 1000)) continue;
      void this.say("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 }).catch(() => {});
    }
    this.#kubelet = this.world.clock.after(500, () => this.#followPods());
  }

  async #telling(who: string, aws: Transport, request: HttpRequest): Promise<HttpResponse> {
    const { journal } = this.aws.controls;
    const before = journal.recorded;
    const answer = await aws(request);
    if (journal.recorded > before) this.written(who);
    return answer;
  }

  #noting(who: string): (request: HttpRequest) => Promise<HttpResponse> {
    return async (request) => {
      const path = request.url.pathname;
      const changes = request.method !== "GET" && !/\/(leases|events)(\/|$)/.test(path);
      const body = changes ? (JSON.parse(String(request.body ?? "null")) as unknown) : undefined;
      if (changes) this.watcher(who, request.method, path, body);
      const answer = await this.cluster.send(request);
      if (changes) {
        this.calls.push({ who, method: request.method, path, at: this.now, status: answer.status, body });
        this.written(who);
      }
      return answer;
    };
  }
}

/** What the handler acts on unless told otherwise. */
export const managed = { "aws-node-termination-handler/managed": "" };

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
