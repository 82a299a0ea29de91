/** A whole exchange over HTTP under one time limit. Loads nothing: a program that lives for ten milliseconds stands on it too. */
import type { HttpRequest, HttpResponse, Transport } from "./http.ts";
import { type Clock, within } from "./world.ts";

export interface WholeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AnswerLimits {
  readonly clock: Clock;
  /** From the first attempt to connect to the last byte of the body. */
  readonly limitMs: number;
  /** Names the exchange in `TimedOut`. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
  readonly maxBytes?: number;
}

/** The body is longer than anything that could have been meant. */
export class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong";
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
  }
}

/** Sends and reads to the end. A server that stalls in any phase, the body among them, ends in `TimedOut`. */
export function wholeAnswer(send: Transport, request: Omit<HttpRequest, "signal">, limits: AnswerLimits): Promise<WholeAnswer> {
  const { clock, limitMs, what, signal: outer, maxBytes = 1024 * 1024 } = limits;
  return within(clock, limitMs, what, outer, async (signal) => {
    const answer = await send({ ...request, signal });
    return { status: answer.status, headers: answer.headers, body: await bodyText(answer, maxBytes) };
  });
}

/** The whole body as text; rejects when it is longer than `maxBytes`. */
export async function bodyText(response: HttpResponse, maxBytes = 64 * 1024 * 1024): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > maxBytes) throw new AnswerTooLong(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
