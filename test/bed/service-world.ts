/**
 * A cluster, an AWS account and the controller of Services in one process on virtual time. The process can die after
 * any call to AWS, and another can take its place.
 */
import type { AnyAction } from "../../src/aws/actions.ts";
import { Clouds } from "../../src/aws/cloud.ts";
import { describeInstances } from "../../src/aws/ec2-actions.ts";
import { describeLoadBalancers as describeClassic } from "../../src/aws/elb-actions.ts";
import { describeLoadBalancers } from "../../src/aws/elbv2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { operate } from "../../src/commands/controller-manager/operate.ts";
import type { Service, ServiceSpec } from "../../src/kube/types.ts";
import "../../src/loadbalancers/service/controller.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import { bodyText, type HttpRequest, type Transport } from "../../src/runtime/http.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import type { Clock, World } from "../../src/runtime/world.ts";
import { type Cloud, type CloudOptions, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { compareSnapshots, type Difference } from "../../src/sandbox/cloud/controls/compare.ts";
import type { SettingsChange } from "../../src/sandbox/cloud/controls/controls.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, type Network, type NetworkOptions, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";

export interface ServiceWorldOptions {
  readonly seed?: number;
  readonly region?: string;
  readonly network?: Partial<NetworkOptions>;
  /** Lines of the [Global] section of the cloud config, besides where the cluster is. */
  readonly config?: string;
  readonly nodes?: number;
  readonly settings?: SettingsChange;
  readonly probe?: CloudOptions["probe"];
}

/** One controller manager that runs, or did. */
export interface Manager {
  /** Ends at this very moment; nothing it was doing goes on. */
  kill(): void;
  stop(): void;
  readonly alive: boolean;
  /** What it serves at /metrics. */
  readonly metrics: Host["metrics"];
}

export interface ServiceWish {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<ServiceSpec>;
}

export const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/11111111-2222-3333-4444-555555555555";
const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

/** Annotations by the part of their key that differs; a key with a slash is taken as it is. */
export function annotationsOf(short: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(short).map(([name, value]) => [name.includes("/") ? name : prefix + name, value]));
}

/** A world with a network of three zones and some nodes in it. */
export async function serviceWorld(options: ServiceWorldOptions = {}): Promise<ServiceWorld> {
  await loadClients();
  const world = new ServiceWorld(options);
  await world.join(options.nodes ?? 2);
  return world;
}

export class ServiceWorld {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly network: Network;
  readonly cluster: EmbeddedCluster;
  /** What controller managers have said in their logs. */
  readonly lines: string[] = [];
  /** What they have written to the cluster, Events and Leases left out. */
  readonly writes: { readonly path: string; readonly body: unknown; readonly status: number }[] = [];
  /** Instances by Node. */
  readonly instances = new Map<string, Instance>();
  readonly #managers: Manager[] = [];
  /** Called with every mutating call that AWS has carried out. */
  onMutation: (action: string) => void = () => {};

  constructor(options: ServiceWorldOptions) {
    const { seed = 1, region = "us-east-1", config = "" } = options;
    this.world = virtualWorld(seed, {
      environment: { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" },
    });
    this.aws = createCloud({ world: this.world, seed, region, shapes, ...(options.probe && { probe: options.probe }) });
    this.aws.controls.change({ certificates: [certificate, `${certificate}-*`], ...options.settings });
    this.network = standardNetwork(this.aws, { clusterId: "test", ...options.network });
    this.cluster = createEmbeddedCluster({ world: this.world });
    const [subnet] = this.network.privateSubnetIds;
    const place = `[Global]\nRegion=${region}\nVPC=${this.network.vpcId}\nSubnetID=${subnet}\nKubernetesClusterID=test\n${config}\n`;
    void this.world.files.write("/etc/cloud", place, 0o600);
  }

  /** New instances with a Node on each, in the cluster's network unless told otherwise. */
  async join(count: number, labels: Readonly<Record<string, string>> = {}, network = this.network): Promise<readonly string[]> {
    const names: string[] = [];
    for (const { id } of launchNodes(this.aws, network, count)) {
      const instance = this.aws.account.ec2.instances.update(id, { state: "running" });
      // In another network with the same addresses the name is taken.
      const name = this.instances.has(instance.privateDnsName) ? id : instance.privateDnsName;
      await this.say("POST", "/api/v1/nodes", { metadata: { name, labels }, spec: { providerID: `aws:///${instance.zone}/${id}` } });
      this.instances.set(name, instance);
      names.push(name);
    }
    return names;
  }

  async leave(node: string): Promise<void> {
    await this.say("DELETE", `/api/v1/nodes/${node}`);
    this.instances.delete(node);
  }

  /** Starts the controller of Services, alone in charge. */
  start(...flags: readonly string[]): Manager {
    let alive = true;
    const dead = new Promise<never>(() => {});
    const world = whileAlive(this.world, () => alive);
    const logs = openLogs(world.clock, {
      format: "json",
      verbosity: 0,
      destination: { write: (line) => void (alive && this.lines.push(line)), flush() {} },
    });
    const host: Host = { world, log: logs.log, metrics: newRegistry() };
    const stop = new AbortController();
    const over =
      (send: Transport, after: (request: HttpRequest, status: number) => void): Transport =>
      async (request) => {
        if (!alive) return dead;
        const answer = await send(request);
        if (!alive) return dead;
        after(request, answer.status);
        // The process may have died by what it did just now: then it never learns the answer.
        return alive ? answer : dead;
      };
    const kube = over(this.cluster.send, (request, status) => this.#note(request, status));
    const argv = [
      "--cloud-provider=aws",
      "--secure-port=0",
      "--master=http://cluster",
      "--cloud-config=/etc/cloud",
      "--leader-elect=false",
    ];
    const ended = operate({
      options: parseOptions(["--controllers=service-lb-controller", ...argv, ...flags]).values,
      version: "v0.0.0",
      host,
      logs,
      table: controllerTable,
      network: {
        aws: over(this.aws.handle, (request, status) => this.#notify(request, status)),
        kube: () => ({ send: kube, close: async () => {} }),
      },
      stop: stop.signal,
    });
    ended.catch(() => {});
    const manager: Manager = {
      metrics: host.metrics,
      kill() {
        alive = false;
      },
      stop: () => stop.abort(new Error("received SIGTERM")),
      get alive() {
        return alive;
      },
    };
    this.#managers.push(manager);
    return manager;
  }

  /** A Service of type LoadBalancer with one port, unless said otherwise. */
  async create(name: string, wish: ServiceWish = {}): Promise<void> {
    const annotations = annotationsOf(wish.annotations ?? {});
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }], ...wish.spec };
    await this.say("POST", "/api/v1/namespaces/default/services", { metadata: { name, annotations }, spec });
  }

  /** Sets annotations, or takes them away where the value is null, and changes the spec. */
  edit(name: string, annotations: Readonly<Record<string, string | null>>, spec?: object): Promise<void> {
    const full = annotationsOf(annotations as Record<string, string>);
    return this.say(
      "PATCH",
      `/api/v1/namespaces/default/services/${name}`,
      { metadata: { annotations: full }, ...(spec && { spec }) },
      "merge",
    );
  }

  delete(name: string): Promise<void> {
    return this.say("DELETE", `/api/v1/namespaces/default/services/${name}`);
  }

  service(name: string): Service | undefined {
    return this.cluster.objects("services").find(({ metadata }) => metadata.name === name) as Service | undefined;
  }

  /** The name its load balancer has unless it was given another. */
  loadBalancerOf(name: string): string {
    return `a${this.service(name)?.metadata?.uid?.replaceAll("-", "")}`.slice(0, 32);
  }

  hostname(name: string): string | undefined {
    return this.service(name)?.status?.loadBalancer?.ingress?.[0]?.hostname;
  }

  nodePort(name: string, port = 80): number {
    return this.service(name)?.spec?.ports?.find((each) => each.port === port)?.nodePort ?? 0;
  }

  /** Events about a Service, as `type reason: message`, in the order they were first said. */
  events(name: string): readonly string[] {
    return this.cluster
      .objects("events")
      .map((event) => event as unknown as { type: string; reason: string; message: string; involvedObject: { name: string } })
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  async say(method: string, path: string, body?: object, patch: "merge" | "strategic-merge" = "strategic-merge"): Promise<void> {
    const type = method === "PATCH" ? `application/${patch}-patch+json` : "application/json";
    const headers = { "content-type": type, "user-agent": "user" };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, body: JSON.stringify(body ?? {}) });
    const text = await bodyText(answer);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  }

  /** Calls of all actions since the counters were last set to zero, by action. */
  calls(): Readonly<Record<string, number>> {
    const counts = Object.entries(this.aws.controls.journal.counts());
    return Object.fromEntries(counts.map(([action, results]) => [action, Object.values(results).reduce((sum, n) => sum + n, 0)]));
  }

  /** Every mutating call so far, by action. */
  mutations(since = 0): readonly string[] {
    return this.aws.controls.journal.entries(since).map(({ action }) => action);
  }

  /** Lets time pass until it is so. */
  until(what: string, predicate: () => boolean, limitMs = 120_000): Promise<void> {
    return this.world.runUntil(predicate, limitMs, what);
  }

  /** Lets time pass until each of these has an address, and a little more. */
  async published(...names: readonly string[]): Promise<void> {
    await this.until(`${names.join(", ")} published`, () => names.every((name) => this.hostname(name) !== undefined));
    await this.world.advance(15_000);
  }

  /** Lets time pass until the Service is gone from the cluster. */
  gone(name: string, limitMs = 600_000): Promise<void> {
    return this.until(`${name} gone`, () => this.service(name) === undefined, limitMs);
  }

  snapshot(): Snapshot {
    return this.aws.controls.snapshot();
  }

  /** What differs from then. The role that AWS makes with an account's first load balancer stays for ever. */
  differences(since: Snapshot): readonly Difference[] {
    return compareSnapshots(since, this.snapshot()).filter(({ table }) => table !== "iam/service-linked-roles");
  }

  close(): void {
    for (const manager of this.#managers) manager.kill();
    this.cluster.close();
  }

  #note({ method, url, body }: HttpRequest, status: number): void {
    if (method === "GET" || /\/(events|leases)(\/|$)/.test(url.pathname)) return;
    this.writes.push({ path: url.pathname, body: JSON.parse(String(body ?? "null")) as unknown, status });
  }

  #notify({ body }: HttpRequest, status: number): void {
    const action = /(?:^|&)Action=(\w+)/.exec(String(body))?.[1] ?? "";
    if (status < 300 && !action.startsWith("Describe")) this.onMutation(action);
  }
}

/** The world as a process sees it that may die: none of its timers fires afterwards. */
function whileAlive(world: World, alive: () => boolean): World {
  const { clock } = world;
  const own: Clock = { ...clock, after: (ms, callback) => clock.after(ms, () => void (alive() && callback())) };
  return { ...world, clock: own };
}

const shapes = new Shapes();

/** Loads the SDK's code once: virtual time does not wait for files. */
export async function loadClients(): Promise<void> {
  const clouds = new Clouds({
    host: { world: virtualWorld(1), log: silentLog, metrics: newRegistry() },
    transport: () => Promise.reject(new Error("nothing is asked")),
    gate: openGate(),
    settings: { ...noSettings, region: "us-east-1" },
    version: "test",
  });
  const actions: readonly AnyAction[] = [describeInstances, describeClassic, describeLoadBalancers];
  await Promise.all(actions.map((action) => clouds.in("us-east-1").preload(action)));
}
