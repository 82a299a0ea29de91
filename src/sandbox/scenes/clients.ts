/** Clients of a load balancer, as scenes have them. */
import { request } from "undici";
import { type Clock, sleep } from "../../runtime/world.ts";
import type { Objection } from "./scene.ts";

const requestEveryMs = 25;

/** What one request is answered with: its status and its text. */
export async function ask(url: string, host?: string): Promise<{ readonly status: number; readonly text: string }> {
  const { statusCode, body } = await request(url, { reset: true, headersTimeout: 10_000, ...(host && { headers: { host } }) });
  return { status: statusCode, text: await body.text() };
}

/** Who sends requests without a pause, and remembers the first that failed. */
export class Clients {
  /** Where they send them; a name that leads elsewhere is another address to them. */
  url: string;
  sent = 0;
  answered = 0;
  failure: Objection;
  readonly #host: string | undefined;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #open = new Set<Promise<void>>();

  constructor(url: string, clock: Clock, host?: string) {
    this.url = url;
    this.#clock = clock;
    this.#host = host;
  }

  async start(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const asking = this.#ask().finally(() => this.#open.delete(asking));
      this.#open.add(asking);
      await sleep(this.#clock, requestEveryMs, this.#end.signal).catch(() => {});
    }
  }

  async stop(): Promise<void> {
    this.#end.abort(new Error("the clients go"));
    await Promise.all(this.#open);
  }

  async #ask(): Promise<void> {
    const number = ++this.sent;
    try {
      const { status, text } = await ask(this.url, this.#host);
      if (status !== 200) this.failure ??= `request ${number} was answered with ${status}: ${text.slice(0, 80)}`;
      this.answered++;
    } catch (error) {
      this.failure ??= `request ${number}: ${String(error)}`;
    }
  }
}
