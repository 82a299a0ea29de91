/** Who may ask for what the proxy forwards: the API server is asked, and its answers outlive its silence for a while. */
import { Lru } from "../../kube/lru.ts";
import { hashed, ReviewAnswers, rememberedQuestions } from "../../kube/review-answers.ts";
import type { User } from "../../runtime/access.ts";
import type { AccessRequest, Decision } from "../../runtime/delegated-auth.ts";
import type { Host } from "../../runtime/host.ts";
import { matchesPath, type ProxyConfig, type ResourceAttributes, upstreamFor } from "./config.ts";

/** Asks the API server. */
export interface Reviews {
  authenticate(token: string): Promise<User | undefined>;
  authorize(user: User, verb: string, attributes: ResourceAttributes): Promise<boolean>;
}

export interface ProxyAuthOptions {
  readonly config: ProxyConfig;
  readonly reviews: Reviews;
  /** Answered by the proxy itself, to anybody; empty: there is none. */
  readonly livezPath: string;
  /** How long somebody who was allowed stays so while the API server does not answer. 0: not at all. */
  readonly staleMs: number;
}

const tokenTtlMs = 2 * 60_000;
const allowedTtlMs = 5 * 60_000;
const deniedTtlMs = 30_000;

/** The API server did not say whether the user may. */
export class AccessUnknown extends Error {
  override readonly name = "AccessUnknown";
}

export class ProxyAuth {
  readonly #host: Host;
  readonly #options: ProxyAuthOptions;
  readonly #users: ReviewAnswers<User | undefined>;
  readonly #verdicts: ReviewAnswers<boolean>;
  /** By token: until when it may be used in a way it was allowed to. */
  readonly #allowed = new Lru<Map<string, number>>(rememberedQuestions);

  constructor(host: Host, options: ProxyAuthOptions) {
    this.#host = host;
    this.#options = options;
    const { clock } = host.world;
    this.#users = new ReviewAnswers(clock, () => tokenTtlMs);
    this.#verdicts = new ReviewAnswers(clock, (allowed) => (allowed ? allowedTtlMs : deniedTtlMs));
  }

  /** Rejects with `AccessUnknown` when the API server cannot be asked what a user may do. */
  async decide({ method, path, headers }: AccessRequest): Promise<Decision> {
    const { config, livezPath } = this.#options;
    const isOpen = (livezPath !== "" && path === livezPath) || config.excludePaths.some((pattern) => matchesPath(pattern, path));
    if (isOpen) return { kind: "allowed", user: undefined };
    const token = bearerToken(headers.authorization);
    if (token === undefined) return { kind: "unauthorized" };
    // Nothing is forwarded from such a path; that is said to those only who may ask for something.
    const attributes = (upstreamFor(config, path) ?? config.upstreams[0]!).attributes;
    return this.#review(token, verbOf(method), attributes);
  }

  async #review(token: string, verb: string, attributes: ResourceAttributes): Promise<Decision> {
    const { reviews } = this.#options;
    // Only digests are kept: a dump of the memory gives no token away.
    const identity = hashed(token);
    const use = `${verb} ${JSON.stringify(attributes)}`;
    let user: User | undefined;
    try {
      user = await this.#users.get(identity, () => reviews.authenticate(token));
    } catch (error) {
      this.#host.log.error("cannot check a bearer token", { error });
      return this.#stale(identity, use) ?? { kind: "unauthorized" };
    }
    if (user === undefined) {
      this.#allowed.delete(identity);
      return { kind: "unauthorized" };
    }
    const known = user;
    let allowed: boolean;
    try {
      allowed = await this.#verdicts.get(hashed(JSON.stringify([user, verb, attributes])), () =>
        reviews.authorize(known, verb, attributes),
      );
    } catch (cause) {
      const stale = this.#stale(identity, use);
      if (stale !== undefined) return stale;
      throw new AccessUnknown("cannot check access", { cause });
    }
    if (!allowed) {
      this.#allowed.get(identity)?.delete(use);
      return { kind: "forbidden", user };
    }
    this.#allowed.getOr(identity, () => new Map()).set(use, this.#host.world.clock.monotonic() + this.#options.staleMs);
    return { kind: "allowed", user };
  }

  #stale(identity: string, use: string): Decision | undefined {
    const until = this.#allowed.get(identity)?.get(use);
    return until !== undefined && this.#host.world.clock.monotonic() < until ? { kind: "allowed", user: undefined } : undefined;
  }
}

const verbs: Readonly<Record<string, string>> = { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** Methods that mean nothing to Kubernetes have an empty verb, which nobody is allowed by name. */
function verbOf(method: string): string {
  return verbs[method] ?? "";
}

function bearerToken(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? /^bearer +(\S+) *$/i.exec(header)?.[1] : undefined;
}
