/** The nodes' world with Services in it: who may have what, and what must be true of it at every moment. */
import type { Service } from "../../src/kube/types.ts";
import { type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { certificate } from "../bed/service-world.ts";
import { NodesScene } from "./nodes-scene.ts";
import { Account, type Holding } from "./services-account.ts";
import { isHeld } from "./services-finalizers.ts";
import { Before, type Lent, plantForeign } from "./services-foreign.ts";
import { OtherController } from "./services-other-controller.ts";
import { refusedType } from "./services-strangers.ts";
import { judge, type Mode, type Surroundings, type Verdict } from "./services-wanted.ts";

const modes: Readonly<Record<Mode, string>> = {
  "": "",
  "managed groups": "NLBSecurityGroupMode=Managed",
  "shared probe": "ClusterServiceLoadBalancerHealthProbeMode=Shared",
};
const finalizer = "service.kubernetes.io/load-balancer-cleanup";
const excluded = "node.kubernetes.io/exclude-from-external-load-balancers";
const nameAnnotation = "service.beta.kubernetes.io/aws-load-balancer-name";

/** Longer than a reconcile takes that AWS throttles. */
const takenBackMs = 5 * 60_000;

export type Stored = Service & { readonly metadata: { readonly name: string; readonly uid: string } };

/** A Service that had all it wants, and was not touched by its user since. */
interface Settled {
  readonly loadBalancer: string;
  readonly rules: readonly string[];
}

export class ServicesScene extends NodesScene {
  readonly account: Account;
  readonly lent: Lent;
  /** Another VPC, whose subnets and machines carry the same cluster's tag. */
  readonly elsewhere: Network;
  /** When a replica last changed something of a load balancer, in virtual milliseconds. */
  lastChangeAt = 0;
  /** What does not carry our mark for a while, each with whether it is as its people left it. */
  readonly unmarked = new Map<string, () => boolean>();
  readonly others = new OtherController(this);
  readonly #around: Surroundings;
  readonly #before: Before;
  readonly #settled = new Map<string, Settled>();
  /** Until when a replica may still be carrying out what a user has taken back, by Service. */
  readonly #takenBack = new Map<string, number>();
  /** UIDs of the Services that a load balancer of a name may be of. */
  readonly #namedBy = new Map<string, Set<string>>();
  readonly #told = new Set<string>();

  constructor(seed: number) {
    const [mode, settings] = Object.entries(modes)[seed % 3]! as [Mode, string];
    super(seed, "cloud-node,cloud-node-lifecycle,route,service-lb-controller", settings);
    this.cloud.controls.change({ certificates: [certificate] });
    this.account = new Account(this.cloud);
    this.lent = plantForeign(this.cloud, this.network);
    this.elsewhere = standardNetwork(this.cloud, { clusterId: this.network.clusterId, zones: 2 });
    // Its routes are another's.
    this.cloud.account.ec2.routeTables.update(this.elsewhere.privateTableId, { tags: {} });
    this.#before = new Before(this.cloud);
    this.kubelets.set("steady", {
      name: "steady",
      instanceId: this.witness.id,
      by: "provider ID",
      labels: { pool: "a" },
      steady: true,
      silentUntil: 0,
    });
    this.#around = {
      account: this.account,
      network: this.network,
      mode,
      cidrOf: (subnet) => this.cloud.account.ec2.subnets.get(subnet)?.cidr ?? "",
      rulesPerGroup: this.cloud.account.settings().quotas.rulesPerSecurityGroup,
      isTold: (uid, text) => this.#isTold(uid, text),
      targets: (labels, takesOldTypes) => this.#targets(labels, takesOldTypes),
    };
    this.history.tell("world", `has ${mode || "no special settings"}`);
  }

  /** Network interfaces of the machine that is always there. */
  steadyInterfaces(): readonly string[] {
    return this.witness.interfaceIds;
  }

  services(): readonly Stored[] {
    return this.cluster.objects("services") as never;
  }

  /** A user is about to do something to a Service: it may lose what it had from now on. */
  async touch(name: string, method: string, path: string, body?: object): Promise<void> {
    const before = this.#settled.get(name)?.rules.toSorted().join();
    this.#settled.delete(name);
    await this.say("user", method, path, body, "merge");
    const service = this.services().find(({ metadata }) => metadata.name === name);
    const chosen = service?.metadata.annotations?.[nameAnnotation];
    if (service === undefined) return;
    this.others.edited(service);
    // What stands was not made for this edit, though it is all that it asks for: what the edit before it asked for may yet be done.
    const { wrong, rules } = judge(service, this.#around);
    if (wrong.length === 0 && rules.toSorted().join() !== before) this.#takenBack.set(name, this.world.clock.monotonic() + takenBackMs);
    const { uid } = service.metadata;
    for (const each of [`a${uid.replaceAll("-", "")}`.slice(0, 32), chosen])
      if (each) this.#namedBy.set(each, (this.#namedBy.get(each) ?? new Set()).add(uid));
  }

  /** Looks who has all it wants. Only those always have nodes whose nodes include the steady one. */
  settle(): void {
    for (const service of this.services()) {
      const { name } = service.metadata;
      if (this.#settled.has(name) || (this.#takenBack.get(name) ?? 0) > this.world.clock.monotonic()) continue;
      const { kind, wrong, rules } = judge(service, this.#around);
      const labels = service.metadata.annotations?.["service.beta.kubernetes.io/aws-load-balancer-target-node-labels"];
      if (kind !== "wanted" || wrong.length > 0 || !this.#targets(labels).must.includes(this.witness.id)) continue;
      const { classics, networks } = this.account.of(name);
      this.#settled.set(name, { loadBalancer: [...classics, ...networks][0]!.name, rules });
      this.history.tell("world", `${name} has all it wants`);
    }
  }

  override differences(): string[] {
    return [...super.differences(), ...this.serviceDifferences()];
  }

  /** What is wrong with Services and what stands for them, were it final. */
  serviceDifferences(): string[] {
    this.cloud.account.time.settle();
    const judged = new Map(this.services().map((service) => [service.metadata.name, judge(service, this.#around)]));
    const wrong = [...judged.values()].flatMap((verdict) => verdict.wrong);
    const guarded = this.services()
      .filter(({ metadata, spec }) => spec?.type !== "LoadBalancer" || metadata.deletionTimestamp !== undefined)
      .filter(({ metadata }) => metadata.finalizers?.includes(finalizer))
      .map(({ metadata }) => `${metadata.name} is guarded and has nothing to guard`);
    const left = this.account
      .holdings(this.network.nodeGroupId)
      .filter((holding) => this.#isSurplus(holding, judged))
      .map(({ text }) => `${text} is left`);
    return [...wrong, ...guarded, ...left, ...this.#tooWide(judged), ...this.#before.touched()];
  }

  /** Where clients come in whom no Service lets in any more. */
  #tooWide(judged: ReadonlyMap<string, Verdict>): string[] {
    const asked = new Set([...judged.values()].flatMap((verdict) => verdict.asked));
    const isSettled = (loadBalancer: string) =>
      this.services().every(({ metadata: { name, uid } }) => {
        return !this.#namedBy.get(loadBalancer)?.has(uid) || judged.get(name)?.kind === "wanted";
      });
    return this.account
      .clientRules(this.network.nodeGroupId)
      .filter(({ text, loadBalancer }) => this.#namedBy.has(loadBalancer) && !asked.has(text) && isSettled(loadBalancer))
      .map(({ text, loadBalancer }) => `node rule ${text} of ${loadBalancer} lets in what no Service wants`);
  }

  /** What all the Services that ever were have left. Those that only another program holds have nothing any more. */
  leftovers(): string[] {
    this.cloud.account.time.settle();
    const there = this.services().filter((service) => !isHeld(service) || service.metadata.finalizers?.includes(finalizer));
    return [...there.map(({ metadata }) => `Service ${metadata.name} is still there`), ...this.#before.differences()];
  }

  protected override changed(by: string, done: boolean, input = ""): void {
    const stranger = by.startsWith("Register") ? this.#strangerIn(input) : undefined;
    if (stranger) this.#broken("no machine of another VPC is offered as a target", by, `${stranger} was in the batch`);
    if (done && /^\w+$/.test(by) && !/Route$|^ModifyInstanceAttribute$/.test(by)) this.lastChangeAt = this.world.clock.monotonic();
    for (const how of this.others.damage()) this.#broken("another controller's Service is left alone", by, how);
    for (const [what, stands] of this.unmarked) if (!stands()) this.#broken("nothing is deleted without our mark", by, `${what} is gone`);
    for (const how of this.#before.touched()) this.#broken("nothing foreign is touched", by, how);
    for (const holding of this.account.holdings(this.network.nodeGroupId)) {
      if (this.#isUnguarded(holding))
        this.#broken("a finalizer goes only after all it guards", by, `${holding.text} has no Service with a finalizer`);
    }
    const present = this.account.letsIn(this.network.nodeGroupId);
    for (const [name, { loadBalancer, rules }] of this.#settled) {
      for (const rule of rules)
        if (!present.has(rule)) this.#broken("no rule another Service needs is removed", by, `${name} lacks ${rule}`);
      const { classics, networks } = this.account.of(name);
      if (![...classics, ...networks].some((lb) => lb.name === loadBalancer))
        this.#broken("what is wanted stays", by, `${name} has lost ${loadBalancer}`);
    }
  }

  /** Once is enough. */
  #broken(rule: string, by: string, how: string): void {
    if (this.#told.has(how)) return;
    this.#told.add(how);
    this.history.broken(rule, `after ${by} ${how}`);
  }

  #isTold(uid: string, text: string): boolean {
    const events = this.cluster.objects("events") as unknown as { message: string; involvedObject: { uid: string } }[];
    return events.some(({ message, involvedObject }) => involvedObject.uid === uid && message.includes(text));
  }

  /** Whether it is somebody's, but of no Service that is there and fits. */
  #isNobodys({ service, loadBalancer = "" }: Holding, fits: (owner: Stored) => boolean | undefined): boolean {
    const uids = this.#namedBy.get(loadBalancer);
    if (service === undefined && uids === undefined) return false;
    return !this.services().some((owner) => {
      const { name, uid } = owner.metadata;
      return (service === undefined || name === service) && (uids === undefined || uids.has(uid)) && fits(owner);
    });
  }

  #isUnguarded(holding: Holding): boolean {
    return this.#isNobodys(holding, ({ metadata }) => metadata.finalizers?.includes(finalizer));
  }

  /** Groups of a removal that was called off stay guarded until the Service goes: nobody is in them. */
  #isSurplus(holding: Holding, judged: ReadonlyMap<string, Verdict>): boolean {
    return this.#isNobodys(holding, ({ metadata: { name } }) => {
      const verdict = judged.get(name);
      if (verdict === undefined || verdict.kind === "nobody's") return false;
      if (verdict.kind !== "wanted" || holding.loadBalancer === undefined || holding.text.startsWith("security group")) return true;
      const { classics, networks } = this.account.of(name);
      return [...classics, ...networks].some((lb) => lb.name === holding.loadBalancer);
    });
  }

  #targets(labels: string | undefined, takesOldTypes = false): { must: readonly string[]; may: readonly string[] } {
    const [key = "", value = ""] = labels?.split("=") ?? [];
    const nodes = this.nodes().filter(({ metadata, spec }) => {
      const fits = labels === undefined || (metadata.labels?.[key] !== undefined && (value === "" || metadata.labels[key] === value));
      const leaving = spec?.taints?.some((taint) => taint.key === "ToBeDeletedByClusterAutoscaler");
      return fits && !leaving && metadata.labels?.[excluded] === undefined && metadata.deletionTimestamp === undefined;
    });
    const ids = [...new Set(nodes.flatMap(({ spec }) => spec?.providerID?.split("/").at(-1) ?? []))];
    const here = ids.flatMap((id) => this.instances.get(id) ?? []).filter(({ vpcId }) => vpcId === this.network.vpcId);
    const must = here.filter(({ state, type }) => state === "running" && (takesOldTypes || type !== refusedType));
    const may = here.filter(({ state, type }) => ["pending", "stopping", "stopped"].includes(state) || type === refusedType);
    return { must: must.map(({ id }) => id), may: may.map(({ id }) => id) };
  }

  #strangerIn(input: string): string | undefined {
    const ids = input.match(/\bi-[0-9a-f]{17}\b/g) ?? [];
    return ids.find((id) => this.instances.get(id)?.vpcId === this.elsewhere.vpcId);
  }
}
