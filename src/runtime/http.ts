/**
 * HTTP as both kits see it: a function from a request to an answer. Over a socket it is undici; in simulation the
 * embedded cluster and the simulated cloud are plugged in instead, and nothing above can tell.
 */
import type { Dispatcher } from "undici";
import { request as undiciRequest } from "undici";
import { Dispatchers, explainProxy } from "./dispatchers.ts";
import type { Egress } from "./egress.ts";
import { unlessAborted } from "./world.ts";

export { bodyText } from "./whole-answer.ts";

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Passes no proxy, whatever the environment says: for endpoints of the machine itself. */
  readonly direct?: boolean;
  /**
   * Called when the request is about to go onto its connection, after any wait for one; a throw cancels it. Waiting for
   * a connection takes time, and what was true when the request was handed over may not be true any more.
   */
  readonly beforeSend?: () => void;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to its end or abandoned through the request's signal, else the connection is held. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  /** Accept any certificate. Only where the user asked for it in so many words. */
  readonly insecure?: boolean;
}

export interface SocketOptions {
  readonly tls?: TlsOptions;
  readonly connectTimeoutMs: number;
  /** Proxies and certificates of the environment; without it every request goes straight and the runtime's certificates are trusted. */
  readonly egress?: Egress;
}

/** HTTP/1.1 over sockets, a connection for each request in work. Time limits are the caller's, through the request's signal. */
export function socketTransport(options: SocketOptions): { readonly send: Transport; close(): Promise<void> } {
  const dispatchers = new Dispatchers(options);
  return {
    async send(request) {
      const proxy = request.direct ? undefined : options.egress?.proxyFor(request.url);
      const dispatcher = await dispatchers.to(request.url, proxy);
      const sent = undiciRequest(request.url, {
        dispatcher: request.beforeSend === undefined ? dispatcher : dispatcher.compose(atTheLastMoment(request.beforeSend)),
        method: request.method as "GET",
        headers: request.headers,
        body: request.body ?? null,
        signal: request.signal ?? null,
      }).catch((error: unknown) => {
        throw proxy === undefined ? error : explainProxy(error, proxy, request.url);
      });
      // undici notices the signal only once there is a connection, which a silent proxy may hold back.
      const answer = await (request.signal === undefined ? sent : unlessAborted(request.signal, sent));
      return { status: answer.statusCode, headers: flatten(answer.headers), body: answer.body };
    },
    close: () => dispatchers.close(),
  };
}

function atTheLastMoment(check: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const start = handler.onRequestStart;
    handler.onRequestStart = function (controller, context) {
      check();
      start?.call(this, controller, context);
    };
    return dispatch(options, handler);
  };
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
