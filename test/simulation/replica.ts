/** One process of the controller manager, wired as in production, on a machine of its own. */
import { type Cloud, Clouds } from "../../src/aws/cloud.ts";
import { createTags, deleteTags, describeInstances } from "../../src/aws/ec2-actions.ts";
import type { Metadata } from "../../src/aws/metadata.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { configMaps, nodes } from "../../src/kube/builtin.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { type Informer, informer, type Trimmed } from "../../src/kube/informer.ts";
import { leaseStore } from "../../src/kube/lease-store.ts";
import type { ConfigMap, Node } from "../../src/kube/types.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { Controllers } from "../../src/runtime/controllers.ts";
import { Election, identityOf } from "../../src/runtime/election.ts";
import { defaultTimings } from "../../src/runtime/election-timings.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Log } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { within } from "../../src/runtime/world.ts";
import { keeper, namespace } from "./keeper.ts";
import { type Machine, machineIn } from "./machine.ts";
import { NetworkLink } from "./network-link.ts";
import type { Resident } from "./replicas.ts";
import type { Scene } from "./scene.ts";

export const leaseNamespace = "kube-system";
export const leaseName = "fairlead";

export class Replica implements Resident {
  readonly name: string;
  readonly machine: Machine;
  readonly kubeLink: NetworkLink;
  readonly awsLink: NetworkLink;
  readonly identity: string;
  readonly nodes: Informer<Trimmed<Node>>;
  readonly records: Informer<Trimmed<ConfigMap>>;
  readonly cloud: Cloud;
  readonly metadata: Metadata;
  /** Parts of the process with a client each: one that makes many calls at once, and one that makes few. */
  readonly busy: KubeClient;
  readonly calm: KubeClient;
  /** Paths below /healthz that were asked for. */
  readonly probes = new Set<string>();
  readonly #scene: Scene;
  readonly #election: Election;
  readonly #client: KubeClient;
  readonly #controllers: Controllers;
  /** A termination signal: ends the candidacy at once, everything else in order. */
  readonly #stopping = new AbortController();
  readonly #informers = new AbortController();
  #candidacy: Promise<void> = Promise.resolve();
  #onExit = () => {};

  constructor(scene: Scene, name: string) {
    const { world, history } = scene;
    this.name = name;
    this.#scene = scene;
    // Without keys in its environment: they come from the metadata service.
    this.machine = machineIn(world, name, {});
    this.identity = identityOf(this.machine);
    const host: Host = { world: this.machine, log: this.#log(), metrics: newRegistry() };
    const line = (server: NetworkLink["send"], describe: (request: HttpRequest) => { what: string; writes: boolean }) =>
      new NetworkLink({
        world,
        machine: this.machine,
        server,
        onSend: (request) => {
          const { what, writes } = describe(request);
          if (request.url.pathname.startsWith("/healthz/")) this.probes.add(request.url.pathname);
          if (writes) scene.checkLeads(this.identity, `${this.name} sends ${what}`);
        },
        onAnswer: (request, how) => history.tell(this.name, `${describe(request).what} → ${how}`),
      });
    this.kubeLink = line(scene.cluster.send, kubeRequest);
    this.awsLink = line(scene.cloud.handle, awsRequest);

    const { certificates, metadata } = scene;
    const config = certificates.configOf(this.machine);
    const open = new KubeClient({ host, config, gate: openGate(), userAgent: name, connect: certificates.connect(name, this.kubeLink) });
    this.#election = new Election(host, {
      store: leaseStore(open, { namespace: leaseNamespace, name: leaseName, renewDeadlineMs: defaultTimings.renewDeadlineMs }),
      identity: this.identity,
      timings: defaultTimings,
      name: leaseName,
      lostMessage: "leaderelection lost",
    });
    const { gate } = this.#election;
    this.#client = open.as({ gate });
    this.busy = open.as({ gate });
    this.calm = open.as({});
    this.nodes = informer({ client: open, of: nodes });
    this.records = informer({ client: open, of: configMaps, namespace });
    const clouds = new Clouds({
      host,
      transport: metadata.nextTo(this.machine, this.awsLink.send),
      gate,
      settings: noSettings,
      version: "simulated",
    });
    this.metadata = clouds.metadata;
    this.cloud = clouds.in(scene.cloud.account.region);
    this.#controllers = new Controllers(host, { manager: "simulated", gate });
  }

  run(onExit: () => void): void {
    const { history } = this.#scene;
    history.tell(this.name, `starts as ${this.identity}`);
    this.#onExit = onExit;
    void this.#election.lost.then(() => this.#exit("exits with status 1: it lost the lease"));
    void this.#compete();
  }

  /** Work in hand is finished, the lease given up. */
  leave(): void {
    this.#stopping.abort(new Error("the replica is asked to leave"));
    void this.#end();
  }

  crash(): void {
    this.machine.crash();
    this.kubeLink.cut();
    this.awsLink.cut();
  }

  bury(): void {
    for (const life of [this.#stopping, this.#informers]) life.abort(new Error("the world ends"));
  }

  get leading(): boolean {
    return this.machine.alive && this.#election.leading();
  }

  async #compete(): Promise<void> {
    const { history, world } = this.#scene;
    // Files are read here, and a world stands still for that.
    const actions = [describeInstances, createTags, deleteTags];
    await world.holding(Promise.all(actions.map((action) => this.cloud.preload(action))));
    void this.nodes.run(this.#informers.signal);
    void this.records.run(this.#informers.signal);
    this.#candidacy = this.#election.lead(this.#stopping.signal).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
    await this.#candidacy;
    if (this.#stopping.signal.aborted) return;
    history.tell(this.name, "leads");
    const { nodes, records, cloud } = this;
    this.#controllers.start(this.#watched(keeper({ client: this.#client, cloud, nodes, records })));
  }

  async #end(): Promise<void> {
    const { history } = this.#scene;
    await this.#candidacy;
    await this.#controllers.stop(5000);
    await within(this.machine.clock, 5000, "release the lease", undefined, (signal) => this.#election.release(signal)).catch(
      (error: Error) => history.tell(this.name, `cannot give the lease up: ${error.message}`),
    );
    this.#informers.abort(new Error("the replica leaves"));
    this.#exit("has left in order");
  }

  #exit(how: string): void {
    this.#scene.history.tell(this.name, how);
    this.crash();
    this.#onExit();
  }

  /** The controller, with an eye on whether a key is ever worked on twice at once. */
  #watched(controller: Controller): Controller {
    const inWork = new Set<string>();
    const { history } = this.#scene;
    return {
      ...controller,
      reconcile: async (key, signal) => {
        if (inWork.has(key)) history.broken("a key is never worked on twice at once", `${this.name} works on ${key} already`);
        inWork.add(key);
        try {
          const outcome = await controller.reconcile(key, signal);
          history.tell(this.name, `reconciled ${key}${outcome.kind === "again" ? `: ${outcome.why}` : ""}`);
          return outcome;
        } finally {
          inWork.delete(key);
        }
      },
    };
  }

  #log(): Log {
    const tell = (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      const error = fields.error instanceof Error ? `: ${fields.error.message}` : "";
      if (this.machine.alive) this.#scene.history.tell(this.name, `says: ${message}${error}`);
    };
    const log: Log = { error: tell, warn: tell, info() {}, v: () => undefined, with: () => log };
    return log;
  }
}

function kubeRequest(request: HttpRequest): { what: string; writes: boolean } {
  const { pathname, searchParams } = request.url;
  const watch = searchParams.get("watch") === "true";
  const what = watch ? `watch ${pathname} from ${searchParams.get("resourceVersion") || "the start"}` : `${request.method} ${pathname}`;
  return { what, writes: request.method !== "GET" && !pathname.endsWith(`/leases/${leaseName}`) && !pathname.endsWith("/leases") };
}

function awsRequest(request: HttpRequest): { what: string; writes: boolean } {
  const form = new URLSearchParams(typeof request.body === "string" ? request.body : Buffer.from(request.body ?? "").toString());
  const action = form.get("Action") ?? "";
  const ids = [...form].filter(([name]) => /^(InstanceId|ResourceId)\./.test(name)).map(([, id]) => id);
  return { what: `${action} ${ids.join(" ")}`, writes: !action.startsWith("Describe") };
}
