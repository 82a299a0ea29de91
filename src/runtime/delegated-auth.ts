/** Who is asking, and may they: answered by certificates here and by the API server for the rest. */
import { createHash, type X509Certificate } from "node:crypto";
import type { AccessReviews, User } from "./access.ts";
import { certifiedClient, parseAuthorities } from "./client-certificate.ts";
import type { Host } from "./host.ts";
import { counter } from "./metrics.ts";
import { within } from "./world.ts";

/** A proxy in front (the API aggregator) that is trusted to name the user in headers. */
export interface RequestHeaderTrust {
  /** The authorities, in PEM, that issue the proxy's client certificate. */
  readonly authorities: string;
  /** Common names the proxy may have; any when empty. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export interface AuthOptions {
  /** Left out: no token can be checked, so those who bring one are anonymous. */
  readonly authentication?: Pick<AccessReviews, "authenticate">;
  /** Left out: everything but the open paths is forbidden. */
  readonly authorization?: Pick<AccessReviews, "authorize">;
  /** Authorities of client certificates, in PEM. Asked each time, because they change while the process runs. */
  clientAuthorities?(): string | undefined;
  requestHeader?(): RequestHeaderTrust | undefined;
  /** Exact paths, or prefixes that end in `*`. */
  readonly alwaysAllowPaths: readonly string[];
  readonly tokenTtlMs: number;
  readonly allowedTtlMs: number;
  readonly deniedTtlMs: number;
}

export interface AccessRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly certificate: X509Certificate | undefined;
}

export type Decision =
  | { readonly kind: "allowed"; readonly user: User | undefined }
  /** Credentials were brought and are not good. */
  | { readonly kind: "unauthorized" }
  | { readonly kind: "forbidden"; readonly user: User }
  /** The API server could not be asked. */
  | { readonly kind: "unavailable" };

const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
const reviewLimitMs = 10_000;

/** Decides on requests to what this process serves. */
export class DelegatedAuth {
  readonly #host: Host;
  readonly #options: AuthOptions;
  readonly #tokens: TimedCache<User | undefined>;
  readonly #verdicts: TimedCache<boolean>;
  #authorities: { readonly pem: string; readonly parsed: readonly X509Certificate[] }[] = [];

  constructor(host: Host, options: AuthOptions) {
    this.#host = host;
    this.#options = options;
    const monotonic = () => host.world.clock.monotonic();
    this.#tokens = new TimedCache(monotonic, () => options.tokenTtlMs);
    this.#verdicts = new TimedCache(monotonic, (allowed) => (allowed ? options.allowedTtlMs : options.deniedTtlMs));
  }

  /** Authenticates, then authorises. Open paths need neither: a probe must not depend on the API server. */
  async decide(request: AccessRequest): Promise<Decision> {
    if (isOpen(request.path, this.#options.alwaysAllowPaths)) return { kind: "allowed", user: undefined };
    let user: User | undefined;
    try {
      user = await this.#authenticate(request);
    } catch (error) {
      this.#count("authentication_attempts", "error");
      this.#host.log.error("cannot check a bearer token", { error });
      return { kind: "unavailable" };
    }
    this.#count("authentication_attempts", user === undefined ? "failure" : "success");
    if (user === undefined) return { kind: "unauthorized" };
    try {
      const allowed = await this.#authorize(user, request);
      this.#count("authorization_attempts_total", allowed ? "allowed" : "denied");
      return allowed ? { kind: "allowed", user } : { kind: "forbidden", user };
    } catch (error) {
      this.#count("authorization_attempts_total", "error");
      this.#host.log.error("cannot check access", { user: user.name, path: request.path, error });
      return { kind: "unavailable" };
    }
  }

  /** Request header, client certificate, bearer token, nobody, in this order; undefined for credentials that are no good. */
  async #authenticate(request: AccessRequest): Promise<User | undefined> {
    const certified = this.#proxiedUser(request) ?? this.#certifiedUser(request.certificate);
    if (certified !== undefined && certified !== "unknown") return authenticated(certified);
    const token = bearerToken(request.headers.authorization);
    if (token !== undefined && this.#options.authentication !== undefined) {
      const user = await this.#userOf(token, this.#options.authentication);
      return user === undefined ? undefined : authenticated(user);
    }
    return certified === "unknown" ? undefined : anonymous;
  }

  #proxiedUser({ certificate, headers }: AccessRequest): User | undefined {
    const trust = this.#options.requestHeader?.();
    if (trust === undefined || certificate === undefined) return undefined;
    const proxy = this.#certified(certificate, trust.authorities);
    if (proxy === undefined) return undefined;
    if (trust.allowedNames.length > 0 && !trust.allowedNames.includes(proxy.commonName)) return undefined;
    // As Go reads them: the first value of the first header that has one. An empty name is nobody's.
    const first = (names: readonly string[]) => names.map((header) => values(headers, header)[0]).find((value) => value);
    const name = first(trust.usernameHeaders);
    if (name === undefined) return undefined;
    const uid = first(trust.uidHeaders);
    return {
      name,
      groups: trust.groupHeaders.flatMap((header) => values(headers, header)).filter((group) => group !== ""),
      extra: extrasOf(headers, trust.extraHeaderPrefixes),
      ...(uid !== undefined && { uid }),
    };
  }

  /** `unknown`: a certificate was brought, there are authorities to check it by, and none of them has issued it. */
  #certifiedUser(certificate: X509Certificate | undefined): User | "unknown" | undefined {
    const pem = this.#options.clientAuthorities?.();
    if (pem === undefined || certificate === undefined) return undefined;
    const client = this.#certified(certificate, pem);
    return client === undefined ? "unknown" : { name: client.commonName, groups: client.organizations };
  }

  #certified(certificate: X509Certificate, pem: string) {
    let known = this.#authorities.find((entry) => entry.pem === pem);
    if (known === undefined) {
      known = { pem, parsed: parseAuthorities(pem) };
      // Two bundles are in use at a time; the rest are earlier versions of them.
      this.#authorities = [known, ...this.#authorities].slice(0, 4);
    }
    return certifiedClient(certificate, known.parsed, this.#host.world.clock.now());
  }

  #userOf(token: string, reviews: Pick<AccessReviews, "authenticate">): Promise<User | undefined> {
    // Only a digest is kept: a dump of the cache gives no token away.
    const key = createHash("sha256").update(token).digest("base64");
    return this.#tokens.recall(key, () => this.#limited("review a token", (signal) => reviews.authenticate(token, signal)));
  }

  async #authorize(user: User, { method, path }: AccessRequest): Promise<boolean> {
    if (user.groups.includes("system:masters")) return true;
    const reviews = this.#options.authorization;
    if (reviews === undefined) return false;
    const verb = method.toLowerCase();
    const key = JSON.stringify([user, path, verb]);
    return this.#verdicts.recall(key, () => this.#limited("review access", (signal) => reviews.authorize(user, path, verb, signal)));
  }

  /** Not bound to the request at hand: others may wait for the same answer. */
  #limited<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(this.#host.world.clock, reviewLimitMs, what, undefined, work);
  }

  #count(name: "authentication_attempts" | "authorization_attempts_total", result: string): void {
    const help = name === "authentication_attempts" ? "Counter of authenticated attempts." : "Counter of authorization attempts.";
    counter(this.#host.metrics, { name, help, labels: ["result"] }).inc({ result });
  }
}

function isOpen(path: string, open: readonly string[]): boolean {
  return open.some((entry) => (entry.endsWith("*") ? path.startsWith(entry.slice(0, -1)) : path === entry));
}

function authenticated(user: User): User {
  return user.groups.includes("system:authenticated") ? user : { ...user, groups: [...user.groups, "system:authenticated"] };
}

function bearerToken(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? /^bearer +(\S+) *$/i.exec(header)?.[1] : undefined;
}

function values(headers: AccessRequest["headers"], name: string): readonly string[] {
  const value = headers[name.toLowerCase()];
  if (value === undefined || value === "") return [];
  return typeof value === "string" ? [value] : value;
}

function extrasOf(headers: AccessRequest["headers"], prefixes: readonly string[]): Record<string, readonly string[]> {
  // Built from pairs, because the names are the client's: `__proto__` is one like any other.
  const extras = prefixes
    .map((prefix) => prefix.toLowerCase())
    .flatMap((prefix) =>
      Object.keys(headers)
        .filter((name) => name.startsWith(prefix))
        .map((name) => [unescaped(name.slice(prefix.length)), values(headers, name)] as const),
    );
  return Object.fromEntries(extras);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Answers remembered for a while. Those who ask for the same at the same time wait for one answer; failures are not kept. */
class TimedCache<V> {
  readonly #entries = new Map<string, { readonly answer: Promise<V>; until: number }>();
  readonly #now: () => number;
  readonly #ttlMs: (value: V) => number;

  constructor(now: () => number, ttlMs: (value: V) => number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
  }

  recall(key: string, ask: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key);
    if (known !== undefined && this.#now() < known.until) return known.answer;
    const entry = { answer: ask(), until: Number.POSITIVE_INFINITY };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // Bounded, oldest first: anybody may come with ever new tokens.
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= 1_000) break;
      this.#entries.delete(oldest);
    }
    entry.answer.then(
      (value) => {
        entry.until = this.#now() + this.#ttlMs(value);
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry.answer;
  }
}
