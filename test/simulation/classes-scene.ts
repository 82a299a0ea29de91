/** Where the histories of Services with a class take place: who serves them, and what must be true of them at every moment. */

import { checkpointAnnotation } from "../../src/loadbalancers/service-state.ts";
import { bodyText, type HttpRequest, type Transport } from "../../src/runtime/http.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Target } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { Network } from "../../src/sandbox/cloud/network.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { Rollout } from "../bed/rollout.ts";
import { addedSince, changedSince } from "./account-changes.ts";
import type { BalancerScene } from "./balancer-replica.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { ClassAccount } from "./classes-account.ts";
import { HandOverRule } from "./classes-hand-over.ts";
import { type ClassesWorld, classesWorld } from "./classes-world.ts";
import { History } from "./history.ts";
import { type ForeignOwner, plantForeign } from "./ingresses-foreign.ts";
import { LeaseRule } from "./lease-rule.ts";
import type { ManagerScene } from "./manager-replica.ts";

/** By whom a Service is served, and how its author says so. */
export type Server = "class" | "external" | "nlb-ip" | "manager" | "another class" | "nobody";

/** What the author of a Service asked for last. */
export interface ClassWish {
  readonly name: string;
  readonly server: Server;
  readonly targets: "ip" | "instance";
  /** Undefined: whatever stands, or the default. */
  readonly scheme: "internal" | "internet-facing" | undefined;
  readonly ports: readonly number[];
  /** Who may come in; everybody where it is empty. */
  readonly ranges: readonly string[];
  /** The annotation that makes no sense, if there is one: then it keeps what it had. */
  readonly mistake: string | undefined;
  readonly isDeleted: boolean;
}

/** What a Service had when it had all it wanted. */
interface Settled {
  readonly balancer: string;
  readonly hostname: string;
  readonly listeners: readonly string[] | undefined;
  readonly groups: readonly string[];
}

export const ourServers: readonly Server[] = ["class", "external", "nlb-ip"];
export const names = ["a", "b", "c", "d"] as const;
/** Pods of these wait for their load balancers. */
const gated: readonly string[] = ["a", "b"];
const gatePrefix = "target-health.elbv2.k8s.aws/";

const finalizers = { class: "service.k8s.aws/resources", manager: "service.kubernetes.io/load-balancer-cleanup" } as const;
const leases = { balancer: "aws-load-balancer-controller-leader", manager: "cloud-controller-manager" } as const;

/** What an author asked for and then took back may still be under way for so long. */
const takenBackMs = 60_000;

/** The longest that a ready pod of a Service that has all it wants is no target of it, on the worst of days. */
const maxMissingMs = 240_000;

/** Targets of another cluster in a group that a user shares with it. */
const theirTargets = ["10.0.60.1:8080", "10.0.60.2:8080"];

/** Another cluster's, of a Service that this cluster has too; and of nobody, under a name like ours. */
const foreignOwners: readonly ForeignOwner[] = [
  { name: "k8s-default-a-0123456789", tags: { "elbv2.k8s.aws/cluster": "other", "service.k8s.aws/stack": "default/a" } },
  { name: "k8s-default-b-0123456789", tags: { owner: "them" } },
];

export class ClassesScene {
  readonly w: ClassesWorld;
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  readonly account: ClassAccount;
  /** By name. */
  readonly wishes = new Map<string, ClassWish>();
  readonly rollouts = new Map<string, Rollout>();
  /** When a replica last changed something, in virtual milliseconds. */
  lastChangeAt = 0;
  readonly #leases;
  readonly #settled = new Map<string, Settled>();
  readonly #wishedAt = new Map<string, number>();
  readonly #handOvers = new HandOverRule();
  readonly #told = new Set<string>();
  /** Since when a ready pod is no target, by group and address. */
  readonly #missing = new Map<string, number>();
  #registered: ReadonlyMap<string, readonly Target[]> = new Map();
  #before: Snapshot = {};
  #leaving = false;
  /** The user's own target groups, which no controller makes or deletes. */
  #own = { group: "", shared: "" };

  static async open(seed: number): Promise<ClassesScene> {
    const scene = new ClassesScene(await classesWorld(seed));
    await scene.#prepare();
    return scene;
  }

  private constructor(w: ClassesWorld) {
    this.w = w;
    this.world = w.world;
    this.history = new History(w.world.clock);
    this.chance = chanceOf(w.world.random);
    this.cluster = w.cluster;
    this.cloud = w.aws;
    this.network = w.network;
    this.account = new ClassAccount(w.aws, w.network.clusterId);
    this.#leases = { balancer: new LeaseRule(this, leases.balancer), manager: new LeaseRule(this, leases.manager) };
  }

  /** Things of other people, bindings of a user's own, and pods that are there before any Service. */
  async #prepare(): Promise<void> {
    const { w, chance } = this;
    plantForeign(this.cloud, this.network, foreignOwners);
    this.#own = { group: await w.group("own", { used: true }), shared: await w.group("shared", { used: true }) };
    await w.register(this.#own.shared, theirTargets);
    this.#before = this.cloud.controls.snapshot();
    const size = () => Math.floor(chance.between(1, 4));
    for (const name of ["own", "shared"]) {
      await w.service(name);
      this.rollouts.set(name, new Rollout(w, name, { size: size(), chance }));
    }
    await w.bind("own", { targetGroupARN: this.#own.group, serviceRef: { name: "own", port: 80 } });
    await w.bind("shared", {
      targetGroupARN: this.#own.shared,
      serviceRef: { name: "shared", port: 80 },
      multiClusterTargetGroup: true,
    });
    for (const name of names) {
      await w.backend(name);
      const gate = gated.includes(name) ? { gate: () => this.#gatesOf(name) } : {};
      this.rollouts.set(name, new Rollout(w, name, { size: size(), chance, ...gate }));
    }
  }

  /** What the webhook gives a new pod of a Service: nobody would open the gate of a binding that is being deleted. */
  #gatesOf(name: string): readonly string[] {
    return this.w
      .bindings()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .filter(({ spec }) => spec.targetType === "ip" && (spec.serviceRef as { name: string }).name === name)
      .map(({ metadata }) => gatePrefix + metadata.name);
  }

  /** Where one process runs. `wrote` is called after each of its writes. */
  placeOf(program: keyof typeof leases, wrote: () => void): BalancerScene & ManagerScene {
    const { world, history, network } = this;
    const region = this.cloud.account.region;
    const after = (by: string) => {
      this.#changed(by);
      wrote();
    };
    const flags = {
      balancer: [
        `--cluster-name=${network.clusterId}`,
        `--aws-region=${region}`,
        `--aws-vpc-id=${network.vpcId}`,
        "--metrics-bind-addr=0",
        "--health-probe-bind-addr=0",
        "--feature-gates=IngressController=false,ALBGatewayAPI=false,NLBGatewayAPI=false",
      ],
      manager: ["--controllers=service-lb-controller"],
    };
    return {
      world,
      history,
      flags: flags[program],
      config: `[Global]\nRegion=${region}\nVPC=${network.vpcId}\nSubnetID=${network.privateSubnetIds[0]}\nKubernetesClusterID=${network.clusterId}\n`,
      serve: telling(this.cluster.send, kubeWrite, after),
      serveAws: telling(this.cloud.handle, awsWrite, after),
      lease: this.#leases[program],
    };
  }

  async say(who: string, method: string, path: string, body?: object): Promise<void> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { "content-type": type, "user-agent": who };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await this.cluster.send({ method, url: new URL(path, "http://cluster"), headers, ...text });
    const said = await bodyText(answer);
    this.history.tell(who, `${method} ${path} ${body === undefined ? "" : JSON.stringify(body)} → ${answer.status}`);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${said}`);
  }

  /** Everybody leaves: from now on nothing has to be served any more. */
  leave(): void {
    this.#leaving = true;
  }

  /** An author is about to change a Service: it may lose what it had from now on, unless what is written is a mistake. */
  wish(wish: ClassWish): void {
    if (wish.mistake === undefined || wish.isDeleted) this.#settled.delete(wish.name);
    this.#wishedAt.set(wish.name, this.world.clock.monotonic());
    if (wish.isDeleted || !ourServers.includes(wish.server)) this.#handOvers.unwanted(wish.name, this.world.clock.monotonic());
    this.wishes.set(wish.name, wish);
  }

  /** Deployments and kubelets do their part. */
  async step(): Promise<void> {
    for (const rollout of this.rollouts.values()) await rollout.step();
    this.#settle();
    this.#judge();
  }

  /** Looks who has all it wants. */
  #settle(): void {
    for (const wish of this.wishes.values()) {
      if (this.#settled.has(wish.name) || wish.isDeleted || wish.mistake !== undefined || !isServed(wish)) continue;
      if (this.world.clock.monotonic() - this.#wishedAt.get(wish.name)! < takenBackMs) continue;
      if (this.#wrongWith(wish).length > 0 || !this.#isHealthy(wish)) continue;
      const [balancer] = ourServers.includes(wish.server)
        ? this.account.balancers(keyOf(wish))
        : this.account.managersBalancers(keyOf(wish));
      this.#settled.set(wish.name, {
        balancer: balancer!.arn,
        hostname: this.w.hostname(wish.name),
        // What the controller manager does is judged in a world of its own.
        listeners: wish.server === "manager" ? undefined : this.account.listeners(balancer!),
        groups: this.account.groups(keyOf(wish)).map(({ arn }) => arn),
      });
      this.history.tell("world", `${wish.name} has all it wants`);
    }
  }

  #isHealthy(wish: ClassWish): boolean {
    const targets = this.account.targets();
    return this.account
      .groups(keyOf(wish))
      .every(({ arn }) => targets.get(arn)?.every(({ verdict }) => verdict.kind === "healthy") ?? false);
  }

  /** What has to hold whenever Deployments and load balancers have had a moment. */
  #judge(): void {
    const now = this.world.clock.monotonic();
    const targets = this.account.targets();
    for (const [arn, rollout] of this.#filled()) {
      const registered = new Map((targets.get(arn) ?? []).map((target) => [addressOf(target), target]));
      for (const address of rollout.readyAddresses()) {
        const key = `${arn} ${address}`;
        if (registered.has(address)) this.#missing.delete(key);
        else if (!this.#missing.has(key)) this.#missing.set(key, now);
        else if (now - this.#missing.get(key)! > maxMissingMs)
          this.#broken("no target of a ready pod is missing for long", "a while", `${address} of ${rollout.name} is no target`);
      }
      const serving = [...registered].filter(([address, { verdict }]) => verdict.kind === "healthy" && rollout.isServing(address));
      if (serving.length < rollout.promised())
        this.#broken(
          "a rollout with gates has as many healthy targets as it promised",
          "a while",
          `${rollout.name} has ${serving.length} of ${rollout.promised()}`,
        );
    }
    const looked = new Set(this.#filled().map(([arn]) => arn));
    for (const key of this.#missing.keys()) if (!looked.has(key.split(" ")[0]!)) this.#missing.delete(key);
  }

  /** Target groups that have had all they should, with the pods that are to be in them. */
  #filled(): readonly (readonly [arn: string, Rollout])[] {
    if (this.#leaving) return [];
    const { group, shared } = this.#own;
    const settled = [...this.#settled].flatMap(([name, { groups }]) =>
      this.wishes.get(name)?.targets === "ip" ? groups.map((arn) => [arn, this.rollouts.get(name)!] as const) : [],
    );
    return [[group, this.rollouts.get("own")!], [shared, this.rollouts.get("shared")!], ...settled];
  }

  /** What is wrong, were it final. */
  differences(): readonly string[] {
    this.cloud.account.time.settle();
    const targets = this.account.targets();
    const own = this.#filled()
      .slice(0, 2)
      .flatMap(([arn, rollout]) => {
        const wanted = [...rollout.addresses(), ...(arn === this.#own.shared ? theirTargets : [])].toSorted();
        return same(addressesOf(targets.get(arn)), wanted) ? [] : [`${rollout.name} has ${addressesOf(targets.get(arn)).join(" ")}`];
      });
    return [
      ...[...this.wishes.values()].flatMap((wish) => this.#wrongWith(wish)),
      ...own,
      ...[...this.rollouts.values()].filter((rollout) => !rollout.isDone()).map(({ name }) => `the rollout of ${name} is not done`),
      ...this.#touched(),
    ];
  }

  #wrongWith(wish: ClassWish): readonly string[] {
    const { name, server, mistake, isDeleted } = wish;
    const service = this.w.get(name);
    const key = keyOf(wish);
    if (isDeleted && service !== undefined) return [`${name} is still there`];
    if (!isDeleted && service === undefined) return [`${name} is gone`];
    if (!isDeleted && mistake !== undefined) return this.#isTold(name) ? [] : [`${name} is not told of its mistake: ${mistake}`];
    const ours = !isDeleted && ourServers.includes(server);
    const managers = !isDeleted && server === "manager";
    const [balancer, ...more] = [...this.account.balancers(key), ...this.account.managersBalancers(key)];
    const surplus = ours ? [] : this.account.holdings().filter((holding) => holding.service === key);
    const held = service?.metadata.finalizers ?? [];
    const address = ours || managers ? (balancer?.dnsName.toLowerCase() ?? "an address") : "";
    const hostname = this.w.hostname(name);
    return [
      ...more.map((each) => `${name} has another load balancer ${each.name}`),
      ...surplus.map(({ text }) => `${text} of ${name} is left`),
      ...(managers || ours || balancer === undefined ? [] : [`load balancer ${balancer.name} of ${name} is left`]),
      ...(hostname === address ? [] : [`${name} publishes ${hostname || "nothing"}, and is served at ${address || "no address"}`]),
      ...(held.includes(finalizers.class) === ours ? [] : [`${name} has finalizers ${held.join()}`]),
      ...(ours ? this.#wrongParts(wish) : []),
    ];
  }

  /** What the load balancer of a Service lacks, or has too much. */
  #wrongParts(wish: ClassWish): readonly string[] {
    const { name, ports, scheme, ranges } = wish;
    const key = keyOf(wish);
    const [balancer] = this.account.balancers(key);
    if (balancer === undefined) return [`${name} has no load balancer`];
    const targets = this.account.targets();
    const bindings = this.w.bindings().filter(({ metadata }) => metadata.labels?.["service.k8s.aws/stack-name"] === name);
    const groups = this.account.groups(key);
    const wrong: string[] = [];
    const expect = (what: string, seen: readonly string[], wanted: readonly string[]) => {
      if (!same(seen.toSorted(), wanted.toSorted())) wrong.push(`${what} of ${name}: ${seen.join(" ")}, wanted ${wanted.join(" ")}`);
    };
    if (scheme !== undefined) expect("scheme", [balancer.scheme], [scheme]);
    expect(
      "listeners",
      this.account.listeners(balancer),
      ports.map((port) => `${port} → ${key}:${port}`),
    );
    expect(
      "groups",
      groups.map((group) => String(this.account.portOf(group))),
      ports.map(String),
    );
    expect(
      "bindings",
      bindings.map(({ spec }) => spec.targetGroupARN),
      groups.map(({ arn }) => arn),
    );
    for (const group of groups) {
      const port = this.account.portOf(group);
      expect(`targets at ${port}`, addressesOf(targets.get(group.arn)), this.#wantedTargets(wish, port));
      const opened = wish.targets === "ip" ? 8080 : nodePortOf(name, port);
      if (this.rollouts.get(name)!.addresses().length > 0 && !this.account.letsIn(this.network.nodeGroupId, opened))
        wrong.push(`nodes do not let ${name} in at ${opened}`);
    }
    const open = ranges.length > 0 ? ranges : ["0.0.0.0/0"];
    expect(
      "rules",
      this.account.clientRules(key),
      ports.flatMap((port) => open.map((cidr) => `tcp ${port} ${cidr}`)),
    );
    return wrong;
  }

  #wantedTargets({ name, targets }: ClassWish, port: number): readonly string[] {
    if (targets === "ip") return this.rollouts.get(name)!.addresses();
    return [...this.w.nodes.values()].map((id) => `${id}:${nodePortOf(name, port)}`);
  }

  #isTold(name: string): boolean {
    const events = this.cluster.objects("events") as unknown as { reason: string; involvedObject: { name: string } }[];
    return events.some(({ reason, involvedObject }) => involvedObject.name === name && reason.startsWith("Failed"));
  }

  /** What is left of Services and bindings that are all gone. */
  leftovers(): readonly string[] {
    this.cloud.account.time.settle();
    const there = names.filter((name) => this.w.get(name) !== undefined);
    const bindings = this.w.bindings().map(({ metadata }) => `binding ${metadata.name}`);
    const added = addedSince(this.cloud, this.#before);
    return [...there.map((name) => `Service ${name} is still there`), ...bindings, ...added, ...this.#touched()];
  }

  #touched(): readonly string[] {
    return changedSince(this.cloud, this.#before);
  }

  #changed(by: string): void {
    const now = this.world.clock.monotonic();
    if (by !== takenBack) this.lastChangeAt = now;
    for (const how of this.#touched()) this.#broken("nothing foreign is touched", by, how);
    for (const { service, text } of this.account.holdings()) {
      const held = this.w.get(service.split("/")[1]!)?.metadata.finalizers ?? [];
      if (!held.includes(finalizers.class))
        this.#broken("a finalizer goes only after all it guards", by, `${text} has no Service with a finalizer`);
    }
    for (const how of this.#handOvers.look(this.#served(), now))
      this.#broken("clients have five minutes to leave a load balancer that is replaced", by, how);
    const before = this.#registered;
    this.#registered = this.account.targets();
    for (const [arn, rollout] of this.#filled()) {
      const present = new Set(addressesOf(this.#registered.get(arn)));
      const gone = addressesOf(before.get(arn)).filter((address) => !present.has(address));
      for (const address of gone) {
        const serves = rollout.isServing(address) || theirTargets.includes(address);
        if (serves) this.#broken("no target of a serving pod is deregistered", by, `${address} of ${rollout.name}`);
      }
    }
    for (const [name, { balancer, hostname, listeners }] of this.#settled) {
      const standing = this.#balancers(name).find(({ arn }) => arn === balancer);
      if (standing === undefined) this.#broken("what is wanted stays", by, `${name} has lost its load balancer`);
      else if (listeners && !same(this.account.listeners(standing), listeners))
        this.#broken("what is wanted stays", by, `${name} has lost listeners`);
      if (this.w.hostname(name) !== hostname) this.#broken("what is wanted stays", by, `${name} has lost its address`);
    }
  }

  #served() {
    return [...this.wishes.values()]
      .filter(({ server, isDeleted }) => !isDeleted && ourServers.includes(server))
      .map((wish) => ({ name: wish.name, hostname: this.w.hostname(wish.name), balancers: this.account.balancers(keyOf(wish)) }));
  }

  #balancers(name: string) {
    const key = keyOf({ name });
    return [...this.account.balancers(key), ...this.account.managersBalancers(key)];
  }

  /** Once is enough. */
  #broken(rule: string, by: string, how: string): void {
    if (this.#told.has(how)) return;
    this.#told.add(how);
    this.history.broken(rule, `after ${by} ${how}`);
  }
}

export const keyOf = ({ name }: { readonly name: string }) => `default/${name}`;
/** Each Service has ports of its own on the nodes. */
export const nodePortOf = (name: string, port: number) => 30_000 + 500 * (names as readonly string[]).indexOf(name) + port;

const isServed = ({ server }: ClassWish) => server === "manager" || ourServers.includes(server);
const addressOf = ({ id, port }: Target) => `${id}:${port}`;
const addressesOf = (targets: readonly Target[] = []) => targets.map(addressOf).toSorted();
const same = (seen: readonly string[], wanted: readonly string[]) => seen.toSorted().join() === wanted.toSorted().join();

/** A server that tells of each write after it was carried out, also of those whose answer is lost. */
function telling(send: Transport, writeIn: (request: HttpRequest) => string | undefined, after: (by: string) => void): Transport {
  return async (request) => {
    const write = writeIn(request);
    let isRefused = false;
    try {
      const answer = await send(request);
      isRefused = answer.status >= 300;
      return answer;
    } finally {
      if (write !== undefined && !isRefused) after(write);
    }
  };
}

/** Before a mistake that only AWS finds is tried again, by a process that has just come, that all was as wanted is taken back. */
const takenBack = "take back a checkpoint";

/** Leases and Events are no changes, and how many targets are healthy is told when it changes, by itself. */
function kubeWrite({ method, url: { pathname }, body }: HttpRequest): string | undefined {
  if (String(body).includes(`"${checkpointAnnotation}":null`)) return takenBack;
  const isAside = method === "GET" || /\/(leases|events)(\/|$)|targetgroupbindings\/[^/]+\/status$/.test(pathname);
  return isAside ? undefined : `${method} ${pathname}`;
}

function awsWrite({ body }: HttpRequest): string | undefined {
  const action = new URLSearchParams(String(body)).get("Action") ?? "";
  return action.startsWith("Describe") ? undefined : action;
}
