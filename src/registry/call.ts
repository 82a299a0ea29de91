/** One call to AWS: attempts, time limits, and errors that say what AWS said. */

import type { Transport } from "../runtime/http.ts";
import { messageOf } from "../runtime/message-of.ts";
import { AnswerTooLong, wholeAnswer } from "../runtime/whole-answer.ts";
import { type Clock, sleep, TimedOut, type World } from "../runtime/world.ts";
import { oneLine, PluginFailure } from "./errors.ts";
import type { Platform } from "./platform.ts";

/** What calls are made with. One per run. */
export interface Caller {
  readonly world: World;
  readonly platform: Platform;
  readonly send: Transport;
  readonly maxAttempts: number;
  /** Aborts when the time of the whole run is up. */
  readonly deadline: AbortSignal;
}

export interface AwsCall {
  /** As errors name it: `ECR: GetAuthorizationToken`. */
  readonly operation: string;
  readonly url: URL;
  readonly body: string;
  /** The headers of an attempt at this time of AWS's clock; signs where the call is signed. */
  readonly headers: (nowMs: number) => Readonly<Record<string, string>>;
  /** Finds error code and message in the body of a refusal. */
  readonly readError: (body: string, headers: Readonly<Record<string, string>>) => { readonly code: string; readonly message: string };
}

export interface AwsAnswer {
  readonly body: string;
  readonly requestId: string;
  readonly attempts: number;
}

/** AWS answered, and the answer is no. */
export class AwsRefusal extends Error {
  override readonly name = "AwsRefusal";
  readonly status: number;
  readonly code: string;
  /** Server minus local time in milliseconds, from the answer's Date. */
  readonly skewMs: number;
  constructor(status: number, requestId: string, code: string, message: string, skewMs: number) {
    super(`https response error StatusCode: ${status}, RequestID: ${requestId}, api error ${code}: ${oneLine(message)}`);
    this.status = status;
    this.code = code;
    this.skewMs = skewMs;
  }
}

const attemptLimitMs = 12_000;

/** The answer to a call, retried as AWS asks for. Throws `PluginFailure` with the last cause. */
export async function callAws(call: AwsCall, caller: Caller): Promise<AwsAnswer> {
  const { world, deadline, maxAttempts } = caller;
  let skewMs = 0;
  let last: unknown;
  for (let attempt = 1; ; attempt++) {
    try {
      return { ...(await attemptOnce(call, caller, skewMs)), attempts: attempt };
    } catch (error) {
      if (deadline.aborted) throw outOfTime(call, deadline, last ?? error, attempt);
      last = error;
    }
    const corrected = skewOf(last);
    const again = corrected === undefined ? isTransient(last) : skewMs === 0;
    if (!again) throw failed(call, messageOf(last), last);
    if (attempt >= maxAttempts) throw failed(call, `exceeded maximum number of attempts, ${maxAttempts}, ${messageOf(last)}`, last);
    skewMs = corrected ?? skewMs;
    const pauseMs = corrected === undefined ? pauseBefore(attempt + 1, isThrottle(last), world) : 0;
    try {
      await sleep(world.clock, pauseMs, deadline);
    } catch {
      throw outOfTime(call, deadline, last, attempt);
    }
  }
}

/**
 * How long to wait before an attempt. When AWS throttles, everybody who boots at this moment is asking too, and only
 * spreading out over many seconds helps; a dropped connection is worth another try at once.
 */
function pauseBefore(attempt: number, throttled: boolean, world: World): number {
  const maxMs = throttled ? 4_000 * 2 ** (attempt - 1) : 150 * 2 ** (attempt - 1);
  const minMs = throttled ? 500 : 25;
  return minMs + world.random.number() * (Math.min(maxMs, 16_000) - minMs);
}

async function attemptOnce(call: AwsCall, caller: Caller, skewMs: number): Promise<Omit<AwsAnswer, "attempts">> {
  const { clock } = caller.world;
  const headers = call.headers(clock.now() + skewMs);
  const limits = { clock, limitMs: attemptLimitMs, what: "request send failed", signal: caller.deadline };
  const response = await wholeAnswer(caller.send, { method: "POST", url: call.url, headers, body: call.body }, limits);
  const requestId = response.headers["x-amzn-requestid"] ?? response.headers["x-amz-request-id"] ?? "";
  if (response.status >= 200 && response.status < 300) return { body: response.body, requestId };
  const { code, message } = call.readError(response.body, response.headers);
  throw new AwsRefusal(response.status, requestId, code, message, serverSkew(response.headers.date, clock));
}

function serverSkew(date: string | undefined, clock: Clock): number {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? 0 : time - clock.now();
}

const throttleCodes = new Set([
  "BandwidthLimitExceeded",
  "LimitExceededException",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "TooManyRequestsException",
]);
const transientCodes = new Set(["RequestTimeout", "RequestTimeoutException", "IDPCommunicationError"]);
const clockCodes = new Set([
  "RequestExpired",
  "RequestInTheFuture",
  "RequestTimeTooSkewed",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
]);

function isThrottle(error: unknown): boolean {
  return error instanceof AwsRefusal && (error.status === 429 || throttleCodes.has(error.code));
}

function isTransient(error: unknown): boolean {
  if (error instanceof PluginFailure || error instanceof AnswerTooLong) return false;
  if (!(error instanceof AwsRefusal)) return true;
  return [500, 502, 503, 504].includes(error.status) || transientCodes.has(error.code) || isThrottle(error);
}

/** The clock of a machine that has just booted can be far off: AWS then refuses the signature, and says what time it is. */
function skewOf(error: unknown): number | undefined {
  if (!(error instanceof AwsRefusal) || !clockCodes.has(error.code)) return undefined;
  return Math.abs(error.skewMs) > 4 * 60_000 ? error.skewMs : undefined;
}

function outOfTime(call: AwsCall, deadline: AbortSignal, last: unknown, attempts: number): PluginFailure {
  const limit = deadline.reason instanceof TimedOut ? `${deadline.reason.limitMs / 1000}s` : "the run";
  const seen = last === deadline.reason ? "no answer" : messageOf(last);
  return new PluginFailure(
    "DeadlineExceeded",
    `operation error ${call.operation}, the time limit of ${limit} ran out in attempt ${attempts} at ${call.url.host}: ${seen}`,
    { cause: last, hint: `Check that this node can reach ${call.url.origin}.` },
  );
}

function failed(call: AwsCall, message: string, cause: unknown): PluginFailure {
  const unreached = !(cause instanceof AwsRefusal || cause instanceof PluginFailure || cause instanceof AnswerTooLong);
  const where = unreached ? `https response error StatusCode: 0, RequestID: , POST ${call.url.origin}: ` : "";
  return new PluginFailure("CallFailed", `operation error ${call.operation}, ${where}${message}`, {
    cause,
    ...(unreached ? { hint: `Check that this node can reach ${call.url.origin}.` } : {}),
  });
}
