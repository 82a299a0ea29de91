/** A cluster of a platform, an account and the whole discoverer in one process on virtual time. */

import { Clouds } from "../../src/aws/cloud.ts";
import { describeInstances } from "../../src/aws/ec2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { parseOptions } from "../../src/commands/cloud-data-discoverer/flags.ts";
import { operate } from "../../src/commands/cloud-data-discoverer/operate.ts";
import { routesOf } from "../../src/commands/cloud-data-discoverer/serve.ts";
import { catalogDefinition } from "../../src/discovery/catalog-definition.ts";
import type { CatalogEntry } from "../../src/discovery/objects.ts";
import type { ConfigMap, Secret } from "../../src/kube/types.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import { bodyText, type HttpRequest } from "../../src/runtime/http.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import type { RouteTable } from "../../src/runtime/routes.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { furtherTypes, type InstanceType } from "../../src/sandbox/cloud/ec2/instance-types.ts";
import { type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";

const shapes = new Shapes();
const credentials = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" };

/** The cluster's UUID. */
export const clusterId = "test";
const ofKubeSystem = "/api/v1/namespaces/kube-system";

export interface RunningDiscoverer {
  readonly lines: readonly string[];
  readonly metrics: () => Promise<string>;
  /** What a path of its listener answers: status and body. */
  ask(path: string): Promise<{ readonly status: number; readonly body: string }>;
  stop(): void;
  readonly ended: Promise<void>;
}

export interface DiscoveryWorldOptions {
  readonly region?: string;
  /** Without it the platform has not installed the definition of the catalogue. */
  readonly catalogs?: boolean;
}

/** A world with a network in it and the definition of the catalogue. */
export async function discoveryWorld(options: DiscoveryWorldOptions = {}): Promise<DiscoveryWorld> {
  const world = new DiscoveryWorld(options);
  await world.load();
  if (options.catalogs ?? true) await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", catalogDefinition);
  return world;
}

export class DiscoveryWorld {
  readonly region: string;
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly network: Network;
  readonly cluster: EmbeddedCluster;
  /** Every request of the discoverer to the cluster: method and path. */
  readonly requests = new Set<string>();
  /** Those that change something. */
  readonly writes: string[] = [];

  constructor({ region = "us-east-1" }: DiscoveryWorldOptions) {
    this.region = region;
    this.world = virtualWorld(1, { environment: credentials });
    this.aws = createCloud({ world: this.world, seed: 1, shapes, region });
    this.network = standardNetwork(this.aws, { clusterId });
    this.cluster = createEmbeddedCluster({ world: this.world, housekeeping: false });
  }

  /** The SDK's code is read from files, for which virtual time does not wait. */
  async load(): Promise<void> {
    const host: Host = { world: this.world, log: silentLog, metrics: newRegistry() };
    const clouds = new Clouds({ host, transport: this.aws.handle, gate: openGate(), settings: noSettings, version: "v0" });
    await this.world.holding(clouds.in(this.region).preload(describeInstances));
  }

  start(flags: readonly string[] = [], variables: Readonly<Record<string, string>> = {}): RunningDiscoverer {
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line), flush() {} };
    const { log } = openLogs(this.world.clock, { format: "json", verbosity: 0, destination });
    const environment = { ...credentials, AWS_REGION: this.region, CLUSTER_UUID: clusterId, ...variables };
    const { clock, random, files } = this.world;
    const host: Host = { world: { clock, random, files, environment, hostname: "discoverer" }, log, metrics: newRegistry() };
    const stop = new AbortController();
    let routes: RouteTable | undefined;
    const ended = operate({
      options: { ...parseOptions(["--kubeconfig=/etc/kubeconfig", ...flags], environment) },
      host: { ...host, world: { ...host.world, files: kubeconfigFiles } },
      network: { aws: this.aws.handle, kube: () => ({ send: (request) => this.#send(request), close: async () => {} }) },
      stop: stop.signal,
      serve: async (options, of, problem) => {
        routes = routesOf(options, of, problem);
        return { port: 0, stop: async () => {} };
      },
    });
    ended.catch(() => {});
    return {
      lines,
      metrics: () => host.metrics.metrics(),
      ask: async (path) => {
        const signal = new AbortController().signal;
        const answer = await routes!
          .find(path)!
          .answer({ method: "GET", path, query: new URLSearchParams(), body: "", user: undefined, signal });
        return { status: answer.status, body: String(answer.body) };
      },
      stop: () => stop.abort(new Error("received SIGTERM")),
      ended,
    };
  }

  /** Lets a whole cycle pass. */
  async cycle(discoverer: RunningDiscoverer, limitMs = 3_600_000): Promise<void> {
    const finished = () => discoverer.lines.filter((line) => line.includes('"Finish discovery"')).length;
    const before = finished();
    await this.world.runUntil(() => finished() > before, limitMs, "a cycle ends");
  }

  /** Runs one cycle to its end. */
  async once(variables: Readonly<Record<string, string>> = {}): Promise<RunningDiscoverer> {
    const discoverer = this.start([], variables);
    await this.cycle(discoverer);
    discoverer.stop();
    await discoverer.ended;
    return discoverer;
  }

  /** The infrastructure's output. */
  async infrastructure(output: object): Promise<void> {
    const data = { "cloud-provider-discovery-data.json": Buffer.from(JSON.stringify(output)).toString("base64") };
    await this.say("POST", `${ofKubeSystem}/secrets`, { metadata: { name: "d8-provider-cluster-configuration" }, data });
  }

  get conditions(): ConfigMap | undefined {
    return this.#named("configmaps", "d8-cloud-provider-conditions") as ConfigMap | undefined;
  }

  get secret(): Secret | undefined {
    return this.#named("secrets", "d8-cloud-provider-discovery-data") as Secret | undefined;
  }

  get document(): Record<string, unknown> {
    return JSON.parse(Buffer.from(this.secret?.data?.["discovery-data.json"] ?? "bnVsbA==", "base64").toString()) as Record<
      string,
      unknown
    >;
  }

  get catalog(): (object & { readonly instanceTypes: readonly CatalogEntry[] }) | undefined {
    return this.#named("instancetypescatalogs.deckhouse.io", "for-cluster-autoscaler") as never;
  }

  /** So many types besides the common ones. */
  offer(count: number): void {
    const types = furtherTypes(this.aws.account.ec2);
    const size = { vcpus: 2, cores: 1, memoryMiB: 8192, interfaces: 3, addressesPerInterface: 10, attachments: 27, gpus: 0 };
    for (let number = 0; number < count; number++) {
      const name = `x${number}.large` as InstanceType["name"];
      types.put(name, { name, ...size, architecture: "x86_64" });
    }
  }

  /** How often an action was called, whatever came of it. */
  calls(action: string): number {
    return Object.values(this.aws.controls.journal.counts()[`ec2:${action}`] ?? {}).reduce((sum, count) => sum + count, 0);
  }

  #named(resource: string, name: string): unknown {
    return this.cluster.objects(resource).find(({ metadata }) => metadata.name === name);
  }

  async #send(request: HttpRequest) {
    this.requests.add(`${request.method} ${request.url.pathname}`);
    if (request.method !== "GET") this.writes.push(`${request.method} ${request.url.pathname}`);
    return this.cluster.send(request);
  }

  async say(method: string, path: string, body: object): Promise<string> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { "content-type": type };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, body: JSON.stringify(body) });
    const text = await bodyText(answer);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  }

  close(): void {
    this.cluster.close();
  }
}

const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "test",
  contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  clusters: [{ name: "test", cluster: { server: "http://cluster" } }],
  users: [{ name: "test", user: {} }],
});

const kubeconfigFiles = {
  read: async () => Buffer.from(kubeconfig),
  list: async () => [],
  write: async () => {},
};
