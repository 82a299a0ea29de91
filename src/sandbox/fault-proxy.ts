/**
 * Stands before an apiserver and does to its clients what networks and overloaded servers do: resets, silence, half
 * lines, refusals, delay. Rules are put in and taken away while it runs.
 *
 * It ends TLS, because a proxy that passes it through cannot see lines. Tokens pass unchanged; a client that shows a
 * certificate is announced to the apiserver as the front proxy may do it.
 */
import { once } from "node:events";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as httpsRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { sleep, type World } from "../runtime/world.ts";
import type { KeyPair } from "../runtime/x509.ts";

/** What happens to a request. */
export type Fault =
  /** The connection breaks with a reset: before the request is passed on, or where an open answer stands. */
  | { readonly kind: "reset" }
  /** Nothing more comes, and the connection stays open. */
  | { readonly kind: "stall" }
  /** The next line of the answer is passed on by half, then the connection breaks. */
  | { readonly kind: "half-line" }
  | { readonly kind: "answer"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: "delay"; readonly ms: number };

/** Which requests a rule means; what is left out means all. */
export interface Match {
  readonly method?: string;
  /** Against the path with its query. */
  readonly path?: RegExp;
  readonly watch?: boolean;
}

export interface Rule extends Match {
  readonly fault: Fault;
  /** How many requests it strikes before it wears off; without limit when left out. */
  readonly times?: number;
}

/** One request that came by. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Of the answer; undefined when none was given. */
  status: number | undefined;
}

export interface FaultProxy {
  readonly url: URL;
  /** Every request since the start. */
  readonly requests: readonly SeenRequest[];
  /** Connections of clients that are open now. */
  readonly connections: number;
  /**
   * Puts a rule in force, also over answers that are being given now (watches): they are struck as they stand by `reset` and
   * `stall`, at their next line by `half-line`. Returns the function that takes the rule away.
   */
  strike(rule: Rule): () => void;
  /** Takes every rule away. What has stalled stays so. */
  heal(): void;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  readonly world: World;
  readonly target: URL;
  /** PEM of the authority that both sides trust. */
  readonly ca: string;
  readonly serving: KeyPair;
  /** What makes the apiserver believe the user that the proxy names. */
  readonly frontProxy: KeyPair;
}

/** Starts the proxy on a free port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const rules: Live[] = [];
  const requests: SeenRequest[] = [];
  const exchanges = new Set<Exchange>();
  const sockets = new Set<Socket>();
  const plain = new Agent({ ca: options.ca, keepAlive: true });
  const announcing = new Agent({ ca: options.ca, keepAlive: true, ...options.frontProxy });

  const server = createServer(
    { ...options.serving, ca: options.ca, requestCert: true, rejectUnauthorized: false },
    async (request, response) => {
      const seen: SeenRequest = { method: request.method ?? "", path: request.url ?? "", status: undefined };
      requests.push(seen);
      const exchange = new Exchange(seen, request, response, (kinds) => take(rules, seen, kinds));
      exchanges.add(exchange);
      response.once("close", () => exchanges.delete(exchange));
      if (await exchange.begin(options.world)) exchange.forward(options.target, { plain, announcing });
    },
  );
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // A client may break the connection at any moment: that is what the proxy is for.
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
    requests,
    get connections() {
      return sockets.size;
    },
    strike(rule) {
      const live: Live = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
      rules.push(live);
      for (const exchange of exchanges) exchange.reconsider();
      return () => {
        live.left = 0;
      };
    },
    heal() {
      rules.length = 0;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      plain.destroy();
      announcing.destroy();
      await closed;
    },
  };
}

interface Live {
  readonly rule: Rule;
  left: number;
}

/** The first rule in force that means this request with one of these faults; uses it up by one. */
function take(rules: readonly Live[], seen: SeenRequest, kinds: readonly Fault["kind"][]): Fault | undefined {
  const live = rules.find(({ rule, left }) => left > 0 && kinds.includes(rule.fault.kind) && means(rule, seen));
  if (live) live.left--;
  return live?.rule.fault;
}

function means(match: Match, { method, path }: SeenRequest): boolean {
  if (match.method && match.method !== method) return false;
  if (match.path && !match.path.test(path)) return false;
  return match.watch === undefined || match.watch === /[?&]watch=(1|true)\b/.test(path);
}

/** One request and its answer on their way. */
class Exchange {
  readonly #seen: SeenRequest;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #take: (kinds: readonly Fault["kind"][]) => Fault | undefined;
  #upstream: ClientRequest | undefined;
  #answering = false;
  #silent = false;

  constructor(
    seen: SeenRequest,
    request: IncomingMessage,
    response: ServerResponse,
    take: (kinds: readonly Fault["kind"][]) => Fault | undefined,
  ) {
    this.#seen = seen;
    this.#request = request;
    this.#response = response;
    this.#take = take;
  }

  /** Suffers what is in store for a new request. Resolves with whether it is to be passed on. */
  async begin(world: World): Promise<boolean> {
    const fault = this.#take(["reset", "stall", "answer", "delay"]);
    switch (fault?.kind) {
      case "reset":
        this.#reset();
        return false;
      case "stall":
        this.#silent = true;
        return false;
      case "answer":
        this.#answer(fault.status, fault.retryAfterSeconds);
        return false;
      case "delay":
        await sleep(world.clock, fault.ms);
        return !this.#response.destroyed;
      default:
        return true;
    }
  }

  forward(target: URL, agents: { readonly plain: Agent; readonly announcing: Agent }): void {
    const { headers, agent } = announced(this.#request, agents);
    const upstream = httpsRequest(new URL(this.#seen.path, target), { method: this.#seen.method, headers, agent });
    this.#upstream = upstream;
    upstream.once("response", (answer) => this.#relay(answer));
    upstream.once("error", () => this.#break());
    this.#response.once("close", () => upstream.destroy());
    this.#request.pipe(upstream);
  }

  /** Rules have changed while the answer is being given. */
  reconsider(): void {
    if (!this.#answering || this.#silent) return;
    const fault = this.#take(["reset", "stall"]);
    if (fault?.kind === "reset") this.#reset();
    else if (fault?.kind === "stall") this.#silent = true;
  }

  #relay(answer: IncomingMessage): void {
    this.#answering = true;
    this.#seen.status = answer.statusCode;
    this.#response.writeHead(answer.statusCode ?? 502, answer.headers);
    this.#response.flushHeaders();
    answer.on("data", (chunk: Buffer) => this.#pass(chunk));
    answer.once("end", () => {
      if (!this.#silent) this.#response.end();
    });
    answer.once("error", () => this.#break());
  }

  #pass(chunk: Buffer): void {
    if (this.#silent || this.#response.destroyed) return;
    if (!this.#take(["half-line"])) {
      this.#response.write(chunk);
      return;
    }
    this.#silent = true;
    const lineEnd = chunk.indexOf("\n");
    const half = Math.max(1, Math.floor((lineEnd < 0 ? chunk.length : lineEnd) / 2));
    this.#response.write(chunk.subarray(0, half), () => this.#response.destroy());
  }

  #answer(status: number, retryAfterSeconds: number | undefined): void {
    this.#seen.status = status;
    const body = { kind: "Status", apiVersion: "v1", status: "Failure", message: "fault proxy", reason: reasons[status], code: status };
    this.#response.writeHead(status, {
      "content-type": "application/json",
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    });
    this.#response.end(JSON.stringify(body));
  }

  #reset(): void {
    this.#upstream?.destroy();
    // TLS hides the socket below; only that one can be reset instead of closed.
    const socket = this.#request.socket as TLSSocket & { readonly _parent?: Socket };
    if (socket._parent) socket._parent.resetAndDestroy();
    socket.destroy();
  }

  /** The apiserver broke off: so do we, unless the client is to hear nothing. */
  #break(): void {
    if (!this.#silent) this.#response.destroy();
  }
}

const reasons: Readonly<Record<number, string>> = {
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Tokens pass unchanged. Who shows a certificate is named in the front proxy's headers, for the proxy cannot show it on. */
function announced(request: IncomingMessage, agents: { readonly plain: Agent; readonly announcing: Agent }) {
  const headers = { ...request.headers };
  for (const name of Object.keys(headers)) if (name.startsWith("x-remote-")) delete headers[name];
  delete headers.host;
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) return { headers, agent: agents.plain };
  const { CN, O = [] } = socket.getPeerCertificate().subject as { CN: string; O?: string | string[] };
  return { headers: { ...headers, "x-remote-user": CN, "x-remote-group": [O].flat() }, agent: agents.announcing };
}
