/** What goes over the wire between clients and the simulated cloud: every call, who made it and how it ended. */
import type { HttpRequest, HttpResponse, Transport } from "../runtime/http.ts";
import type { Clock } from "../runtime/world.ts";

export interface CloudCall {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `DescribeInstances`. */
  readonly action: string;
  /** The access key of who asked. */
  readonly by: string;
  /** `ok`, an AWS error code, or `cut` when the connection was. */
  readonly result: string;
  readonly tookMs: number;
}

/** Calls of one action. */
export interface Tally {
  readonly action: string;
  readonly calls: number;
  readonly throttled: number;
  readonly failed: number;
}

const kept = 200;

export class CallLog {
  readonly #clock: Clock;
  #recent: CloudCall[] = [];
  readonly #tallies = new Map<string, Map<string, Tally>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same transport, with every call noted. */
  over(transport: Transport): Transport {
    return async (request) => {
      const [at, began] = [this.#clock.now(), this.#clock.monotonic()];
      const note = (result: string) =>
        this.#note({ at, action: actionOf(request), by: keyOf(request), result, tookMs: this.#clock.monotonic() - began });
      try {
        const answer = await transport(request);
        if (answer.status < 400) {
          note("ok");
          return answer;
        }
        const body = await textOf(answer);
        note(codeOf(body) ?? String(answer.status));
        return { ...answer, body: once(body) };
      } catch (error) {
        note("cut");
        throw error;
      }
    };
  }

  /** The newest last. */
  recent(): readonly CloudCall[] {
    return this.#recent;
  }

  /** Calls by action, of this access key. */
  tallies(by: string): readonly Tally[] {
    return [...(this.#tallies.get(by)?.values() ?? [])];
  }

  #note(call: CloudCall): void {
    this.#recent = [...this.#recent.slice(1 - kept), call];
    const mine = this.#tallies.get(call.by) ?? new Map<string, Tally>();
    this.#tallies.set(call.by, mine);
    const { calls, throttled, failed } = mine.get(call.action) ?? { calls: 0, throttled: 0, failed: 0 };
    const isThrottled = isThrottle(call.result);
    const isFailed = call.result !== "ok" && !isThrottled && !isAbsence(call.result);
    mine.set(call.action, {
      action: call.action,
      calls: calls + 1,
      throttled: throttled + Number(isThrottled),
      failed: failed + Number(isFailed),
    });
  }
}

/** Whether the result says: slower. */
export function isThrottle(result: string): boolean {
  return result === "RequestLimitExceeded" || /^Throttling/.test(result);
}

/** Whether the result says that what was asked for is not there: an answer like any other. */
export function isAbsence(result: string): boolean {
  return /NotFound$/.test(result);
}

function actionOf(request: HttpRequest): string {
  const target = request.headers["x-amz-target"];
  if (target !== undefined) return target.slice(target.lastIndexOf(".") + 1);
  const form = request.method === "GET" ? request.url.search : Buffer.from(request.body ?? "").toString("utf8");
  return /(?:^|[?&])Action=(\w+)/.exec(form)?.[1] ?? request.url.pathname;
}

function keyOf(request: HttpRequest): string {
  return /Credential=([^/]+)\//.exec(request.headers.authorization ?? "")?.[1] ?? "nobody";
}

/** The code in an error answer, in either form AWS has. */
function codeOf(body: string): string | undefined {
  return /<Code>([^<]+)<\/Code>/.exec(body)?.[1] ?? /"__type"\s*:\s*"(?:[^"#]*#)?([^"]+)"/.exec(body)?.[1];
}

async function textOf(answer: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
