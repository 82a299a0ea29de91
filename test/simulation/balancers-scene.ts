/** What the worlds of load balancers that users share have in common: a cluster, an account, and who changes what in them. */
import { bodyText, type HttpRequest, type HttpResponse, type Transport } from "../../src/runtime/http.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { actionOf, bodyOf, isRead } from "./aws-requests.ts";
import { type Chance, chanceOf } from "./chance.ts";
import { History } from "./history.ts";
import { LeaseRule } from "./lease-rule.ts";
import { Repeats } from "./repeats.ts";
import { streamedListsOf } from "./streamed-lists.ts";

/** Compiled once: they are the same in every history. */
const shapes = new Shapes();
const leaseName = "aws-load-balancer-controller-leader";

/** The longest pause before a refused call is made again, and some. */
const retriesMs = 45_000;
/** So old a plan may be when its last step is carried out. */
export const planAgeMs = 30_000;

/** The name of the load balancer that a request is about; empty where it names none. */
const loadBalancerIn = ({ body }: { readonly body?: unknown }) =>
  /\/(?:app|net)\/([^/]+)\//.exec(decodeURIComponent(typeof body === "string" ? body : ""))?.[1] ?? "";

type Asked = Pick<HttpRequest, "method" | "url" | "body">;

export abstract class BalancersScene {
  readonly world: VirtualWorld;
  readonly history: History;
  readonly chance: Chance;
  readonly cluster: EmbeddedCluster;
  readonly cloud: Cloud;
  readonly network: Network;
  /** Who leads, and that nobody else writes. */
  readonly lease: LeaseRule;
  /** Where each Service's pod answers. */
  readonly addresses = new Map<string, string>();
  /** What does not carry our mark for a while, each with whether it is as its people left it. */
  readonly unmarked = new Map<string, () => boolean>();
  /** Whether the first user may come: what is said before is no part of the history. */
  isOpen = false;
  /** When a replica last changed something, in virtual milliseconds. */
  lastChangeAt = 0;
  /** Called after everything by which a replica changed AWS. */
  onWrite: () => void = () => {};
  /** When AWS last refused to change a load balancer, by its name. */
  readonly #refused = new Map<string, number>();
  /** What several have in common each of them asks for, with longer and longer pauses. */
  readonly #refusedAgain = new Repeats(60, 60_000);
  readonly #told = new Set<string>();

  constructor(seed: number) {
    this.world = virtualWorld(seed);
    this.history = new History(this.world.clock);
    this.chance = chanceOf(this.world.random);
    this.cluster = createEmbeddedCluster({ world: this.world, historyLimit: 500, streamedLists: streamedListsOf(seed) });
    this.lease = new LeaseRule(this, leaseName);
    this.cloud = createCloud({ world: this.world, seed, shapes });
    this.network = standardNetwork(this.cloud, { clusterId: "simulated", zones: 2 });
  }

  /** Looks what must be true at every moment. */
  protected abstract look(by: string): void;

  /** Whether a change is one that may come at any time, also when everything is in order. */
  protected isRecurring(_by: string): boolean {
    return false;
  }

  /** Why a webhook would not take a write. */
  protected refusal(_request: Asked): string | undefined {
    return undefined;
  }

  /** What every process is started with, but for the gates. */
  protected get usualFlags(): readonly string[] {
    return [
      "--cluster-name=simulated",
      `--aws-region=${this.cloud.account.region}`,
      `--aws-vpc-id=${this.network.vpcId}`,
      "--metrics-bind-addr=0",
      "--health-probe-bind-addr=0",
      "--default-target-type=ip",
    ];
  }

  /** The API server as replicas reach it. */
  readonly serve: Transport = async (request) => {
    const refusal = this.refusal(request);
    if (refusal !== undefined) this.history.broken("a webhook is never in the controller's way", refusal);
    const answer = await this.cluster.send(request);
    // How many targets are healthy is told when it changes, and it changes by itself.
    const aside = request.method === "GET" || /\/(leases|events)(\/|$)|targetgroupbindings\/[^/]+\/status$/.test(request.url.pathname);
    if (!aside) this.#changed(`${request.method} ${request.url.pathname}`);
    return answer;
  };

  /** AWS as replicas reach it. */
  readonly serveAws: Transport = async (request) => {
    // What is cut off may have been carried out all the same; what is refused was not.
    let isRefused = false;
    try {
      const answer = await this.cloud.handle(request);
      isRefused = answer.status >= 400;
      return answer;
    } finally {
      if (!isRead(request)) {
        if (isRefused) this.#noteRefused(request);
        else this.#changed(actionOf(request));
        this.onWrite();
      }
    }
  };

  async say(who: string, method: string, path: string, body?: object): Promise<HttpResponse> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const request = {
      method,
      url: new URL(path, "http://cluster"),
      headers: { "content-type": type, "user-agent": who },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const refusal = who === "user" ? this.refusal(request) : undefined;
    const answer = refusal === undefined ? await this.cluster.send(request) : { status: 403, headers: {}, body: nothing() };
    await bodyText(answer);
    if (!this.isOpen && answer.status >= 300) throw new Error(`${method} ${path} → ${answer.status}`);
    const text = body === undefined ? "" : JSON.stringify(body);
    if (who !== "world") this.history.tell(who, `${method} ${path} ${text} → ${answer.status}${refusal ? `: ${refusal}` : ""}`);
    return answer;
  }

  /** Whether a change of a load balancer that AWS has refused may still be on its way: it is tried again for a while. */
  protected isTriedAgain(hostname: string): boolean {
    const at = [...this.#refused].flatMap(([name, time]) => (name !== "" && hostname.includes(name) ? [time] : []));
    return at.some((time) => this.world.clock.monotonic() - time < retriesMs);
  }

  /** Whether AWS has refused something a moment ago. */
  protected get isRefusedNow(): boolean {
    return [...this.#refused.values()].some((time) => this.world.clock.monotonic() - time < 1_000);
  }

  /** Virtual time hardly passes in such a loop, so that a history with one would not end. */
  #noteRefused(request: HttpRequest): void {
    const now = this.world.clock.monotonic();
    this.#refused.set(loadBalancerIn(request), now);
    const loop = this.#refusedAgain.note(`${actionOf(request)} ${bodyOf(request)}`, now);
    if (loop !== undefined) this.history.end("what AWS refuses is not asked for in a hot loop", `${actionOf(request)}, ${loop}`);
  }

  #changed(by: string): void {
    if (!this.isRecurring(by)) this.lastChangeAt = this.world.clock.monotonic();
    this.look(by);
    for (const [what, stands] of this.unmarked) if (!stands()) this.broken("nothing is deleted without our mark", by, `${what} is gone`);
  }

  /** Once is enough. */
  protected broken(rule: string, by: string, how: string): void {
    if (this.#told.has(how)) return;
    this.#told.add(how);
    this.history.broken(rule, `after ${by} ${how}`);
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
