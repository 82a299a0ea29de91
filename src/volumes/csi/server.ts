/** The gRPC server: calls come in, go to a function each, and their errors go out as codes. */
import { Server, ServerCredentials, type ServerUnaryCall, type ServiceDefinition, type sendUnaryData } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import type { Log } from "../../runtime/log.ts";
import { redact } from "../../runtime/redact.ts";
import type { Rpc } from "../rpc.ts";
import type { Endpoint } from "./endpoint.ts";
import { type CodeName, CsiError, codes, textOf } from "./errors.ts";
import { descriptorOf } from "./served-descriptor.ts";

/** One call of a service. The request has the form that the loader gives it. */
export type Method = (request: never, rpc: Rpc) => Promise<object>;
/** The calls of one service, by their names. What is missing is answered with Unimplemented. */
export type Methods = Readonly<Record<string, Method>>;

/** The services on offer, by their full names: `csi.v1.Identity`. */
export type Services = Readonly<Record<string, Methods>>;

export interface CsiServer {
  /** Takes no more calls, waits for those in work, and cuts what is left when the signal aborts. */
  stop(signal: AbortSignal): Promise<void>;
}

/** Absent texts are empty, absent messages null; a oneof is named; numbers of 64 bits are texts. */
const loaderOptions = { longs: String, enums: String, defaults: true, oneofs: true } as const;

type Json = Parameters<typeof fromJSON>[0];

/** Listens, and answers until stopped. The caller has seen to it that nobody else listens there. */
export async function serveCsi(endpoint: Endpoint, services: Services, log: Log): Promise<CsiServer> {
  const definitions = fromJSON(descriptorOf(Object.keys(services)) as Json, loaderOptions);
  const server = new Server();
  for (const [service, methods] of Object.entries(services)) {
    const definition = definitions[service] as ServiceDefinition;
    const handlers = Object.entries(methods).map(([name, method]) => [name, unary(name, method, log)]);
    server.addService(definition, Object.fromEntries(handlers) as Record<string, never>);
  }
  const address = endpoint.kind === "unix" ? `unix:${endpoint.path}` : endpoint.address;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  return {
    stop: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => server.forceShutdown(), { once: true });
        server.tryShutdown(() => resolve());
      }),
  };
}

type AnyCall = ServerUnaryCall<unknown, object>;

function unary(name: string, method: Method, log: Log): (call: AnyCall, answer: sendUnaryData<object>) => void {
  return (call, answer) => {
    const cancelled = new AbortController();
    call.on("cancelled", () => cancelled.abort(new CsiError("Canceled", `${name}: the caller no longer waits`)));
    if (name !== "Probe") log.v(4)?.info("CSI request", { method: name, request: withoutSecrets(call.request) });
    method(call.request as never, { name, signal: cancelled.signal }).then(
      (response) => answer(null, response),
      (error: unknown) => {
        const [code, message] = statusOf(error);
        log.error("CSI call failed", { method: name, code, error: message });
        answer({ code: codes[code], details: message });
      },
    );
  };
}

/** A failure that nobody gave a code to says nothing of what was done. */
function statusOf(error: unknown): readonly [CodeName, string] {
  return [error instanceof CsiError ? error.code : "Internal", redact(textOf(error))];
}

function withoutSecrets(request: unknown): unknown {
  return typeof request === "object" && request !== null && "secrets" in request ? { ...request, secrets: "***stripped***" } : request;
}
