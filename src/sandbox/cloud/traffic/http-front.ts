/** HTTP in front of targets: carries out what `route` decides, over sockets. */
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { applicationCookies, type Choice } from "./choice.ts";
import type { LoopbackAddress } from "./pods.ts";
import { failure, type Reply } from "./replies.ts";
import { type Headers, type Request, urlOf } from "./request.ts";

/** What a front asks for every request. */
export interface HttpRouting {
  /** Where the request goes, or what is answered; undefined drops the connection. */
  decide(request: Request): Reply | Onward | undefined;
  /** Headers that answers get besides their own; an empty value takes one away. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly now: () => number;
}

/** A request on its way to a target. */
export interface Onward {
  readonly to: LoopbackAddress | undefined;
  readonly secure: boolean;
  readonly request: Request;
  /** Undefined where nothing binds a client to a target. */
  readonly choice: Choice | undefined;
}

/** Serves one request. */
export function serveHttp(routing: HttpRouting, incoming: IncomingMessage, response: ServerResponse): void {
  const decision = routing.decide(requestOf(incoming));
  if (decision === undefined) {
    incoming.socket.destroy();
    return;
  }
  if ("status" in decision) {
    incoming.resume();
    reply(decision, routing, response);
    return;
  }
  if (decision.to === undefined) {
    incoming.resume();
    reply(failure(502, "Bad Gateway"), routing, response);
    return;
  }
  forward(decision, decision.to, routing, incoming, response);
}

function requestOf(incoming: IncomingMessage): Request {
  const [path = "/", ...query] = (incoming.url ?? "/").split("?");
  const headers: Record<string, string[]> = {};
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2) {
    const name = incoming.rawHeaders[index]!.toLowerCase();
    headers[name] = [...(headers[name] ?? []), incoming.rawHeaders[index + 1]!];
  }
  return {
    method: incoming.method ?? "GET",
    path,
    query: query.join("?"),
    headers,
    sourceIp: (incoming.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
    sourcePort: incoming.socket.remotePort ?? 0,
  };
}

function reply({ status, headers, body, cookies }: Reply, routing: HttpRouting, response: ServerResponse): void {
  const own = { server: "awselb/2.0", ...headers, "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(status, outgoing(own, routing, cookies));
  response.end(body);
}

function forward(
  { secure, request, choice }: Onward,
  to: LoopbackAddress,
  routing: HttpRouting,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = Object.fromEntries(
    Object.entries(withoutHops(request.headers)).map(([name, values]) => [name, values.length === 1 ? values[0] : [...values]]),
  );
  const options = { host: to.host, port: to.port, method: request.method, path: urlOf(request), headers, agent: false as const };
  // Load balancers do not verify the certificates of their targets.
  const outbound = secure ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
  outbound.once("response", (answer) => {
    const given = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOPS.includes(name) && name !== "set-cookie"));
    const own = answer.headers["set-cookie"] ?? [];
    const bound = choice === undefined ? [] : [...choice.cookies, ...applicationCookies(choice, own, routing.now())];
    response.writeHead(answer.statusCode ?? 502, outgoing(given as Record<string, string>, routing, [...own, ...bound]));
    answer.pipe(response);
    answer.once("error", () => response.destroy());
  });
  outbound.once("error", () => {
    if (response.headersSent) response.destroy();
    else reply(failure(502, "Bad Gateway"), routing, response);
  });
  // A client that goes away takes its request with it.
  response.once("close", () => outbound.destroy());
  incoming.pipe(outbound);
}

function outgoing(
  own: Readonly<Record<string, string>>,
  { responseHeaders }: HttpRouting,
  cookies: readonly string[],
): Record<string, string | string[]> {
  const set = Object.entries(responseHeaders).filter(([, value]) => value !== "");
  const taken = new Set(Object.entries(responseHeaders).flatMap(([name, value]) => (value === "" ? [name] : [])));
  const kept = Object.entries(own).filter(([name]) => !taken.has(name));
  return { ...Object.fromEntries([...kept, ...set]), ...(cookies.length > 0 && { "set-cookie": [...cookies] }) };
}

/** Headers that speak of one connection, and not of the message. */
const HOPS = ["connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection"];

function withoutHops(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOPS.includes(name)));
}
