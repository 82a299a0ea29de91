/** Where the histories of Ingresses take place: groups that share load balancers, and what must be true of them at every moment. */
import { isDeepStrictEqual } from "node:util";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import { addedSince, changedSince } from "./account-changes.ts";
import { BalancersScene, planAgeMs } from "./balancers-scene.ts";
import { IngressAccount } from "./ingresses-account.ts";
import {
  leftCertificates,
  lostCertificates,
  plantCertificates,
  requestsCertificates,
  wrongCertificates,
} from "./ingresses-certificates.ts";
import { foreignIngress, plantForeign } from "./ingresses-foreign.ts";
import { IngressWebhook } from "./ingresses-webhook.ts";
import { type IngressWish, isServed, type Surroundings, stackOf, wantedRules } from "./ingresses-wish.ts";

/** So long it takes one load balancer to take another's place, with retries. */
const replacementMs = 20 * 60_000;

export class IngressesScene extends BalancersScene {
  readonly account: IngressAccount;
  readonly flags: readonly string[];
  /** Whether certificates may be requested. */
  readonly hasCertificates: boolean;
  readonly services = ["web", "api", "docs"] as const;
  /** By name. */
  readonly wishes = new Map<string, IngressWish>();
  around: Surroundings = { tunedGroup: "shop", missing: new Set() };
  /** In every second world the API server asks a webhook about Ingresses. */
  readonly #webhook: IngressWebhook | undefined;
  #before: Snapshot = {};
  #theirs: unknown;
  /** Rules of Ingresses that had all they wanted, and were not changed by their authors since but by mistake. */
  readonly #settled = new Map<string, readonly string[]>();
  /** When somebody else last changed what decides about an Ingress. */
  readonly #decidedAt = new Map<string, number>();
  /** Every rule that an Ingress has asked for: one that nobody understands any more may keep any of them. */
  readonly #asked = new Map<string, Set<string>>();

  constructor(seed: number) {
    super(seed);
    this.account = new IngressAccount(this.cloud);
    this.#webhook = Math.floor(seed / 2) % 2 === 0 ? new IngressWebhook(this.cluster) : undefined;
    this.hasCertificates = requestsCertificates(seed);
    const certificates = this.hasCertificates ? ",EnableCertificateManagement=true" : "";
    this.flags = [...this.usualFlags, `--feature-gates=IngressController=true,ALBGatewayAPI=false,NLBGatewayAPI=false${certificates}`];
  }

  /** From now on everything counts. */
  async open(): Promise<void> {
    plantForeign(this.cloud, this.network);
    if (this.hasCertificates) plantCertificates(this.cloud);
    await this.say("world", "POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", foreignIngress);
    this.#theirs = this.#foreignIngress();
    this.#before = this.cloud.controls.snapshot();
    this.isOpen = true;
  }

  protected override refusal(request: Pick<HttpRequest, "method" | "url" | "body">): string | undefined {
    return this.#webhook?.refusal(request);
  }

  /** An author is about to change an Ingress: it may lose what it had from now on, unless what is written is a mistake. */
  wish(wish: IngressWish): void {
    const before = this.wishes.get(wish.name);
    const isMoved = before === undefined || stackOf(before, this.around) !== stackOf(wish, this.around);
    if (wish.mistake === undefined || isMoved || !isServed(wish)) this.#settled.delete(wish.name);
    this.wishes.set(wish.name, wish);
    if (wish.isDeleted) this.#asked.delete(wish.name);
    else this.#ask(wish);
  }

  /** Somebody else is about to change what decides about some Ingresses. */
  change(around: Partial<Surroundings>, concerns: (wish: IngressWish) => boolean): void {
    this.around = { ...this.around, ...around };
    for (const wish of this.wishes.values()) {
      if (!concerns(wish)) continue;
      this.#settled.delete(wish.name);
      this.#decidedAt.set(wish.name, this.world.clock.monotonic());
      this.#ask(wish);
    }
  }

  missed(service: string, isMissing: boolean): void {
    this.change({ missing: new Set(isMissing ? [service] : []) }, ({ services }) => services.includes(service as never));
  }

  #ask(wish: IngressWish): void {
    this.#asked.set(wish.name, new Set([...(this.#asked.get(wish.name) ?? []), ...wantedRules(wish, this.around)]));
  }

  /** A webhook did not take what an author wrote: a class that is missing is a mistake where it is new. */
  refused({ name, className, mistake }: IngressWish, before: IngressWish | undefined): void {
    const classes = this.cluster.objects("ingressclasses.networking.k8s.io").map(({ metadata }) => metadata.name);
    const isKnown = classes.includes(className) || before?.className === className;
    if (mistake === undefined && isKnown) this.history.broken("a webhook refuses only mistakes", `${name} was refused`);
  }

  ingress(name: string): IngressObject | undefined {
    return this.cluster.objects("ingresses.networking.k8s.io").find(({ metadata }) => metadata.name === name) as IngressObject | undefined;
  }

  /** Looks who has all it wants. */
  settle(): void {
    for (const wish of this.wishes.values()) {
      if (this.#settled.has(wish.name) || !isServed(wish) || wish.mistake !== undefined || this.#wrongWith(wish).length > 0) continue;
      if (this.isTriedAgain(this.#addressOf(stackOf(wish, this.around)))) continue;
      // A plan that was made before, with the Service gone, may still be on its way: calls wait for their budget.
      if (this.world.clock.monotonic() - (this.#decidedAt.get(wish.name) ?? Number.NEGATIVE_INFINITY) < planAgeMs) continue;
      this.#settled.set(wish.name, wantedRules(wish, this.around));
      this.history.tell("world", `${wish.name} has all it wants`);
    }
  }

  #addressOf(stack: string): string {
    return this.account.loadBalancers().find((lb) => lb.stack === stack)?.hostname ?? "";
  }

  /** What is wrong, were it final. */
  differences(): readonly string[] {
    this.cloud.account.time.settle();
    const wishes = [...this.wishes.values()];
    const mayHave = (wish: IngressWish) => (wish.mistake === undefined ? wantedRules(wish, this.around) : this.#asked.get(wish.name)!);
    const wanted = new Set(wishes.filter(isServed).flatMap((wish) => [...mayHave(wish)]));
    const groups = new Set(wishes.filter(isServed).map((wish) => stackOf(wish, this.around)));
    // Whose a fixed answer was nobody can tell while somebody of the group is not understood.
    const unclear = new Set(wishes.filter(({ mistake }) => mistake !== undefined).map((wish) => stackOf(wish, this.around)));
    const mayStay = (rule: string) => rule.endsWith("→ 503") && [...unclear].some((stack) => rule.startsWith(`${stack}:`));
    const surplus = this.account.rules().filter((rule) => !wanted.has(rule) && !mayStay(rule));
    const standing = this.account.loadBalancers();
    const stacks = standing.map(({ stack }) => stack);
    // Nor which of two is to stay, when a scheme was changed before.
    const isSecond = (stack: string, i: number) => stacks.indexOf(stack) !== i && !unclear.has(stack);
    const balancers = stacks.filter((stack, i) => !groups.has(stack) || isSecond(stack, i));
    // One that takes another's place is published when its targets are healthy, also when somebody makes a mistake meanwhile.
    const isFresh = ({ created }: { readonly created: number }) => this.cloud.account.time.now() - created < replacementMs;
    const replacing = standing.filter((lb, i) => stacks.some((stack, j) => stack === lb.stack && j !== i) && isFresh(lb));
    return [
      ...wishes.flatMap((wish) => this.#wrongWith(wish)),
      ...wrongCertificates(this.cloud, wishes, this.around),
      ...surplus.map((rule) => `rule ${rule} is nobody's`),
      ...balancers.map((stack) => `a load balancer of ${stack} is nobody's`),
      ...replacing.map(({ stack }) => `one load balancer of ${stack} takes another's place`),
      ...this.#touched(),
    ];
  }

  #wrongWith(wish: IngressWish): readonly string[] {
    const { name, className, isDeleted, mistake, scheme = "internal" } = wish;
    const ingress = this.ingress(name);
    if (isDeleted) return ingress === undefined ? [] : [`${name} is still there`];
    if (className === "theirs") return ingress?.metadata.finalizers?.length ? [`${name} is another controller's, and is still held`] : [];
    const stack = stackOf(wish, this.around);
    const others = (ingress?.metadata.finalizers ?? []).filter((each) => each.includes("ingress.k8s.aws/") && each !== finalizerOf(stack));
    const held = others.map((each) => `${name} is held by ${each}, which it has left`);
    if (mistake !== undefined) return [...held, ...(this.#isTold(name) ? [] : [`${name} is not told of its mistake: ${mistake}`])];
    const present = new Set(this.account.rules());
    const missing = wantedRules(wish, this.around).filter((rule) => !present.has(rule));
    const published = ingress?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
    const address = this.account.loadBalancers().find((lb) => lb.stack === stack && lb.scheme === scheme)?.hostname ?? "";
    return [
      ...held,
      ...missing.map((rule) => `${name} lacks ${rule}`),
      ...this.account.wrongTargetsOf(wish, this.addresses, this.around.missing),
      ...(published === address && published !== "" ? [] : [`${name} publishes ${published || "nothing"}, and is served at ${address}`]),
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
    return [
      ...there.map((name) => `Ingress ${name} is still there`),
      ...bindings,
      ...addedSince(this.cloud, this.#before),
      ...leftCertificates(this.cloud),
      ...this.#touched(),
    ];
  }

  #touched(): readonly string[] {
    const isTouched = !isDeepStrictEqual(this.#foreignIngress(), this.#theirs);
    return [
      ...changedSince(this.cloud, this.#before),
      ...lostCertificates(this.cloud),
      ...(isTouched ? ["another controller's Ingress is changed"] : []),
    ];
  }

  #foreignIngress(): unknown {
    return this.ingress(foreignIngress.metadata.name);
  }

  protected override look(by: string): void {
    for (const how of this.#touched()) this.broken("nothing foreign is touched", by, how);
    if (this.#settled.size === 0) return;
    const present = new Set(this.account.rules());
    const addresses = new Set(this.account.loadBalancers().map(({ hostname }) => hostname));
    for (const [name, rules] of this.#settled) {
      for (const rule of rules)
        if (!present.has(rule)) this.broken("a settled member's rules are never removed by another's mistake", by, `${name} lacks ${rule}`);
      const published = this.ingress(name)?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
      if (!addresses.has(published)) this.broken("what is published serves", by, `${name} publishes ${published || "nothing"}`);
    }
  }
}

/** What a group holds its Ingresses by. One of a single Ingress is called after it. */
const finalizerOf = (stack: string) => (stack.includes("/") ? "ingress.k8s.aws/resources" : `group.ingress.k8s.aws/${stack}`);

interface IngressObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string; readonly finalizers?: readonly string[] };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname?: string }[] } };
}
