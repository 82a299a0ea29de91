/**
 * A conversation with a Kubernetes API over bare HTTP, written down as it goes. The same conversation is held with the
 * embedded API and with a real one, and the two transcripts must be equal.
 */
import assert from "node:assert/strict";
import { bodyText, type HttpRequest, type Transport } from "../../../src/runtime/http.ts";

export type Value = null | boolean | number | string | Value[] | { [name: string]: Value };
export type Fields = { [name: string]: Value };

/** What one exchange with the API is about, and how it goes. */
export interface Exchange {
  readonly name: string;
  run(talk: Talk): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly body: Fields;
}

/** An API that exchanges can be held with. */
export interface Partner {
  readonly send: Transport;
  readonly server: URL;
  /** Makes the API forget the past. */
  compact(): Promise<void>;
}

type Body = string | Uint8Array | undefined;

const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export class Talk {
  /** A namespace of this exchange's own; also the stem of its cluster-wide names. */
  readonly namespace: string;
  readonly transcript: { said: string; status: number; answer: Value }[] = [];
  readonly #partner: Partner;

  constructor(partner: Partner, namespace: string) {
    this.#partner = partner;
    this.namespace = namespace;
  }

  /** `configmaps` → `/api/v1/namespaces/<ours>/configmaps`. */
  in(plural: string, group = "v1"): string {
    return `${group === "v1" ? "/api" : "/apis"}/${group}/namespaces/${this.namespace}/${plural}`;
  }

  get(path: string, status = 200, headers: Record<string, string> = {}): Promise<Reply> {
    return this.#say("GET", path, undefined, headers, status);
  }

  table(path: string): Promise<Reply> {
    return this.get(path, 200, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  }

  post(path: string, body: Value, status = 201): Promise<Reply> {
    return this.#say("POST", path, JSON.stringify(body), { "content-type": "application/json" }, status);
  }

  put(path: string, body: Value, status = 200): Promise<Reply> {
    return this.#say("PUT", path, JSON.stringify(body), { "content-type": "application/json" }, status);
  }

  patch(kind: keyof typeof patchTypes, path: string, body: Value, status = 200): Promise<Reply> {
    return this.#say("PATCH", path, JSON.stringify(body), { "content-type": patchTypes[kind] }, status);
  }

  delete(path: string, body?: Value, status = 200): Promise<Reply> {
    const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    return this.#say("DELETE", path, body === undefined ? undefined : JSON.stringify(body), headers, status);
  }

  /** A request in every detail; for what no well-behaved client sends. */
  raw(method: string, path: string, body: Body, headers: Record<string, string>, status: number): Promise<Reply> {
    return this.#say(method, path, body, headers, status);
  }

  /** Opens a watch; events are written down when they are read. */
  async watch(path: string, headers: Record<string, string> = {}): Promise<Watching> {
    const cut = new AbortController();
    const answer = await this.#partner.send(this.#request("GET", path, undefined, headers, cut.signal));
    assert.equal(answer.status, 200, `watch ${path}`);
    return new Watching(answer.body, cut, (event) => this.transcript.push({ said: `watch ${path}`, status: 200, answer: event }));
  }

  compact(): Promise<void> {
    return this.#partner.compact();
  }

  /** Asks until the answer is as wanted, without a word in the transcript. */
  async until(path: string, isReady: (reply: Reply) => boolean): Promise<void> {
    const deadline = performance.now() + 10_000;
    for (;;) {
      const reply = await this.#ask("GET", path, undefined, {});
      if (isReady(reply)) return;
      assert.ok(performance.now() < deadline, `GET ${path} is still ${reply.status}: ${JSON.stringify(reply.body)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Makes the namespace; said to the API, not to the transcript. */
  async prepare(): Promise<void> {
    await this.#ask("POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: this.namespace } }), {
      "content-type": "application/json",
    });
  }

  async #say(method: string, path: string, body: Body, headers: Record<string, string>, status: number): Promise<Reply> {
    const reply = await this.#ask(method, path, body, headers);
    this.transcript.push({ said: `${method} ${path}`, status: reply.status, answer: reply.body });
    assert.equal(reply.status, status, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    return reply;
  }

  async #ask(method: string, path: string, body: Body, headers: Record<string, string>): Promise<Reply> {
    const answer = await this.#partner.send(this.#request(method, path, body, headers));
    const text = await bodyText(answer);
    return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : { text } };
  }

  #request(method: string, path: string, body: Body, headers: Record<string, string>, signal?: AbortSignal): HttpRequest {
    return {
      method,
      url: new URL(path, this.#partner.server),
      headers: { "user-agent": "exchange/1", ...headers },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    };
  }
}

/** An open watch. */
export class Watching {
  readonly #lines: AsyncIterator<string>;
  readonly #cut: AbortController;
  readonly #note: (event: Fields) => void;

  constructor(body: AsyncIterable<Uint8Array>, cut: AbortController, note: (event: Fields) => void) {
    this.#lines = linesOf(body)[Symbol.asyncIterator]();
    this.#cut = cut;
    this.#note = note;
  }

  /** The next events, this many. */
  async read(count: number): Promise<Fields[]> {
    const events: Fields[] = [];
    while (events.length < count) {
      const { done, value } = await this.#lines.next();
      assert.ok(!done, `the watch ended after ${events.length} of ${count} events`);
      const event = JSON.parse(value) as Fields;
      this.#note(event);
      events.push(event);
    }
    return events;
  }

  /** Reads to the end and says how many events came. */
  async drain(): Promise<number> {
    for (let count = 0; ; count++) {
      const { done, value } = await this.#lines.next();
      if (done) return count;
      this.#note(JSON.parse(value) as Fields);
    }
  }

  close(): void {
    this.#cut.abort(new Error("the exchange is over"));
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part !== "") yield part;
  }
}

/** The part of a reply that names its object's version. */
export function versionOf(reply: Reply | Fields): string {
  const body = ("body" in reply ? reply.body : reply) as Fields;
  return (body.metadata as { resourceVersion: string }).resourceVersion;
}

export function uidOf(reply: Reply): string {
  return (reply.body.metadata as { uid: string }).uid;
}
