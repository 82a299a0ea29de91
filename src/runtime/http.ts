/**
 * HTTP as both kits see it: a function from a request to an answer. Over a socket it is undici; in simulation the
 * embedded cluster and the simulated cloud are plugged in instead, and nothing above can tell.
 */
import type { Dispatcher } from "undici";
import { Agent, request as undiciRequest } from "undici";

export { bodyText } from "./whole-answer.ts";

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
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
}

/** HTTP/1.1 over sockets, a connection for each request in work. Time limits are the caller's, through the request's signal. */
export function socketTransport(options: SocketOptions): { readonly send: Transport; close(): Promise<void> } {
  const { tls } = options;
  const agent = new Agent({
    connections: null,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: options.connectTimeoutMs,
      ca: tls?.ca,
      cert: tls?.cert,
      key: tls?.key,
      servername: tls?.serverName,
      rejectUnauthorized: !tls?.insecure,
    },
  });
  return {
    async send(request) {
      const answer = await undiciRequest(request.url, {
        dispatcher: request.beforeSend === undefined ? agent : agent.compose(atTheLastMoment(request.beforeSend)),
        method: request.method as "GET",
        headers: request.headers,
        body: request.body ?? null,
        signal: request.signal ?? null,
      });
      return { status: answer.statusCode, headers: flatten(answer.headers), body: answer.body };
    },
    close: () => agent.destroy(),
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
