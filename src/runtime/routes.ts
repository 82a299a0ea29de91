/** What a process serves over HTTP: a table of paths, to which any part may add its own. */
import type { User } from "./access.ts";

export interface RouteRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly user: User | undefined;
  /** Aborts when the client goes away or the server stops. */
  readonly signal: AbortSignal;
}

export interface RouteAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

export interface Route {
  readonly path: string;
  /** `GET` when left out; `HEAD` follows from it. */
  readonly methods?: readonly string[];
  answer(request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

/** Routes by exact path. */
export class RouteTable {
  readonly #routes = new Map<string, Route>();

  /** Adds routes; a path can be served once only. */
  add(...routes: readonly Route[]): void {
    for (const route of routes) {
      if (this.#routes.has(route.path)) throw new Error(`path ${route.path} is served already`);
      this.#routes.set(route.path, route);
    }
  }

  find(path: string): Route | undefined {
    return this.#routes.get(path);
  }

  /** All paths under a prefix, for index pages. */
  paths(prefix = ""): readonly string[] {
    return [...this.#routes.keys()].filter((path) => path.startsWith(prefix)).sort();
  }
}

/** A plain-text answer. */
export function text(status: number, body: string): RouteAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

/** A JSON answer. */
export function json(status: number, value: unknown): RouteAnswer {
  return { status, headers: { "content-type": "application/json" }, body: `${JSON.stringify(value)}\n` };
}

/** A refusal in the form that Kubernetes clients read. */
export function statusAnswer(code: number, reason: string, message: string): RouteAnswer {
  return json(code, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, details: {}, code });
}
