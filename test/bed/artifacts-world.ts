/** A cluster of a platform and the keeper of artifacts in one process on virtual time. AWS is not there: the keeper must not ask it. */
import { stringify } from "yaml";
import { type RunOptions, runFlags } from "../../src/commands/artifacts/flags.ts";
import { operate } from "../../src/commands/artifacts/operate.ts";
import { exampleFile } from "../../src/discovery/artifacts/testing.ts";
import type { Event } from "../../src/kube/types.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import type { HealthChecks } from "../../src/runtime/health.ts";
import type { Host } from "../../src/runtime/host.ts";
import { bodyText, type HttpRequest } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";

const ofKubeSystem = "/api/v1/namespaces/kube-system";
export const configurationPath = `${ofKubeSystem}/secrets/d8-provider-cluster-configuration`;

export interface RunningKeeper {
  readonly lines: readonly string[];
  readonly metrics: () => Promise<string>;
  /** Checks of `/readyz` that fail. */
  unready(): readonly string[];
  stop(): void;
  readonly ended: Promise<void>;
}

/** A NodeGroup definition, as much of it as matters here. */
const nodeGroupDefinition = {
  metadata: { name: "nodegroups.deckhouse.io" },
  spec: {
    group: "deckhouse.io",
    scope: "Cluster",
    names: { kind: "NodeGroup", plural: "nodegroups", singular: "nodegroup", listKind: "NodeGroupList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

export class ArtifactsWorld {
  readonly world: VirtualWorld;
  readonly cluster: EmbeddedCluster;
  /** Every request of the keeper that changes something, without Events and Leases. */
  readonly writes: string[] = [];
  /** Every request: method and path. */
  readonly requests = new Set<string>();
  /** Requests to AWS, of which there must be none. */
  aws = 0;

  constructor() {
    this.world = virtualWorld(1, {});
    this.cluster = createEmbeddedCluster({ world: this.world, housekeeping: false });
  }

  /** What the installer of the platform leaves in a cluster. */
  async install(change: { readonly clusterConfiguration?: object; readonly discoveryData?: object } = {}): Promise<void> {
    const { clusterUUID, clusterConfiguration, discoveryData } = { ...exampleFile, ...change };
    await this.say("POST", `${ofKubeSystem}/configmaps`, { metadata: { name: "d8-cluster-uuid" }, data: { "cluster-uuid": clusterUUID } });
    const metadata = { name: "d8-provider-cluster-configuration" };
    await this.say("POST", `${ofKubeSystem}/secrets`, { metadata, data: configurationData(clusterConfiguration, discoveryData) });
  }

  async configure(clusterConfiguration: object, discoveryData: object = exampleFile.discoveryData): Promise<void> {
    await this.say("PATCH", configurationPath, { data: configurationData(clusterConfiguration, discoveryData) });
  }

  async settle(settings: object): Promise<void> {
    const data = { "settings.yaml": stringify(settings) };
    const name = "fairlead-artifacts";
    if (this.find("configmaps", name) === undefined) await this.say("POST", `${ofKubeSystem}/configmaps`, { metadata: { name }, data });
    else await this.say("PATCH", `${ofKubeSystem}/configmaps/${name}`, { data });
  }

  async installNodeGroups(): Promise<void> {
    await this.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nodeGroupDefinition);
  }

  async group(name: string, instanceClass: string, zones?: readonly string[], nodeType = "CloudEphemeral"): Promise<void> {
    const cloudInstances = { classReference: { kind: "AWSInstanceClass", name: instanceClass }, ...(zones && { zones }) };
    await this.say("POST", "/apis/deckhouse.io/v1/nodegroups", {
      ...of("NodeGroup"),
      metadata: { name },
      spec: { nodeType, cloudInstances },
    });
  }

  async instanceClass(name: string, spec: object): Promise<void> {
    await this.say("POST", "/apis/deckhouse.io/v1/awsinstanceclasses", { ...of("AWSInstanceClass"), metadata: { name }, spec });
  }

  start(...flags: readonly string[]): RunningKeeper {
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line), flush() {} };
    const { log } = openLogs(this.world.clock, { format: "json", verbosity: 0, destination });
    const host: Host = { world: this.world, log, metrics: newRegistry() };
    const stop = new AbortController();
    const { values } = parseFlags(runFlags, ["--master=http://cluster", ...flags]);
    let health: HealthChecks | undefined;
    const ended = operate({
      options: values as RunOptions,
      version: "v0",
      host,
      network: {
        aws: async () => {
          this.aws++;
          throw new Error("there is no AWS");
        },
        kube: () => ({ send: (request) => this.#send(request), close: async () => {} }),
      },
      stop: stop.signal,
      serve: async (_host, _address, checks) => {
        health = checks;
        return { serving: undefined };
      },
    });
    ended.catch(() => {});
    return {
      lines,
      metrics: () => host.metrics.metrics(),
      unready() {
        const { text } = health!.answer("readyz", { verbose: true, exclude: [] });
        return [...text.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name!);
      },
      stop: () => stop.abort(new Error("received SIGTERM")),
      ended,
    };
  }

  /** Lets so much time pass. */
  async pass(ms: number): Promise<void> {
    await this.world.advance(ms);
  }

  until(met: () => boolean, what: string, limitMs = 60_000): Promise<unknown> {
    return this.world.runUntil(met, limitMs, what);
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of many kinds
  find(resource: string, name: string): any {
    return this.cluster.objects(resource).find(({ metadata }) => metadata.name === name);
  }

  eventsOf(reason: string): readonly Event[] {
    return (this.cluster.objects("events") as readonly unknown[] as readonly Event[]).filter((each) => each.reason === reason);
  }

  /** What Events of a reason say. */
  events(reason: string): readonly string[] {
    return this.eventsOf(reason).map(({ message = "" }) => message);
  }

  async #send(request: HttpRequest) {
    const { pathname } = request.url;
    this.requests.add(`${request.method} ${pathname}`);
    if (request.method !== "GET" && !/\/(events|leases)/.test(pathname)) this.writes.push(`${request.method} ${pathname}`);
    return this.cluster.send(request);
  }

  async say(method: string, path: string, body: object): Promise<string> {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, body: JSON.stringify(body) });
    const text = await bodyText(answer);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  }
}

/** A cluster with everything in it, and the keeper at work for a minute. */
export async function kept(...flags: readonly string[]): Promise<{ readonly world: ArtifactsWorld; readonly keeper: RunningKeeper }> {
  const world = new ArtifactsWorld();
  await world.install();
  const keeper = world.start(...flags);
  await world.pass(60_000);
  return { world, keeper };
}

const of = (kind: string) => ({ apiVersion: "deckhouse.io/v1", kind });

function configurationData(clusterConfiguration: object, discoveryData: object): Record<string, string> {
  return {
    "cloud-provider-cluster-configuration.yaml": Buffer.from(stringify(clusterConfiguration)).toString("base64"),
    "cloud-provider-discovery-data.json": Buffer.from(JSON.stringify(discoveryData)).toString("base64"),
  };
}
