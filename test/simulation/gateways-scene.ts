/** Where the histories of Gateways take place: routes that share load balancers, and what must be true of them at every moment. */
import { isDeepStrictEqual } from "node:util";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import type { StoredStatus } from "../bed/gateway-world.ts";
import { addedSince, changedSince } from "./account-changes.ts";
import { homeOf } from "./backends.ts";
import { BalancerAccount } from "./balancer-account.ts";
import { BalancersScene, planAgeMs } from "./balancers-scene.ts";
import { undecidedClasses, wrongGateway, wrongRoute, wrongSet } from "./gateways-status.ts";
import {
  faultOf,
  flavourOf,
  type GatewayWish,
  gatewayOf,
  hasRules,
  isHeldBack,
  longPath,
  partOf,
  type RouteWish,
  type SetWish,
  type Wishes,
  wantedRules,
} from "./gateways-wish.ts";
import { plantCertificate } from "./ingresses-certificates.ts";
import { plantForeign } from "./ingresses-foreign.ts";
import { Repeats } from "./repeats.ts";

/** Another cluster's, of Gateways that this cluster has too; and of nobody, under a name like ours. */
const foreignOwners = [
  { name: "k8s-default-a-0123456789", tags: { "elbv2.k8s.aws/cluster": "other", "gateway.k8s.aws.alb/stack": "default/a" } },
  { name: "k8s-default-c-0123456789", tags: { "elbv2.k8s.aws/cluster": "other", "gateway.k8s.aws.nlb/stack": "default/c" } },
  { name: "k8s-default-b-0123456789", tags: { owner: "them" } },
] as const;

export const plurals = {
  Gateway: "gateways",
  ListenerSet: "listenersets",
  HTTPRoute: "httproutes",
  GRPCRoute: "grpcroutes",
  TCPRoute: "tcproutes",
  UDPRoute: "udproutes",
  TLSRoute: "tlsroutes",
} as const;

export type Kind = keyof typeof plurals;

/** By the remainder of the seed: what nobody has installed when the controllers start. Without routes of its kinds a controller waits. */
const lateKinds: Readonly<Record<number, readonly Kind[]>> = {
  1: ["ListenerSet"],
  3: ["GRPCRoute"],
  5: ["TLSRoute"],
  7: ["ListenerSet", "GRPCRoute"],
};
type Around = Pick<Wishes, "missing" | "isGranted" | "isTunedRight">;
type Settled = { readonly gateway: string; readonly rules: readonly string[] };

export class GatewaysScene extends BalancersScene {
  readonly account: BalancerAccount;
  readonly flags: readonly string[];
  readonly services = ["web", "api", "other/far"] as const;
  readonly gateways = new Map<string, GatewayWish>();
  readonly sets = new Map<string, SetWish>();
  readonly routes = new Map<string, RouteWish>();
  /** Kinds that the API server does not serve yet. */
  readonly late: Set<Kind>;
  /** Whether some Gateways have routes that share target groups: they come to it, and leave it again. */
  readonly knowsSharing: boolean;
  readonly #statusWrites = new Repeats(20, 10_000);
  #around: Around = { missing: new Set(), isGranted: true, isTunedRight: true };
  #before: Snapshot = {};
  #theirs: unknown;
  /** What routes have that had all they wanted, and that nobody has changed since but by mistakes of others. */
  readonly #settled = new Map<string, Settled>();
  /** When somebody last changed what decides about a route. */
  readonly #decidedAt = new Map<string, number>();

  constructor(seed: number) {
    super(seed);
    this.late = new Set(lateKinds[seed % 8] ?? []);
    this.knowsSharing = [3, 5].includes(seed % 7);
    this.account = new BalancerAccount(this.cloud, ["gateway.k8s.aws.alb", "gateway.k8s.aws.nlb"]);
    this.flags = [...this.usualFlags, "--feature-gates=ALBGatewayAPI=true,NLBGatewayAPI=true,IngressController=false"];
  }

  /** From now on everything counts. */
  open(): void {
    plantForeign(this.cloud, this.network, foreignOwners);
    plantCertificate(this.cloud.account, 0, "*.example.com", {});
    this.#theirs = structuredClone(this.#foreignObjects());
    this.#before = this.cloud.controls.snapshot();
    this.isOpen = true;
  }

  get wishes(): Wishes {
    const { gateways, sets, routes } = this;
    const createdAt = (name: string) => String(this.object(routes.get(name)?.kind ?? "HTTPRoute", name)?.metadata.creationTimestamp ?? "9");
    return { gateways, sets, routes, ...this.#around, createdAt };
  }

  object(kind: Kind, name: string): StoredObject | undefined {
    const objects = this.cluster.objects(`${plurals[kind]}.gateway.networking.k8s.io`);
    return objects.find(({ metadata }) => metadata.name === name) as StoredObject | undefined;
  }

  /** An author is about to change a Gateway. A mistake takes nothing from anybody. */
  wishGateway(wish: GatewayWish): void {
    const essence = ({ mistake: _, ...rest }: GatewayWish) => JSON.stringify(rest);
    const before = this.gateways.get(wish.name);
    this.gateways.set(wish.name, wish);
    if (before === undefined || essence(before) !== essence(wish))
      this.#decide((route) => gatewayOf(route, this.wishes)?.name === wish.name);
  }

  wishSet(wish: SetWish): void {
    const concerned = new Set([wish.gateway, this.sets.get(wish.name)?.gateway]);
    const concerns = (route: RouteWish) => isPlain(route) && concerned.has(gatewayOf(route, this.wishes)?.name);
    this.#decide((route) => route.parent.name === wish.name || concerns(route));
    this.sets.set(wish.name, wish);
    this.#decide(concerns);
  }

  wishRoute(wish: RouteWish): void {
    const before = this.routes.get(wish.name);
    const rivals = () => new Set([wish, ...(before ? [before] : [])].map((each) => gatewayOf(each, this.wishes)?.name));
    this.routes.set(wish.name, wish);
    const concerned = rivals();
    this.#decide(
      (route) => route.name === wish.name || (isPlain(wish) && isPlain(route) && concerned.has(gatewayOf(route, this.wishes)?.name)),
    );
  }

  /** Somebody else is about to change what decides about some routes. */
  change(around: Partial<Around>, concerns: (route: RouteWish) => boolean): void {
    this.#around = { ...this.#around, ...around };
    this.#decide(concerns);
  }

  missed(service: string, isMissing: boolean): void {
    this.change({ missing: new Set(isMissing ? [service] : []) }, ({ services }) => services.includes(service));
  }

  #decide(concerns: (route: RouteWish) => boolean): void {
    for (const route of this.routes.values()) {
      if (!concerns(route)) continue;
      this.#settled.delete(route.name);
      this.#decidedAt.set(route.name, this.world.clock.monotonic());
    }
  }

  /** Looks who has all it wants. */
  settle(): void {
    const present = this.#present();
    const { wishes } = this;
    for (const route of this.routes.values()) {
      const gateway = gatewayOf(route, wishes);
      if (this.#settled.has(route.name) || gateway === undefined || flavourOf(gateway) === undefined) continue;
      if (route.isDeleted || route.mistake !== undefined || isHeldBack(gateway, wishes)) continue;
      const rules = wantedRules(route, wishes);
      const balancer = this.#balancerOf(gateway);
      if (rules.length === 0 || rules.some((rule) => !present.has(rule)) || balancer?.hostname !== this.#published(gateway.name)) continue;
      // A plan that was made before may still be on its way: calls wait for their budget.
      if (this.isTriedAgain(balancer.hostname)) continue;
      if (this.world.clock.monotonic() - (this.#decidedAt.get(route.name) ?? 0) < planAgeMs) continue;
      this.#settled.set(route.name, { gateway: gateway.name, rules });
      this.history.tell("world", `${route.name} has all it wants`);
    }
  }

  /** What is wrong, were it final. */
  differences(): readonly string[] {
    this.cloud.account.time.settle();
    return [
      ...[...this.gateways.values()].flatMap((wish) => this.#wrongWithGateway(wish)),
      ...[...this.sets.values()].flatMap((wish) => this.#wrongWith("ListenerSet", wish, (object) => wrongSet(wish, object, this.wishes))),
      ...[...this.routes.values()].flatMap((wish) => this.#wrongWith(wish.kind, wish, (object) => this.#wrongWithRoute(wish, object))),
      ...undecidedClasses(this.cluster.objects("gatewayclasses.gateway.networking.k8s.io")),
      ...this.#surplus(),
      ...this.#touched(),
    ];
  }

  #wrongWith(
    kind: Kind,
    { name, isDeleted }: { readonly name: string; readonly isDeleted: boolean },
    wrong: (object: StoredObject) => readonly string[],
  ) {
    const object = this.object(kind, name);
    if (isDeleted) return object === undefined ? [] : [`${kind} ${name} is still there`];
    return object === undefined ? [`${kind} ${name} is not there`] : wrong(object);
  }

  #wrongWithGateway(wish: GatewayWish): readonly string[] {
    return this.#wrongWith("Gateway", wish, (object) => {
      const held = (object.metadata.finalizers ?? []).filter((each) => each.startsWith("gateway.k8s.aws/"));
      if (flavourOf(wish) === undefined) return held.length > 0 ? [`Gateway ${wish.name} is another controller's, and is still held`] : [];
      return wrongGateway(wish, object, this.#balancerOf(wish), this.wishes);
    });
  }

  #wrongWithRoute(wish: RouteWish, object: StoredObject): readonly string[] {
    const { wishes } = this;
    const gateway = gatewayOf(wish, wishes);
    const status = wrongRoute(wish, object, wishes);
    if (gateway === undefined || isHeldBack(gateway, wishes) || wish.mistake !== undefined) return status;
    const present = this.#present();
    const missing = wantedRules(wish, wishes).filter((rule) => !present.has(rule));
    const targets = wish.services.flatMap((service) =>
      this.account.wrongTargets(partOf(wish, service, gateway), faultOf(service, wishes) ? "" : (this.addresses.get(service) ?? "")),
    );
    return [...status, ...missing.map((rule) => `${wish.name} lacks ${rule}`), ...targets];
  }

  /** Whose rules, listeners and load balancers nobody wants. Of what is held back nobody can tell. */
  #surplus(): readonly string[] {
    const { wishes } = this;
    const routes = [...this.routes.values()];
    const wanted = new Set(routes.flatMap((route) => wantedRules(route, wishes)));
    const mistaken = routes.filter(({ mistake, isDeleted }) => mistake !== undefined && !isDeleted);
    // Of one that AWS refuses what stands stays, whatever it was for: its hosts begin with its name.
    const isKept = (rule: string, route: RouteWish) =>
      route.mistake === longPath &&
      rule.startsWith(`default/${gatewayOf(route, wishes)?.name}:`) &&
      new RegExp(` ${route.name}\\d.example.com `).test(rule);
    const isAnswered = (rule: string, { host }: RouteWish) => rule.endsWith("→ 500") && rule.includes(` ${host} `);
    const unclear = [...this.gateways.values()].filter((each) => isHeldBack(each, wishes)).map(({ name }) => `default/${name}`);
    const mayStay = (rule: string) =>
      unclear.some((stack) => rule.startsWith(`${stack}:`)) || mistaken.some((route) => isAnswered(rule, route) || isKept(rule, route));
    const rules = [...this.#present()].filter((rule) => !wanted.has(rule) && !mayStay(rule));
    const balancers = this.account.loadBalancers().filter(({ stack }) => !unclear.includes(stack));
    const isWanted = (lb: (typeof balancers)[number]) => {
      const gateway = this.gateways.get(homeOf(lb.stack)[1]);
      return gateway !== undefined && this.#balancerOf(gateway)?.arn === lb.arn;
    };
    return [
      ...rules.map((rule) => `${rule} is nobody's`),
      ...balancers.filter((lb) => !isWanted(lb)).map(({ stack, type }) => `a load balancer of ${stack}, ${type}, is nobody's`),
    ];
  }

  #balancerOf(wish: GatewayWish) {
    const type = { alb: "application", nlb: "network", none: "" }[flavourOf(wish) ?? "none"];
    const { name, scheme = "internal" } = wish;
    return this.account.loadBalancers().find((lb) => lb.stack === `default/${name}` && lb.type === type && lb.scheme === scheme);
  }

  #published(gateway: string): string {
    return this.object("Gateway", gateway)?.status?.addresses?.[0]?.value ?? "";
  }

  #present(): ReadonlySet<string> {
    return new Set([...this.account.rules(), ...this.account.forwards()]);
  }

  /** What is left of users who are all gone. */
  leftovers(): readonly string[] {
    this.cloud.account.time.settle();
    const there = [...this.gateways.keys()].filter((name) => this.object("Gateway", name) !== undefined);
    const bindings = this.cluster.objects("targetgroupbindings.elbv2.k8s.aws").map(({ metadata }) => `binding ${metadata.name}`);
    return [
      ...there.map((name) => `Gateway ${name} is still there`),
      ...bindings,
      ...addedSince(this.cloud, this.#before),
      ...this.#touched(),
    ];
  }

  #touched(): readonly string[] {
    const isTouched = !isDeepStrictEqual(this.#foreignObjects(), this.#theirs);
    return [...changedSince(this.cloud, this.#before), ...(isTouched ? ["another controller's Gateway or route is changed"] : [])];
  }

  #foreignObjects(): unknown {
    return [this.object("Gateway", "theirs"), this.object("HTTPRoute", "theirs")];
  }

  /** What AWS has refused of a route is tried again every ten minutes, with all that it needs. */
  protected override isRecurring(by: string): boolean {
    const isRefused = [...this.routes.values()].some(({ mistake, isDeleted }) => mistake === longPath && !isDeleted);
    // What AWS says of it may be said in other words than before.
    return isRefused && (!by.endsWith("/status") || this.isRefusedNow);
  }

  protected override look(by: string): void {
    const loop = by.endsWith("/status") ? this.#statusWrites.note(by, this.world.clock.monotonic()) : undefined;
    if (loop !== undefined) this.broken("no status is written in a hot loop", by, `it was written ${loop}`);
    for (const how of this.#touched()) this.broken("nothing foreign is touched", by, how);
    if (this.#settled.size === 0) return;
    const present = this.#present();
    const addresses = new Set(this.account.loadBalancers().map(({ hostname }) => hostname));
    for (const [name, { gateway, rules }] of this.#settled) {
      for (const rule of rules)
        if (!present.has(rule)) this.broken("a settled route's rules are never removed by another's mistake", by, `${name} lacks ${rule}`);
      const published = this.#published(gateway);
      if (!addresses.has(published)) this.broken("what is published serves", by, `${gateway} publishes ${published || "nothing"}`);
    }
  }
}

/** Whether a port has room for one such route only. */
const isPlain = (route: RouteWish) => !hasRules(route);

type StoredObject = StoredStatus & {
  readonly metadata: { readonly creationTimestamp?: string; readonly deletionTimestamp?: string };
};
