/** The one path every AWS call takes: budget, write gate, time limit, error class, retry, ledger. */
import type { Urgency } from "../runtime/controller.ts";
import { type WriteGate, WriteRefused } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { HttpResponse, Transport } from "../runtime/http.ts";
import { sleep, within } from "../runtime/world.ts";
import { neverAborted, unlessAborted } from "./abort.ts";
import type { Action, AnyAction } from "./actions.ts";
import { Budget, readLimits, writeLimits } from "./budget.ts";
import { classify } from "./classify.ts";
import type { CredentialSource, Credentials } from "./credentials.ts";
import { endpointFor } from "./endpoints.ts";
import type { ErrorClass } from "./errors.ts";
import type { CallRecord, Ledger } from "./ledger.ts";
import { retryDelay } from "./retry.ts";
import { type Shape, scanBody } from "./scan.ts";
import type { Attempt, SdkClient, SdkClientClass } from "./sdk/client.ts";
import { type ServiceName, serviceFacts } from "./services.ts";
import type { AwsSettings } from "./settings.ts";

export interface CallOptions {
  /** Who wants it, for the ledger: `node lifecycle`. */
  readonly cause: string;
  readonly signal: AbortSignal;
  readonly urgency?: Urgency;
  /** What a write is done to, for the gate and the log: `i-0abc, i-0def`. */
  readonly target?: string;
  /** Carrying it out twice is the same as once, so that a lost answer may be asked for again. Reads always are. */
  readonly repeatable?: boolean;
}

export interface CallerOptions {
  readonly host: Host;
  readonly transport: Transport;
  readonly gate: WriteGate;
  readonly settings: AwsSettings;
  readonly region: string;
  readonly credentials: CredentialSource;
  readonly ledger: Ledger;
  readonly userAgent: readonly [string, string];
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

const attemptLimitMs = 30_000;

/** How fast an action may be called at this moment, and how many wait for it. */
export interface BudgetView {
  /** `ec2:DescribeInstances` */
  readonly action: string;
  /** Calls per second. */
  readonly rate: number;
  readonly waiting: number;
  /** Since AWS last throttled it; undefined when it never has. */
  readonly throttledMsAgo: number | undefined;
}

export class Caller {
  readonly #options: CallerOptions;
  readonly #clients = new Map<ServiceName, Promise<SdkClient>>();
  readonly #budgets = new Map<string, Budget>();
  /** How far AWS's clock is ahead of ours. */
  #skewMs = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Calls an action and returns what the SDK made of the answer. Rejects with `AwsError` or `WriteRefused`. */
  call<Input extends object, Output>(action: Action<Input, Output>, input: Input, options: CallOptions): Promise<Output> {
    return this.#call(action, input, options, undefined) as Promise<Output>;
  }

  /** Calls an action whose answer grows with the cluster, and reads of it only what the shape names. */
  async scan<Input extends object, T>(action: Action<Input, unknown>, input: Input, shape: Shape<T>, options: CallOptions): Promise<T> {
    let answer: T | undefined;
    await this.#call(action, input, options, async (response) => {
      answer = await scanBody(response.body, shape, this.#options.host.world.clock);
    });
    return answer!;
  }

  /** Loads the SDK's code for an action ahead of its first call. */
  async preload(action: AnyAction): Promise<void> {
    const { Client } = await action.load();
    await this.#client(action.service, Client);
  }

  /** The budgets of all actions that were called so far. */
  budgets(): readonly BudgetView[] {
    return [...this.#budgets].map(([action, { rate, waiting, throttledMsAgo }]) => ({ action, rate, waiting, throttledMsAgo }));
  }

  /** The budget of an action, for metrics and tests. */
  budget(action: AnyAction): Budget {
    const key = `${action.service}:${action.name}`;
    let budget = this.#budgets.get(key);
    if (budget === undefined) {
      budget = new Budget(this.#options.host.world, action.writes ? writeLimits : readLimits);
      this.#budgets.set(key, budget);
    }
    return budget;
  }

  async #call<Input extends object>(
    action: Action<Input, unknown>,
    input: Input,
    options: CallOptions,
    read: ((response: HttpResponse) => Promise<void>) | undefined,
  ): Promise<unknown> {
    const { host, gate, ledger, region, credentials } = this.#options;
    const { clock, random } = host.world;
    const signal = action.writes ? AbortSignal.any([options.signal, gate.lost]) : options.signal;
    const budget = this.budget(action);
    const corrected = new Set<ErrorClass>();
    const of = { service: action.service, action: action.name };
    const askedAt = clock.monotonic();
    let waitedMs = 0;
    let attempts = 0;
    const record = (outcome: CallRecord["outcome"], rest: Partial<CallRecord>) =>
      ledger.record({
        at: clock.now(),
        service: action.service,
        action: action.name,
        region,
        outcome,
        attempts,
        durationMs: clock.monotonic() - askedAt,
        waitedMs,
        cause: options.cause,
        ...rest,
      });

    for (;;) {
      waitedMs += await this.#timed(budget.take(options.urgency ?? "background", signal));
      const sentAt = clock.monotonic();
      attempts++;
      const beforeSend = () => action.writes && gate.check(writeText(action, options));
      const attempt: Attempt = { signal, beforeSend, sent: false, ...(read === undefined ? {} : { read }) };
      const signedSkewMs = this.#skewMs;
      let signedWith: Credentials | undefined;
      try {
        signedWith = await unlessAborted(signal, credentials.get(signal));
        const output = await this.#attempt(action, input, attempt);
        ledger.attempted({ ...of, durationMs: clock.monotonic() - sentAt, failure: undefined });
        record("ok", answerFacts(attempt));
        return output;
      } catch (error) {
        if (error instanceof WriteRefused || signal.aborted) {
          record(error instanceof WriteRefused ? "refused" : "cancelled", {});
          throw error;
        }
        const skewMs = this.#skewTold(attempt);
        const failure = classify(error, {
          service: action.service,
          action: action.name,
          region,
          writes: action.writes,
          sent: attempt.sent,
          // Against the offset it was signed with: another call may have corrected it since.
          ...(skewMs === undefined ? {} : { skewMs: skewMs - signedSkewMs }),
        });
        ledger.attempted({ ...of, durationMs: clock.monotonic() - sentAt, failure });
        if (failure.class === "throttled") budget.throttled(sentAt);
        if (failure.class === "expired-credentials" && signedWith !== undefined) credentials.expired(signedWith);
        if (failure.class === "clock-skew" && skewMs !== undefined) this.#skewMs = skewMs;
        const delay = retryDelay(failure, { attempts, repeatable: options.repeatable ?? !action.writes, corrected }, random);
        if (delay === undefined) {
          record(failure.class, { code: failure.code, ...answerFacts(attempt) });
          throw failure;
        }
        corrected.add(failure.class);
        host.log.v(2)?.info("retrying an AWS call", { error: failure.message, delayMs: Math.round(delay), attempts });
        waitedMs += await this.#timed(sleep(clock, delay, signal));
      }
    }
  }

  async #attempt<Input extends object>(action: Action<Input, unknown>, input: Input, attempt: Attempt): Promise<unknown> {
    const { host, region } = this.#options;
    const { Client, Command } = await action.load();
    const client = await this.#client(action.service, Client);
    const command = new Command(input);
    const log = host.log.v(4)?.with({ service: action.service, operation: action.name, region });
    if (log !== undefined) log.info("AWS request", { parameters: (await import("./sdk/client.ts")).loggableParameters(command) });
    try {
      return await within(host.world.clock, attemptLimitMs, `${action.service}:${action.name}`, attempt.signal, (limited) => {
        attempt.signal = limited;
        return client.send(command, { attempt });
      });
    } finally {
      log?.info("AWS answer", { status: attempt.answer?.status });
    }
  }

  #client(service: ServiceName, Client: SdkClientClass): Promise<SdkClient> {
    let client = this.#clients.get(service);
    if (client === undefined) {
      client = this.#newClient(service, Client);
      this.#clients.set(service, client);
    }
    return client;
  }

  async #newClient(service: ServiceName, Client: SdkClientClass): Promise<SdkClient> {
    const { host, settings, region, credentials, transport, userAgent, headers } = this.#options;
    const { clientConfig } = await import("./sdk/client.ts");
    const endpoint = endpointFor(service, region, settings, host.world.environment);
    host.log.v(2)?.info("AWS endpoint", { service, region, url: endpoint.url, source: endpoint.source });
    return new Client(
      clientConfig({
        region,
        endpoint,
        transport,
        userAgent,
        // The call has just obtained them under its own signal: the SDK gets the same ones at once.
        credentials: () => credentials.get(neverAborted),
        now: () => host.world.clock.now() + this.#skewMs,
        ...(headers === undefined ? {} : { headers }),
      }),
    );
  }

  /** How far AWS's clock is ahead of ours, by the date of its answer. */
  #skewTold({ answer }: Attempt): number | undefined {
    const served = Date.parse(answer?.headers.date ?? "");
    return Number.isNaN(served) ? undefined : served - this.#options.host.world.clock.now();
  }

  async #timed(waiting: Promise<void>): Promise<number> {
    const { clock } = this.#options.host.world;
    const since = clock.monotonic();
    await waiting;
    return clock.monotonic() - since;
  }
}

function writeText(action: AnyAction, options: CallOptions): string {
  const name = `${serviceFacts(action.service).iam}:${action.name}`;
  return options.target === undefined ? name : `${name} ${options.target}`;
}

function answerFacts({ answer }: Attempt): Partial<CallRecord> {
  if (answer === undefined) return {};
  const requestId = answer.headers["x-amzn-requestid"] ?? answer.headers["x-amz-request-id"];
  return { status: answer.status, ...(requestId === undefined ? {} : { requestId }) };
}
