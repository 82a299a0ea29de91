/**
 * Serves the page on this machine only. The URL that is printed has a token that is good for one browser: it is exchanged
 * for a cookie, which everything else needs. Another site's page that knows the port gets nothing: not by its own scripts
 * (Origin), not by a name that it lets point to this machine (Host), not by framing or by links (cookie, policy). Browsers
 * send a cookie to every port of a host, also to servers of other users of the machine: so the page is in a folder that
 * cannot be guessed, and the cookie is for this folder only.
 */
import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf } from "../runtime/message-of.ts";
import { redact } from "../runtime/redact.ts";
import type { Random } from "../runtime/world.ts";

/** A file of the page, from memory. */
export interface PageFile {
  readonly type: string;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly value: unknown;
}

export interface DashboardServingOptions {
  readonly random: Random;
  /** 0 picks a free one. */
  readonly port: number;
  /** By their path in the folder of the page, from `/` on. */
  readonly files: Readonly<Record<string, PageFile>>;
  /** What a page that has just connected is sent, and then whatever happens. Ends with the signal. */
  stream(signal: AbortSignal): AsyncIterable<{ readonly event: string; readonly value: unknown }>;
  /** Answers what the page asks for, by path and query or body. */
  ask(path: string, input: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer>;
}

export interface DashboardServing {
  /** An address with a token that is good once; the one given out before is good no longer. */
  address(): string;
  close(): Promise<void>;
}

/** Nothing from elsewhere, nothing inline, nobody around it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const always = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** A manifest of some hundred objects. */
const maxBody = 1024 * 1024;
const cookieName = "fairlead";

export async function serveDashboard(options: DashboardServingOptions): Promise<DashboardServing> {
  const { random, files } = options;
  const session = tokenOf(random);
  const folder = `/${tokenOf(random)}`;
  let token: string | undefined;
  let hosts: ReadonlySet<string> = new Set();
  const closing = new AbortController();

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    if (url === null || !hosts.has(request.headers.host ?? "")) return refuse(response, 421, "this is the dashboard of this machine only");
    const { origin, "sec-fetch-site": site = "none" } = request.headers;
    const isForeign = (origin !== undefined && origin !== `http://${request.headers.host}`) || (site !== "none" && site !== "same-origin");
    // A link on another page may open the page itself, and nothing else.
    if (isForeign && !(request.method === "GET" && url.pathname === "/" && origin === undefined)) {
      return refuse(response, 403, "only the dashboard's own page may ask");
    }
    const given = url.searchParams.get("token");
    if (request.method === "GET" && url.pathname === "/" && given !== null) {
      if (token === undefined || !isSame(given, token)) {
        return refuse(response, 403, "this address was used already: it is good once. Go back to its tab, or start the dashboard again.");
      }
      token = undefined;
      const cookie = `${cookieName}=${session}; HttpOnly; SameSite=Strict; Path=${folder}/`;
      // A browser that was sent here by another site keeps the cookie to itself until the next step is one of our own.
      const next = isForeign ? { refresh: `0; url=${folder}/`, "content-type": "text/html" } : { location: `${folder}/` };
      response.writeHead(isForeign ? 200 : 303, { ...always, ...next, "set-cookie": cookie }).end();
      return;
    }
    const [, place = "", ...rest] = url.pathname.split("/");
    const path = `/${rest.join("/")}`;
    if (!isSame(`/${place}`, folder) || !isSame(cookieOf(request), session)) {
      return refuse(response, 401, "open the address that the dashboard has printed");
    }
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    if (request.method === "GET" && file !== undefined) {
      response.writeHead(200, { ...always, "content-type": file.type }).end(file.body);
      return;
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the page was closed")));
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    if (request.method === "GET" && path === "/stream") return await stream(response, options.stream(signal), signal);
    if (request.method !== "GET" && request.method !== "POST") return refuse(response, 405, "GET and POST are answered");
    const input = request.method === "GET" ? Object.fromEntries(url.searchParams) : await bodyOf(request);
    if (input === undefined) return refuse(response, 413, `at most ${maxBody} bytes, as JSON of texts`);
    const { status, value } = await options.ask(path, input, signal);
    response.writeHead(status, { ...always, "content-type": "application/json" }).end(JSON.stringify(value));
  };

  const server = createServer({ headersTimeout: 5_000, requestTimeout: 30_000, maxHeaderSize: 16 * 1024 }, (request, response) => {
    respond(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, redact(messageOf(error)));
    });
  });
  server.maxConnections = 64;
  const listening = once(server, "listening");
  server.listen(options.port, "127.0.0.1");
  await listening.catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === "EADDRINUSE" ? "another program listens there; choose another port, or 0 for any free one" : cause.message;
    throw new Error(`cannot listen on 127.0.0.1:${options.port}: ${why}`, { cause });
  });
  // A connection that cannot be accepted is the one who connects' trouble.
  server.on("error", () => {});
  const { port } = server.address() as AddressInfo;
  hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
  return {
    address() {
      token = tokenOf(random);
      return `http://127.0.0.1:${port}/?token=${token}`;
    },
    async close() {
      closing.abort(new Error("the dashboard ends"));
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function tokenOf(random: Random): string {
  return Buffer.from(random.bytes(24)).toString("base64url");
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { ...always, "content-type": "text/plain; charset=utf-8" }).end(`${why}\n`);
}

/** Takes the same time wherever they differ. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cookieOf({ headers }: IncomingMessage): string {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([name]) => name === cookieName)?.[1] ?? "";
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, string>> | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // What is too long is answered too: the rest is read and thrown away.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const isTexts = typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");
    return isTexts ? (value as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}

/** Server-sent events. A page that does not read is waited for, until it is closed: what it missed is told as one change. */
async function stream(
  response: ServerResponse,
  messages: AsyncIterable<{ readonly event: string; readonly value: unknown }>,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, { ...always, "content-type": "text/event-stream" });
  try {
    for await (const { event, value } of messages) {
      if (!response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`)) await once(response, "drain", { signal });
    }
  } catch {
    // The page was closed; nobody is left to tell.
  }
  response.end();
}
