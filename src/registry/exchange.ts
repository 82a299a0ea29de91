/** A whole exchange over HTTP: the request out, the answer in as text, within the signal's patience. */
import type { HttpRequest, HttpResponse, Transport } from "../runtime/http.ts";
import { PluginFailure } from "./errors.ts";

export interface Exchanged {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const largestAnswer = 1024 * 1024;

/**
 * Sends and reads to the end. Rejects with the signal's reason the moment it aborts: not every transport keeps its word
 * about the signal in every phase, and the time limits must hold whatever it does.
 */
export function exchange(send: Transport, request: HttpRequest & { readonly signal: AbortSignal }): Promise<Exchanged> {
  const { signal } = request;
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    send(request)
      .then(async (response) => ({ status: response.status, headers: response.headers, body: await textOf(response) }))
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", giveUp));
  });
}

async function textOf(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > largestAnswer) throw new PluginFailure("BadAnswer", `the answer is longer than ${largestAnswer} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
