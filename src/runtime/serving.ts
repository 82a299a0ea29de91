/**
 * The HTTPS server of a process: health for everybody, the rest for those the API server lets in.
 * It speaks HTTP/1.1 only: what it serves is asked for by probes and scrapers, one request at a time.
 */
import { constants } from "node:crypto";
import { once } from "node:events";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { User } from "./access.ts";
import { type Certificates, certificateFor } from "./certificates.ts";
import { ConnectionLimits } from "./connection-limits.ts";
import type { AccessRequest, Decision } from "./delegated-auth.ts";
import type { Host } from "./host.ts";
import type { Log } from "./log.ts";
import { type RouteAnswer, type RouteTable, statusAnswer, text } from "./routes.ts";
import type { NodeTlsOptions } from "./tls-options.ts";

export interface ServingOptions {
  /** An unspecified address means all interfaces, both families. */
  readonly bindAddress: string;
  readonly port: number;
  /** SO_REUSEPORT: several processes share the port. */
  readonly reusePort?: boolean;
  readonly certificates: Certificates;
  readonly tls: NodeTlsOptions;
  readonly routes: RouteTable;
  decide(request: AccessRequest): Promise<Decision>;
  /** The most bytes that a request may bring; 64 KiB when left out. */
  readonly bodyLimit?: number;
}

/** A server that listens. */
export interface Serving {
  readonly port: number;
  /** Takes no new request; requests under way may finish until the signal aborts. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** The port cannot be bound. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

const defaultBodyLimit = 64 * 1024;
/** How long a connection may be silent while the server stops: enough for a handshake, and less than a process has for its end. */
const silenceMs = 500;
/** Probes and scrapers are few. */
const connectionLimits = { total: 512, perPeer: 128 };

/** Binds the port and serves. Rejects with `CannotListen` when the port is taken or not allowed. */
export async function serve(host: Host, options: ServingOptions): Promise<Serving> {
  const log = host.log.with({ logger: "serving" });
  const stopping = new AbortController();
  const limits = new ConnectionLimits(host.world.clock, log, connectionLimits);
  let contexts = contextsOf(options);
  const server = createServer(
    {
      ...contexts.fallbackOptions,
      SNICallback: (name, answer) => answer(null, contexts.forName(name)),
      requestCert: true,
      // Certificates are judged by the authorities of Kubernetes, per request: see client-certificate.ts.
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: 5_000,
      headersTimeout: 5_000,
      requestTimeout: 30_000,
      // Of those who are known; all others are let go after their answer.
      keepAliveTimeout: 90_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 32 * 1024,
    },
    (request, response) => void handle(log, options, limits, request, response, stopping.signal),
  );
  server.on("connection", (socket) => limits.admit(socket));
  server.on("clientError", (_error, socket) => socket.destroy());
  const port = await listen(server, options);
  options.certificates.watch(() => {
    contexts = contextsOf(options);
    server.setSecureContext(contexts.fallbackOptions);
  }, stopping.signal);
  log.info("serving securely", { address: options.bindAddress, port });
  return {
    port,
    stop: async (deadline) => {
      // The server waits long for those that say nothing. Who has just come is about to ask, and is answered.
      const cancel = host.world.clock.after(deadline.aborted ? 0 : silenceMs, () => limits.closeIdle());
      await stopServer(server, stopping, deadline);
      cancel();
    },
  };
}

/** Takes no new connection, asks what is being answered to end, and cuts what is left at the deadline. */
export async function stopServer(server: HttpServer | Server, stopping: AbortController, deadline: AbortSignal): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  stopping.abort(new Error("the server is stopping"));
  const cut = () => server.closeAllConnections();
  if (deadline.aborted) cut();
  deadline.addEventListener("abort", cut, { once: true });
  await closed;
  deadline.removeEventListener("abort", cut);
}

/** Fallback and named certificates, ready for handshakes. */
function contextsOf({ certificates, tls }: ServingOptions) {
  // Without tickets every connection shows its certificate anew: a resumed session would keep the leaf and forget the chain.
  const common = { ...tls, secureOptions: constants.SSL_OP_NO_TICKET };
  const contexts = new Map<object, SecureContext>();
  const named = certificates.named();
  for (const certificate of named)
    contexts.set(certificate, createSecureContext({ ...common, cert: certificate.cert, key: certificate.key }));
  const { cert, key } = certificates.fallback();
  const fallbackOptions = { ...common, cert, key };
  const fallback = createSecureContext(fallbackOptions);
  return {
    fallbackOptions,
    forName: (name: string) => contexts.get(certificateFor(named, name) ?? {}) ?? fallback,
  };
}

async function listen(server: Server, options: ServingOptions): Promise<number> {
  const { bindAddress, port } = options;
  const unspecified = bindAddress === "0.0.0.0" || bindAddress === "::" || bindAddress === "";
  const attempt = async (address: string) => {
    const listening = once(server, "listening");
    server.listen({ host: address, port, ...(options.reusePort && { reusePort: true }) });
    await listening;
    return (server.address() as AddressInfo).port;
  };
  try {
    // One socket on :: takes both families; machines without IPv6 have only the other.
    return await attempt(unspecified ? "::" : bindAddress).catch((error: NodeJS.ErrnoException) => {
      if (unspecified && (error.code === "EAFNOSUPPORT" || error.code === "EADDRNOTAVAIL")) return attempt("0.0.0.0");
      throw error;
    });
  } catch (cause) {
    throw new CannotListen(`failed to create listener: failed to listen on ${bindAddress}:${port}: ${whyNot(cause)}`, { cause });
  }
}

function whyNot(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return "address already in use; stop what listens there or choose another --secure-port";
  if (code === "EACCES")
    return "permission denied; ports below 1024 need the capability CAP_NET_BIND_SERVICE, choose another --secure-port";
  if (code === "EADDRNOTAVAIL") return "this machine has no such address; correct --bind-address";
  return message;
}

async function handle(
  log: Log,
  options: ServingOptions,
  limits: ConnectionLimits,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  const answered = limits.request(request.socket);
  response.on("close", () => {
    answered();
    gone.abort(new Error("the client went away"));
  });
  try {
    const known = (user: User | undefined) => {
      if (isAuthenticated(user)) limits.authenticated(request.socket);
      else response.shouldKeepAlive = false;
    };
    const answer = await answerTo(options, request, known, AbortSignal.any([gone.signal, stopping]));
    await send(response, answer, request.method === "HEAD");
  } catch (error) {
    if (gone.signal.aborted) return;
    log.error("cannot answer a request", { method: request.method, path: pathOf(request), error });
    if (response.headersSent) response.destroy();
    else await send(response, text(500, "internal error; see the log\n"), false).catch(() => {});
  }
}

/** `known` is told whom the request is from, before it is answered. */
async function answerTo(
  options: ServingOptions,
  request: IncomingMessage,
  known: (user: User | undefined) => void,
  signal: AbortSignal,
): Promise<RouteAnswer> {
  const method = request.method ?? "GET";
  const url = URL.parse(request.url ?? "/", "https://localhost");
  if (url === null) return text(400, "the request's path is malformed\n");
  const path = url.pathname;
  const decision = await options.decide({
    method,
    path,
    headers: { ...request.headersDistinct, authorization: request.headers.authorization },
    certificate: (request.socket as TLSSocket).getPeerX509Certificate?.(),
  });
  known("user" in decision ? decision.user : undefined);
  if (decision.kind !== "allowed") return refusalFor(decision, method, path);
  const route = options.routes.find(path);
  if (route === undefined) return text(404, "404 page not found\n");
  const methods = route.methods ?? ["GET"];
  if (!methods.includes(method === "HEAD" ? "GET" : method)) {
    return { ...text(405, `${method} is not supported here; use ${methods.join(" or ")}\n`), headers: { allow: methods.join(", ") } };
  }
  const { bodyLimit = defaultBodyLimit } = options;
  const body = await bodyOf(request, bodyLimit);
  if (body === undefined) return text(413, `the request's body is longer than ${bodyLimit} bytes\n`);
  return route.answer({ method, path, query: url.searchParams, body, user: decision.user, signal });
}

function isAuthenticated(user: User | undefined): boolean {
  return user !== undefined && !user.groups.includes("system:unauthenticated");
}

function refusalFor(decision: Exclude<Decision, { kind: "allowed" }>, method: string, path: string): RouteAnswer {
  switch (decision.kind) {
    case "unauthorized":
      return statusAnswer(401, "Unauthorized", "Unauthorized");
    case "forbidden":
      return statusAnswer(
        403,
        "Forbidden",
        `forbidden: User ${JSON.stringify(decision.user.name)} cannot ${method.toLowerCase()} path ${JSON.stringify(path)}`,
      );
    case "unavailable":
      return statusAnswer(503, "ServiceUnavailable", "the API server could not be asked whether this is allowed; try again");
  }
}

async function bodyOf(request: IncomingMessage, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function send(response: ServerResponse, answer: RouteAnswer, headOnly: boolean): Promise<void> {
  response.writeHead(answer.status, { "x-content-type-options": "nosniff", "cache-control": "no-cache, private", ...answer.headers });
  if (headOnly) response.end();
  else if (typeof answer.body === "string" || answer.body instanceof Uint8Array) response.end(answer.body);
  else await pipeline(Readable.from(answer.body), response);
}

/** Without the query, which may hold anything. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").replace(/\?.*/s, "");
}
