/** The front door: finds the service and the operation of a request, checks who asks, lets faults strike, runs it. */

import { requestedRegion } from "../../aws/global-services.ts";
import type { HttpRequest } from "../../runtime/http.ts";
import { sleep, type World } from "../../runtime/world.ts";
import { judge } from "./access/policy.ts";
import type { Principal } from "./access/principals.ts";
import { checkedResources } from "./access/resources.ts";
import { amzDate, type SignatureClaim, signatureClaim } from "./access/signature.ts";
import type { Account } from "./account.ts";
import type { Controls } from "./controls/controls.ts";
import type { Effect } from "./controls/faults.ts";
import { ConnectionCut, ServiceError } from "./errors.ts";
import { parseForm } from "./protocol/form.ts";
import { requestText } from "./protocol/http.ts";
import { type Answer, type Incoming, json, query } from "./protocol/protocol.ts";
import type { OperationShape, Shapes } from "./protocol/shapes.ts";
import type { Call, Operation, Service } from "./service.ts";

interface GatewayOptions {
  readonly world: World;
  readonly account: Account;
  readonly controls: Controls;
  readonly services: readonly Service[];
  readonly shapes: Shapes;
}

/** An operation about to run. */
interface Run {
  readonly service: Service;
  readonly operation: Operation;
  readonly shape: OperationShape;
  readonly call: Call;
  readonly input: Readonly<Record<string, unknown>>;
  readonly effects: readonly Effect[];
  /** Whether its answer will reach the caller. */
  readonly answered: boolean;
}

/** A request on its way through: what is known of it so far. */
interface RoutedRequest {
  readonly request: HttpRequest;
  readonly service: Service;
  readonly incoming: Incoming;
  readonly version: string;
  readonly action: string;
  readonly requestId: string;
}

/** Serves the requests of one cloud. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #operations: ReadonlyMap<Service, ReadonlyMap<string, Operation>>;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#operations = new Map(
      options.services.map((service) => [service, new Map(service.operations.map((operation) => [operation.schema[2], operation]))]),
    );
  }

  /** The caller may give up waiting; a request that was sent is carried out all the same, as on AWS. */
  serve(request: HttpRequest): Promise<Answer> {
    const { signal } = request;
    const answer = this.#serve(request);
    if (signal === undefined) return answer;
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(signal.reason);
      if (signal.aborted) giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
    });
  }

  async #serve(request: HttpRequest): Promise<Answer> {
    const { account, controls, world } = this.#options;
    const requestId = account.ids.uuid();
    const routed = this.#route(request, requestId);
    if (routed === undefined) return this.#answerUnknownService(request, requestId);
    const { minMs, maxMs } = controls.settings().latency;
    // Half of the time passes on the way there, half on the way back.
    const halfway = maxMs > 0 ? (minMs + (maxMs - minMs) * controls.chance()) / 2 : 0;
    if (halfway > 0) await sleep(world.clock, halfway);
    let result = "ok";
    try {
      const answer = await this.#carryOut(routed);
      if (halfway > 0) await sleep(world.clock, halfway);
      return answer;
    } catch (error) {
      result = error instanceof ServiceError || error instanceof ConnectionCut ? error.code : "InternalError";
      if (error instanceof ConnectionCut) throw error;
      return routed.service.protocol.fail(this.#asServiceError(error, routed), requestId);
    } finally {
      controls.journal.count(routed.action, result);
    }
  }

  async #carryOut(routed: RoutedRequest): Promise<Answer> {
    const { account, controls, shapes } = this.#options;
    const { service, incoming, action, requestId } = routed;
    const operation = this.#operations.get(service)?.get(incoming.action);
    if (operation === undefined) {
      account.log.error("the simulated cloud does not model this action: answering InvalidAction", { action });
      throw service.protocol.refusals.unknownAction(incoming.action, routed.version);
    }
    if (!controls.buckets.admit(controls.settings().buckets, action)) throw service.protocol.refusals.throttled();
    const { principal, region } = this.#authenticate(routed);
    const shape = shapes.operation(operation.schema);
    const input = service.protocol.read(shape, incoming);
    const effects = controls.faults.strike(action, input);
    for (const effect of effects) await this.#applyFault(effect, routed);
    this.#authorise(routed, { principal, region }, operation, input);
    const lost = effects.some((effect) => effect.kind === "lose-answer");
    const run = { service, operation, shape, call: { action, requestId, principal, region }, input, effects, answered: !lost };
    const answer = operation.wait ? await this.#wait(run, operation.wait, routed.request.signal) : this.#run(run);
    if (lost) throw new ConnectionCut();
    for (const effect of effects) if (effect.kind === "fail-afterwards") throw injected(effect);
    return answer;
  }

  /** Before the operation: what a fault does instead of it, or first. */
  async #applyFault(effect: Effect, routed: RoutedRequest): Promise<void> {
    switch (effect.kind) {
      case "fail":
        throw injected(effect);
      case "throttle":
        throw routed.service.protocol.refusals.throttled();
      case "cut":
        throw new ConnectionCut();
      case "delay":
        return sleep(this.#options.world.clock, effect.ms);
    }
  }

  #run(run: Run): Answer {
    const { account } = this.#options;
    const { service, operation, shape, call, input, effects } = run;
    account.time.settle();
    try {
      const output = operation.mutates
        ? account.store.attempt(() => operation.run(input, call))
        : account.store.asOf(this.#momentSeen(effects), () => operation.run(input, call));
      const answer = service.protocol.write(shape, output, call.requestId);
      this.#record(run, "ok");
      return answer;
    } catch (error) {
      this.#record(run, error instanceof ServiceError ? error.code : "InternalError");
      throw error;
    }
  }

  async #wait(run: Run, wait: NonNullable<Operation["wait"]>, signal: AbortSignal | undefined): Promise<Answer> {
    const { service, shape, call, input } = run;
    try {
      const output = await wait(input, { clock: this.#options.world.clock, signal });
      this.#record(run, "ok");
      return service.protocol.write(shape, output, call.requestId);
    } catch (error) {
      if (signal?.aborted) throw new ConnectionCut();
      this.#record(run, error instanceof ServiceError ? error.code : "InternalError");
      throw error;
    }
  }

  #record({ operation, call, input, answered }: Run, result: string): void {
    if (!operation.mutates) return;
    const { account, controls } = this.#options;
    const { action, requestId, principal } = call;
    controls.journal.record({ time: account.time.now(), action, requestId, principal: principal.arn, input, result, answered });
  }

  /** The moment a read sees: now, unless a fault or eventual consistency shows it an older one. */
  #momentSeen(effects: readonly Effect[]): number | undefined {
    const { account, controls } = this.#options;
    const { staleness } = controls.settings();
    let age = Math.max(0, ...effects.map((effect) => (effect.kind === "stale" ? effect.ageMs : 0)));
    if (staleness.maxAgeMs > 0 && controls.chance() < staleness.probability) age = Math.max(age, controls.chance() * staleness.maxAgeMs);
    return age === 0 ? undefined : account.time.now() - age;
  }

  #authenticate(routed: RoutedRequest): Pick<Call, "principal" | "region"> {
    const { account, controls } = this.#options;
    const { service, request } = routed;
    const { refusals } = service.protocol;
    const claim = signatureClaim(request);
    if (claim === undefined) {
      if (service.unsigned?.includes(routed.incoming.action)) return { principal: ANONYMOUS, region: account.region };
      throw refusals.unsigned();
    }
    if (claim.service !== service.signingName) throw refusals.wrongService(claim.service, service.signingName);
    if (!this.#inRegion(service, claim)) throw refusals.wrongRegion(claim.region);
    const limit = controls.settings().maxSkewMs;
    const sent = amzDate(claim.date ?? "");
    if (limit !== undefined && (sent === undefined || Math.abs(sent - account.time.now()) > limit)) throw refusals.skewed(claim.date ?? "");
    const principal = account.principals.resolve(claim.accessKeyId, claim.sessionToken);
    if (principal === "unknown") throw refusals.unknownKey();
    if (principal === "expired") throw refusals.expiredToken();
    return { principal, region: claim.region };
  }

  #inRegion(service: Service, claim: SignatureClaim): boolean {
    if (service.region === "any") return true;
    return claim.region === (service.region === "own" ? this.#options.account.region : service.region.only);
  }

  #authorise(
    routed: RoutedRequest,
    { principal, region }: Pick<Call, "principal" | "region">,
    operation: Operation,
    input: Readonly<Record<string, unknown>>,
  ): void {
    const { service, incoming } = routed;
    const called = incoming.action;
    if (principal === ANONYMOUS || service.undeniable?.includes(called)) return;
    const { account, controls } = this.#options;
    const { policy } = controls.settings();
    const where = requestedRegion(service.name, region);
    for (const permission of [operation.permission ?? routed.action, ...operation.alsoNeeds(input)]) {
      const verdict = judge(policy, principal.arn, permission, () =>
        checkedResources(account, { permission, called, input, region: where }),
      );
      if (verdict !== "allowed") throw service.protocol.refusals.denied(principal.arn, permission, verdict === "explicitly denied");
    }
    // EC2 answers a dry run where the call would have gone through.
    if (input.DryRun !== true) return;
    operation.rehearse(input);
    throw new ServiceError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412);
  }

  #route(request: HttpRequest, requestId: string): RoutedRequest | undefined {
    const body = requestText(request);
    const target = request.headers["x-amz-target"];
    if (target !== undefined) {
      const dot = target.lastIndexOf(".");
      const service = this.#options.services.find(({ address }) => "target" in address && address.target === target.slice(0, dot));
      return service && routedRequest(request, service, { action: target.slice(dot + 1), form: parseForm(""), body }, "", requestId);
    }
    const named = this.#options.services.find(({ address }) => "path" in address && request.url.pathname.startsWith(address.path));
    if (named !== undefined) return routedRequest(request, named, byPath(request, named, body), "", requestId);
    const form = parseForm(request.method === "GET" ? request.url.search : body);
    const version = form.children.get("Version")?.value ?? "";
    const service = this.#options.services.find(({ address }) => "version" in address && address.version === version);
    return service && routedRequest(request, service, { action: form.children.get("Action")?.value ?? "", form, body }, version, requestId);
  }

  #answerUnknownService(request: HttpRequest, requestId: string): Answer {
    const asked = request.headers["x-amz-target"] ?? signatureClaim(request)?.service ?? request.url.pathname;
    this.#options.account.log.error("the simulated cloud does not model this service", { asked });
    this.#options.controls.journal.count(`unknown:${asked}`, "InvalidAction");
    const message = `The simulated cloud does not model the service of this request (${asked}).`;
    if (request.headers["x-amz-target"] !== undefined)
      return json("1.1").fail(new ServiceError("UnknownOperationException", message), requestId);
    return query("").fail(new ServiceError("InvalidAction", message), requestId);
  }

  /** A fault of the simulation itself must not pass for one of AWS's errors unnoticed. */
  #asServiceError(error: unknown, routed: RoutedRequest): ServiceError {
    if (error instanceof ServiceError) return error;
    this.#options.account.log.error("the simulated cloud failed at a request", {
      action: routed.action,
      cause: String((error as Error)?.stack ?? error),
    });
    return new ServiceError("InternalError", "An internal error has occurred", 500);
  }
}

const ANONYMOUS: Principal = { account: "anonymous", arn: "anonymous", userId: "anonymous" };

function injected({ code, message, status }: Extract<Effect, { code: string }>): ServiceError {
  return new ServiceError(code, message ?? "A fault was injected.", status);
}

/** What a request asks for by its method and path, as the schemas of operations have them: `/2013-04-01/hostedzone/{Id}`. */
function byPath({ method, url }: HttpRequest, { operations }: Service, body: string): Incoming {
  const form = parseForm(url.search);
  for (const { schema } of operations) {
    const [, , name, traits] = schema;
    const [verb, path] = (traits as { readonly http?: readonly [string, string, number] }).http ?? ["", ""];
    const labels = [...path.matchAll(/\{(\w+)\}/g)].map(([, label = ""]) => label);
    const parts = verb === method && new RegExp(`^${path.replace(/\{\w+\}/g, "([^/]+)")}/?$`).exec(url.pathname);
    if (!parts) continue;
    return { action: name, form, body, labels: Object.fromEntries(labels.map((label, i) => [label, decodeURIComponent(parts[i + 1]!)])) };
  }
  return { action: `${method} ${url.pathname}`, form, body };
}

function routedRequest(request: HttpRequest, service: Service, incoming: Incoming, version: string, requestId: string): RoutedRequest {
  return { request, service, incoming, version, requestId, action: `${service.name}:${incoming.action}` };
}
