/**
 * SDK clients that take nothing from the machine.
 *
 * Left alone an SDK client reads files, the environment, the clock and random numbers. Here it is given all of it: what
 * is left of it is serialising, endpoint rules and signing, which is what we want of it.
 */
import { schemaLogFilter } from "@smithy/core/client";
import { HttpResponse as SdkResponse } from "@smithy/core/transport";
import type { HttpRequest as SdkRequest } from "@smithy/types";
import type { HttpResponse, Transport } from "../../runtime/http.ts";
import type { Credentials } from "../credentials.ts";
import type { Endpoint } from "../endpoints.ts";
import { requestSigner } from "./signer.ts";

/** One attempt of one call, as the request handler sees it and fills it in. */
export interface Attempt {
  signal: AbortSignal;
  /** Called synchronously right before the request leaves; what it throws stops the request. */
  readonly beforeSend: (request: SdkRequest) => void;
  /** Takes the body of a successful answer, which the SDK then does not see. */
  readonly read?: (response: HttpResponse) => Promise<void>;
  /** Whether the request was handed to the transport. */
  sent: boolean;
  /** The answer's status and headers, once there is one. */
  answer?: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
}

export interface SdkClient {
  send(command: object, options: { readonly attempt: Attempt }): Promise<unknown>;
}

export type SdkClientClass = new (config: ReturnType<typeof clientConfig>) => SdkClient;

export interface ClientOptions {
  readonly region: string;
  readonly endpoint: Endpoint;
  readonly credentials: () => Promise<Credentials>;
  readonly transport: Transport;
  /** Wall-clock milliseconds, corrected by what AWS said its own clock is. */
  readonly now: () => number;
  /** Name and version for the user agent. */
  readonly userAgent: readonly [string, string];
  /** Sent with every request, and signed. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The configuration every SDK client is built with. */
export function clientConfig(options: ClientOptions) {
  const { endpoint } = options;
  return {
    region: options.region,
    ...(endpoint.url === undefined ? {} : { endpoint: endpoint.url }),
    useFipsEndpoint: endpoint.fips,
    useDualstackEndpoint: endpoint.dualStack,
    ignoreConfiguredEndpointUrls: true,
    credentials: options.credentials,
    // Both schemes a client may choose, with signers that know our clock. SigV4a is for multi-region endpoints, which we never ask for.
    httpAuthSchemes: [
      { schemeId: "aws.auth#sigv4", identityProvider: () => options.credentials, signer: requestSigner(options) },
      { schemeId: "smithy.api#noAuth", identityProvider: () => async () => ({}), signer: { sign: async <T>(request: T) => request } },
    ],
    authSchemePreference: [],
    defaultsMode: "standard" as const,
    // The budget decides about retries. This form also keeps the SDK from drawing a random invocation id.
    maxAttempts: 1,
    retryMode: "standard",
    retryStrategy: { mode: "none", retry: <T>(next: (args: T) => Promise<unknown>, args: T) => next(args) },
    requestHandler: { handle: (request: SdkRequest, { attempt }: { attempt: Attempt }) => send(options.transport, request, attempt) },
    defaultUserAgentProvider: async () => [[...options.userAgent]],
    userAgentAppId: async () => undefined,
    // A queue is asked for where its region or the user says, not at the host that its URL happens to name.
    useQueueUrlAsEndpoint: false,
  };
}

/** A command's parameters as they may be logged: what the service's schema marks as sensitive is masked. */
export function loggableParameters(command: object): unknown {
  const { schema, input } = command as { readonly schema?: readonly unknown[]; readonly input: unknown };
  // A static operation schema is [kind, namespace, name, traits, input, output]. Without one nothing is known to be harmless.
  return schema === undefined ? "(no schema)" : schemaLogFilter(schema[4] as Parameters<typeof schemaLogFilter>[0], input);
}

async function send(transport: Transport, request: SdkRequest, attempt: Attempt): Promise<{ response: SdkResponse }> {
  const url = new URL(`${request.protocol}//${request.hostname}${request.port ? `:${request.port}` : ""}${request.path}`);
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value ?? ""]) url.searchParams.append(name, one);
  }
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]));
  attempt.signal.throwIfAborted();
  attempt.beforeSend(request);
  attempt.sent = true;
  const response = await transport({
    method: request.method,
    url,
    headers,
    signal: attempt.signal,
    // Once more when the request gets its connection: it may have waited for one.
    beforeSend: () => attempt.beforeSend(request),
    ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array }),
  });
  attempt.answer = { status: response.status, headers: response.headers };
  if (attempt.read !== undefined && response.status < 300) {
    await attempt.read(response);
    return { response: new SdkResponse({ statusCode: response.status, headers: response.headers, body: new Uint8Array(0) }) };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return { response: new SdkResponse({ statusCode: response.status, headers: response.headers, body: Buffer.concat(chunks) }) };
}
