/** The verbs of the API, for built-in and custom resources alike. */
import { arch, platform } from "node:os";
import type { WriteGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { HttpResponse } from "../runtime/http.ts";
import { bodyText } from "../runtime/http.ts";
import { leases } from "./builtin.ts";
import type { KubeConfig } from "./config/access.ts";
import type { Connect } from "./connections.ts";
import { Session, socketConnections } from "./connections.ts";
import { ApiError } from "./errors.ts";
import type { Call } from "./exchange.ts";
import { Exchange } from "./exchange.ts";
import type { ListOptions, ObjectList, Page } from "./list.ts";
import { listAll, readPage } from "./list.ts";
import { asOtherIncarnation, type Patch, patchForm } from "./patch.ts";
import type { KubeObject, Resource, Stored, Target } from "./resource.ts";
import { apiVersion, nameOf, pathOf } from "./resource.ts";
import { TokenBucket } from "./token-bucket.ts";
import type { Lease } from "./types.ts";

/** How many requests a client lets through; none of its own by default, fairness is the API server's business. */
export interface RateLimit {
  readonly qps: number;
  readonly burst: number;
}

export interface KubeClientOptions {
  readonly host: Host;
  readonly config: KubeConfig;
  readonly gate: WriteGate;
  readonly userAgent: string;
  /** Limit of a whole call, retries included. */
  readonly timeoutMs?: number;
  readonly limit?: RateLimit;
  /** Its calls wait for no other's: a lease is renewed in time however many wait. */
  readonly urgent?: boolean;
  /** Sockets unless told otherwise. */
  readonly connect?: Connect;
}

/** What a derived client does differently. */
export interface Derivation {
  readonly gate?: WriteGate;
  readonly userAgent?: string;
  readonly timeoutMs?: number;
  /** Another identity, on connections of its own. */
  readonly config?: KubeConfig;
  readonly urgent?: boolean;
  /** Every derived client has a bucket of its own; left out, one of the same rate. */
  readonly limit?: RateLimit;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this incarnation of the name. */
  readonly uid?: string;
  /** Delete only if nobody changed it since. */
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  readonly gracePeriodSeconds?: number;
}

const defaultTimeoutMs = 30_000;

/** The metadata of an object in its own right, from servers that can. */
const metadataAlone = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/** A client of one API server, as one identity, behind one write gate. */
export class KubeClient {
  readonly #options: KubeClientOptions;
  readonly #session: Session;
  readonly #exchange: Exchange;
  /** Every session opened by this client and those derived from it; closed together. */
  readonly #sessions: Set<Session>;

  constructor(options: KubeClientOptions, inherited?: { readonly session: Session | undefined; readonly sessions: Set<Session> }) {
    this.#options = options;
    const { clock } = options.host.world;
    this.#session = inherited?.session ?? new Session(clock, options.config, options.connect ?? socketConnections(options.host.world));
    this.#sessions = inherited?.sessions ?? new Set();
    this.#sessions.add(this.#session);
    this.#exchange = new Exchange({
      host: options.host,
      session: this.#session,
      gate: options.gate,
      userAgent: options.userAgent,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      urgent: options.urgent ?? false,
      limiter: options.limit && new TokenBucket(clock, options.limit.qps, options.limit.burst),
    });
  }

  get config(): KubeConfig {
    return this.#options.config;
  }

  get host(): Host {
    return this.#options.host;
  }

  /** The same server, with some things done differently. */
  as(changes: Derivation): KubeClient {
    const session = changes.config === undefined ? this.#session : undefined;
    return new KubeClient({ ...this.#options, ...changes }, { session, sessions: this.#sessions });
  }

  /** Cuts every connection of this client and of those derived from it. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
  }

  get<T extends KubeObject>(of: Resource<T>, target: Target & { readonly name: string }, options: CallOptions = {}): Promise<Stored<T>> {
    return this.#json({ asked: `get ${nameOf(of, target)}`, method: "GET", path: pathOf(of, target), repeatable: true, ...options });
  }

  /** All objects of a resource, fetched page by page. */
  list<T extends KubeObject>(of: Resource<T>, options: ListOptions & CallOptions = {}): Promise<ObjectList<Stored<T>>> {
    return listAll((page) => this.page(of, page, (object) => object), options);
  }

  /** One page of a list; each object goes through `each` as it arrives, so that a whole page is never held as it was sent. */
  page<T extends KubeObject, V>(
    of: Resource<T>,
    options: ListOptions & CallOptions & { readonly continue?: string },
    each: (object: Stored<T>) => V,
  ): Promise<Page<V>> {
    const { signal, timeoutMs } = options;
    const target = { namespace: options.namespace };
    const query = {
      limit: options.limit === undefined ? undefined : String(options.limit),
      continue: options.continue,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    };
    const asked = `list ${nameOf(of, target)}`;
    const identity = { apiVersion: apiVersion(of), kind: of.kind };
    // Lists leave these out of their items; watches do not. Readers should not have to care.
    const whole = (object: object) => each({ ...identity, ...(object as Stored<T>) });
    return this.#exchange.ask({ asked, method: "GET", path: pathOf(of, target), query, repeatable: true, signal, timeoutMs }, (answer) =>
      readPage(asked, answer, this.host.world.clock, whole),
    );
  }

  /** Opens a watch. The stream ends with the signal. */
  watch<T extends KubeObject>(
    of: Resource<T>,
    query: Readonly<Record<string, string | undefined>> & { readonly namespace?: string },
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const { namespace, ...rest } = query;
    const target = { namespace };
    const call: Call = {
      asked: `watch ${nameOf(of, target)}`,
      method: "GET",
      path: pathOf(of, target),
      query: { ...rest, watch: "true" },
      repeatable: false,
    };
    return this.#exchange.open(call, signal);
  }

  create<T extends KubeObject>(
    of: Resource<T>,
    object: T,
    options: CallOptions & { readonly repeatable?: boolean } = {},
  ): Promise<Stored<T>> {
    const { namespace, name } = object.metadata ?? {};
    if (of.namespaced && !namespace) throw new TypeError(`create ${of.plural}: a namespace is needed`);
    return this.#json({
      asked: `create ${nameOf(of, { namespace, name })}`,
      method: "POST",
      path: pathOf(of, { namespace }),
      body: { apiVersion: apiVersion(of), kind: of.kind, ...object },
      repeatable: false,
      ...options,
    });
  }

  /** Posts to a subresource (`serviceaccounts/token`, `pods/eviction`) and returns what the server made of it. */
  createSubresource<B extends KubeObject>(
    of: Resource<KubeObject>,
    target: Target & { readonly name: string; readonly subresource: string },
    body: B,
    options: CallOptions & { readonly once?: boolean } = {},
  ): Promise<B> {
    return this.#json({
      asked: `create ${nameOf(of, target)}`,
      method: "POST",
      path: pathOf(of, target),
      body,
      repeatable: false,
      ...options,
    });
  }

  /** Changes an object, and gives its metadata after it: the rest of a large object would cost both sides more than the change. */
  async patch<T extends KubeObject>(
    of: Resource<T>,
    target: Target & { readonly name: string },
    patch: Patch,
    options: CallOptions = {},
  ): Promise<Stored<T>["metadata"]> {
    const { metadata } = await this.#json<Stored<T>>({
      asked: `patch ${nameOf(of, target)}`,
      method: "PATCH",
      path: pathOf(of, target),
      accept: metadataAlone,
      ...patchForm(of, patch),
      repeatable: false,
      ...options,
    }).catch(asOtherIncarnation);
    return metadata;
  }

  /** Asks for the deletion; with finalizers the object stays until they are gone. */
  async delete(of: Resource<KubeObject>, target: Target & { readonly name: string }, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, signal, timeoutMs } = options;
    const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
    await this.#json({
      asked: `delete ${nameOf(of, target)}`,
      method: "DELETE",
      path: pathOf(of, target),
      body: { apiVersion: "v1", kind: "DeleteOptions", preconditions, propagationPolicy, gracePeriodSeconds },
      repeatable: false,
      signal,
      timeoutMs,
    });
  }

  /** Replaces a Lease: the one PUT, because the roles that clusters have grant `update` on leases and not `patch`. */
  replaceLease(lease: Stored<Lease>, options: CallOptions = {}): Promise<Stored<Lease>> {
    const target = { namespace: lease.metadata.namespace, name: lease.metadata.name };
    return this.#json({
      asked: `update ${nameOf(leases, target)}`,
      method: "PUT",
      path: pathOf(leases, target),
      body: lease,
      repeatable: false,
      ...options,
    });
  }

  /** The text of a path that is no resource: `/healthz`, `/version`. */
  raw(path: string, options: CallOptions = {}): Promise<string> {
    return this.#exchange.ask({ asked: `get ${path}`, method: "GET", path, repeatable: true, ...options }, (answer) => bodyText(answer));
  }

  #json<T>(call: Call): Promise<T> {
    return this.#exchange.ask(call, async (answer) => {
      const text = await bodyText(answer);
      try {
        return JSON.parse(text) as T;
      } catch (cause) {
        throw new ApiError({
          reason: "unknown",
          status: answer.status,
          asked: call.asked,
          said: "the answer is not JSON; is this an API server?",
          cause,
        });
      }
    });
  }
}

/** The build that speaks, for the user agent. */
export interface Build {
  readonly binary: string;
  readonly version: string;
  readonly commit: string;
}

/** `fairlead/v0.1.0 (linux/amd64) kubernetes/abc1234/node-controller`. */
export function userAgent(build: Build, clientName: string): string {
  const system = { win32: "windows" }[platform() as string] ?? platform();
  const machine = { x64: "amd64", ia32: "386" }[arch() as string] ?? arch();
  return `${build.binary}/${build.version} (${system}/${machine}) kubernetes/${build.commit}/${clientName}`;
}
