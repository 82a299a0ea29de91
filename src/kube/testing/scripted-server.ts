/** A server that says what a test tells it to: requests wait until the test takes and answers them. */
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { WriteGate } from "../../runtime/gate.ts";
import { openGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http.ts";
import type { Log } from "../../runtime/log.ts";
import type { World } from "../../runtime/world.ts";
import type { KubeClientOptions } from "../client.ts";
import { KubeClient } from "../client.ts";
import type { KubeConfig } from "../config/access.ts";
import type { Connect } from "../connections.ts";

/** A request that waits for its answer. */
export interface Asked {
  readonly request: HttpRequest;
  readonly query: URLSearchParams;
  /** The body sent with it, parsed. */
  readonly sent: unknown;
  json(body: unknown, status?: number, headers?: Record<string, string>): void;
  refuse(status: number, reason: string, message?: string, headers?: Record<string, string>): void;
  /** The connection breaks before an answer. */
  cut(code?: string): void;
  /** Answers 200 and keeps the body open. */
  stream(): Streaming;
}

/** An answer that is still being written. */
export interface Streaming {
  event(type: string, object: object): void;
  bytes(bytes: string | Uint8Array): void;
  close(): void;
  cut(code?: string): void;
  /** Whether the client has let go of it. */
  readonly abandoned: boolean;
}

export interface ScriptedServer {
  readonly connect: Connect;
  readonly waiting: readonly Asked[];
  /** Every request ever sent. */
  readonly requests: readonly HttpRequest[];
  /** The oldest request that waits; fails the test when there is none. */
  take(): Asked;
  readonly openStreams: number;
}

export function scriptedServer(): ScriptedServer {
  const waiting: Asked[] = [];
  const requests: HttpRequest[] = [];
  const streams = new Set<Streaming>();
  const send = (request: HttpRequest) =>
    new Promise<HttpResponse>((resolve, reject) => {
      requests.push(request);
      request.signal?.addEventListener("abort", () => reject(request.signal?.reason));
      const json = (body: unknown, status = 200, headers = {}) => resolve({ status, headers, body: once(JSON.stringify(body)) });
      waiting.push({
        request,
        query: request.url.searchParams,
        sent: request.body === undefined ? undefined : JSON.parse(String(request.body)),
        json,
        refuse: (status, reason, message = reason, headers = {}) =>
          json({ kind: "Status", status: "Failure", code: status, reason, message }, status, headers),
        cut: (code = "ECONNRESET") => reject(Object.assign(new Error(code), { code })),
        stream() {
          const { body, streaming } = streamOf(request.signal);
          streams.add(streaming);
          resolve({ status: 200, headers: {}, body });
          return streaming;
        },
      });
    });
  return {
    connect: () => ({ send, close: async () => {} }),
    waiting,
    requests,
    take() {
      const asked = waiting.shift();
      assert.ok(asked, "the client asks nothing");
      return asked;
    },
    get openStreams() {
      return [...streams].filter((stream) => !stream.abandoned).length;
    },
  };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function streamOf(signal: AbortSignal | undefined): { body: AsyncIterable<Uint8Array>; streaming: Streaming } {
  const pieces: (Uint8Array | "end" | Error)[] = [];
  let wake = () => {};
  let abandoned = false;
  const push = (piece: Uint8Array | "end" | Error) => {
    pieces.push(piece);
    wake();
  };
  signal?.addEventListener("abort", () => {
    abandoned = true;
    push(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
  });
  const body = (async function* () {
    for (;;) {
      const piece = pieces.shift();
      if (piece === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (piece === "end") return;
      else if (piece instanceof Error) throw piece;
      else yield piece;
    }
  })();
  return {
    body,
    streaming: {
      event: (type, object) => push(Buffer.from(`${JSON.stringify({ type, object })}\n`)),
      bytes: (bytes) => push(Buffer.from(bytes)),
      close: () => push("end"),
      cut: (code = "ECONNRESET") => push(Object.assign(new Error(code), { code })),
      get abandoned() {
        return abandoned;
      },
    },
  };
}

/** What was logged, line by line. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  const log: Log & { readonly lines: string[] } = {
    lines,
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    v: () => undefined,
    with: () => log,
  };
  return log;
}

export const anonymousConfig: KubeConfig = {
  server: new URL("https://api.test:6443"),
  origin: "the test",
  access: async () => ({ headers: {}, tls: {} }),
  refused() {},
  tlsFailed() {},
};

/** A client of the scripted server. */
export function scriptedClient(
  world: World,
  server: ScriptedServer,
  changes: Partial<KubeClientOptions> & { readonly log?: Log } = {},
): KubeClient {
  const host: Host = { world, log: changes.log ?? recordingLog(), metrics: new Registry() };
  const gate: WriteGate = openGate();
  return new KubeClient({ host, config: anonymousConfig, gate, userAgent: "test", connect: server.connect, ...changes });
}

/** The value of a metric with one of its labels. */
export async function metric(client: KubeClient, name: string): Promise<number> {
  const family = await client.host.metrics.getSingleMetric(name)?.get();
  return (family?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}
