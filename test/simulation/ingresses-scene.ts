/** Where the histories of Ingresses take place: groups that share load balancers, and what must be true of them at every moment. */
import { bodyText, type HttpResponse, type Transport } from "../../src/runtime/http.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { IngressAccount } from "./ingresses-account.ts";
import { plantForeign } from "./ingresses-foreign.ts";
import { LeaseRule } from "./lease-rule.ts";
import { streamedListsOf } from "./streamed-lists.ts";

/** Compiled once: they are the same in every history. */
const shapes = new Shapes();
const leaseName = "aws-load-balancer-controller-leader";

/** What the author of an Ingress asked for last. */
export interface IngressWish {
  readonly name: string;
  /** Undefined: it has a load balancer of its own. */
  readonly group: string | undefined;
  readonly host: string;
  /** Of the namespace; each at a path of its name. */
  readonly services: readonly string[];
  /** What is wrong with it, if anything: then it keeps what it had. */
  readonly mistake: string | undefined;
  readonly isDeleted: boolean;
}

export class IngressesScene {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  readonly account: IngressAccount;
  readonly flags: readonly string[];
  readonly services = ["web", "api", "docs"] as const;
  /** By name. */
  readonly wishes = new Map<string, IngressWish>();
  /** When a replica last changed something, in virtual milliseconds. */
  lastChangeAt = 0;
  readonly #before: Snapshot;
  /** Rules of Ingresses that had all they wanted, and were not changed by their authors since but by mistake. */
  readonly #settled = new Map<string, readonly string[]>();
  readonly #told = new Set<string>();

  /** Who leads, and that nobody else writes. */
  readonly lease: LeaseRule;

  constructor(seed: number) {
    this.world = virtualWorld(seed);
    this.history = new History(this.world.clock);
    this.chance = chanceOf(this.world.random);
    this.cluster = createEmbeddedCluster({ world: this.world, historyLimit: 500, streamedLists: streamedListsOf(seed) });
    this.lease = new LeaseRule(this, leaseName);
    this.cloud = createCloud({ world: this.world, seed, shapes });
    this.network = standardNetwork(this.cloud, { clusterId: "simulated", zones: 2 });
    this.account = new IngressAccount(this.cloud);
    plantForeign(this.cloud, this.network);
    this.#before = this.cloud.controls.snapshot();
    this.flags = [
      "--cluster-name=simulated",
      `--aws-region=${this.cloud.account.region}`,
      `--aws-vpc-id=${this.network.vpcId}`,
      "--metrics-bind-addr=0",
      "--health-probe-bind-addr=0",
      "--feature-gates=IngressController=true",
      "--default-target-type=ip",
    ];
  }

  /** Nodes, Services, pods and the class, which stay as they are. */
  async prepare(definitions: readonly object[]): Promise<void> {
    for (const definition of definitions)
      await this.say("world", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    const { ec2 } = this.cloud.account;
    const [node] = launchNodes(this.cloud, this.network, 1).map(({ id }) => ec2.instances.update(id, { state: "running" }));
    const nodeName = node!.privateDnsName;
    await this.say("world", "POST", "/api/v1/nodes", {
      metadata: { name: nodeName },
      spec: { providerID: `aws:///${node!.zone}/${node!.id}` },
    });
    await this.say("world", "PATCH", `/api/v1/nodes/${nodeName}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } });
    await this.say("world", "POST", "/apis/networking.k8s.io/v1/ingressclasses", {
      metadata: { name: "alb" },
      spec: { controller: "ingress.k8s.aws/alb" },
    });
    for (const [i, service] of this.services.entries()) await this.#fill(service, `10.0.32.${20 + i}`, nodeName);
  }

  async #fill(service: string, address: string, nodeName: string): Promise<void> {
    const [interfaceId = ""] = this.cloud.account.ec2.instances.values()[0]!.interfaceIds;
    const { interfaces } = this.cloud.account.ec2;
    interfaces.update(interfaceId, { privateAddresses: [...interfaces.get(interfaceId)!.privateAddresses, address] });
    await this.say("world", "POST", "/api/v1/namespaces/default/services", {
      metadata: { name: service },
      spec: { selector: { app: service }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
    });
    await this.say("world", "POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: `${service}-1` },
      spec: { nodeName, containers: [{ name: "c", image: "c:1" }] },
    });
    const conditions = [{ type: "ContainersReady", status: "True" }];
    await this.say("world", "PATCH", `/api/v1/namespaces/default/pods/${service}-1/status`, { status: { podIP: address, conditions } });
    await this.say("world", "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: `${service}-1`, labels: { "kubernetes.io/service-name": service } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: [
        { addresses: [address], conditions: { ready: true }, targetRef: { kind: "Pod", namespace: "default", name: `${service}-1` } },
      ],
    });
  }

  /** The API server as replicas reach it. */
  readonly serve: Transport = async (request) => {
    const answer = await this.cluster.send(request);
    // How many targets are healthy is told when it changes, and it changes by itself.
    const aside = request.method === "GET" || /\/(leases|events)(\/|$)|targetgroupbindings\/[^/]+\/status$/.test(request.url.pathname);
    if (!aside) this.#changed(`${request.method} ${request.url.pathname}`);
    return answer;
  };

  /** AWS as replicas reach it. */
  readonly serveAws: Transport = async (request) => {
    const action = new URLSearchParams(String(request.body)).get("Action") ?? "";
    try {
      return await this.cloud.handle(request);
    } finally {
      // What is cut off may have been carried out all the same.
      if (!action.startsWith("Describe")) this.#changed(action);
    }
  };

  async say(who: string, method: string, path: string, body?: object): Promise<HttpResponse> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const answer = await this.cluster.send({
      method,
      url: new URL(path, "http://cluster"),
      headers: { "content-type": type, "user-agent": who },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await bodyText(answer);
    if (who !== "world") this.history.tell(who, `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)} → ${answer.status}`);
    return answer;
  }

  /** An author is about to change an Ingress: it may lose what it had from now on, unless what is written is a mistake. */
  wish(wish: IngressWish): void {
    if (wish.mistake === undefined || wish.isDeleted) this.#settled.delete(wish.name);
    this.wishes.set(wish.name, wish);
  }

  ingress(name: string): IngressObject | undefined {
    return this.cluster.objects("ingresses.networking.k8s.io").find(({ metadata }) => metadata.name === name) as IngressObject | undefined;
  }

  /** Looks who has all it wants. */
  settle(): void {
    for (const wish of this.wishes.values()) {
      if (this.#settled.has(wish.name) || wish.isDeleted || wish.mistake !== undefined || this.#wrongWith(wish).length > 0) continue;
      this.#settled.set(wish.name, this.account.wantedRules(wish));
      this.history.tell("world", `${wish.name} has all it wants`);
    }
  }

  /** What is wrong, were it final. */
  differences(): readonly string[] {
    this.cloud.account.time.settle();
    const wishes = [...this.wishes.values()];
    const wanted = new Set(
      wishes.flatMap((wish) => (wish.isDeleted ? [] : [...this.account.wantedRules(wish), ...(this.#settled.get(wish.name) ?? [])])),
    );
    const groups = new Set(wishes.filter(({ isDeleted }) => !isDeleted).map((wish) => this.account.stackOf(wish)));
    const surplus = this.account.rules().filter((rule) => !wanted.has(rule));
    const balancers = this.account.stacks().filter((stack) => !groups.has(stack));
    return [
      ...wishes.flatMap((wish) => this.#wrongWith(wish)),
      ...surplus.map((rule) => `rule ${rule} is nobody's`),
      ...balancers.map((stack) => `the load balancer of ${stack} is nobody's`),
      ...this.#touched(),
    ];
  }

  #wrongWith(wish: IngressWish): readonly string[] {
    const { name, isDeleted, mistake } = wish;
    const ingress = this.ingress(name);
    if (isDeleted) return ingress === undefined ? [] : [`${name} is still there`];
    if (mistake !== undefined) return this.#isTold(name) ? [] : [`${name} is not told of its mistake: ${mistake}`];
    const present = new Set(this.account.rules());
    const missing = this.account.wantedRules(wish).filter((rule) => !present.has(rule));
    const hostname = ingress?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
    const address = this.account.hostname(this.account.stackOf(wish));
    return [
      ...missing.map((rule) => `${name} lacks ${rule}`),
      ...this.account.emptyGroups(wish).map((group) => `${group} of ${name} has no target`),
      ...(hostname === address && hostname !== "" ? [] : [`${name} publishes ${hostname || "nothing"}, and is served at ${address}`]),
    ];
  }

  #isTold(name: string): boolean {
    const events = this.cluster.objects("events") as unknown as { reason: string; involvedObject: { name: string } }[];
    return events.some(({ reason, involvedObject }) => involvedObject.name === name && reason.startsWith("Failed"));
  }

  /** What is left of Ingresses that are all gone. */
  leftovers(): readonly string[] {
    this.cloud.account.time.settle();
    const there = [...this.wishes.keys()].filter((name) => this.ingress(name) !== undefined);
    const bindings = this.cluster.objects("targetgroupbindings.elbv2.k8s.aws").map(({ metadata }) => `binding ${metadata.name}`);
    return [...there.map((name) => `Ingress ${name} is still there`), ...bindings, ...this.account.since(this.#before), ...this.#touched()];
  }

  #touched(): readonly string[] {
    return this.account.changedSince(this.#before);
  }

  #changed(by: string): void {
    this.lastChangeAt = this.world.clock.monotonic();
    for (const how of this.#touched()) this.#broken("nothing foreign is touched", by, how);
    const present = new Set(this.account.rules());
    for (const [name, rules] of this.#settled) {
      for (const rule of rules)
        if (!present.has(rule))
          this.#broken("a settled member's rules are never removed by another's mistake", by, `${name} lacks ${rule}`);
    }
  }

  /** Once is enough. */
  #broken(rule: string, by: string, how: string): void {
    if (this.#told.has(how)) return;
    this.#told.add(how);
    this.history.broken(rule, `after ${by} ${how}`);
  }
}

interface IngressObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname?: string }[] } };
}
