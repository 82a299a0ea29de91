/** The cloud plugged straight into an SDK client: `new EC2Client({ ...sdkConfig(cloud) })`. No socket, no other thread, no real time. */
import { HttpResponse } from "@smithy/core/protocols";
import type { HttpHandlerOptions, HttpRequest as SdkRequest } from "@smithy/types";
import type { Transport } from "../../runtime/http.ts";
import type { Cloud } from "./cloud.ts";

/** What SDK clients take as `requestHandler`. */
export interface SdkHandler {
  handle(request: SdkRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>;
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): Record<string, never>;
}

/** A request handler for SDK clients that asks this transport. */
export function sdkHandler(transport: Transport): SdkHandler {
  return {
    async handle(request, options) {
      const signal = options?.abortSignal as AbortSignal | undefined;
      const answer = await transport({
        method: request.method,
        url: new URL(`${request.protocol}//${request.hostname}${request.path}${queryOf(request)}`),
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])),
        ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array }),
        ...(signal === undefined ? {} : { signal }),
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      return { response: new HttpResponse({ statusCode: answer.status, headers: { ...answer.headers }, body: Buffer.concat(chunks) }) };
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  };
}

/** What an SDK client of this cloud is made with: everything given, so that it reads no file, clock or environment. */
export function sdkConfig(cloud: Cloud) {
  return {
    region: cloud.account.region,
    endpoint: "http://aws.sandbox",
    credentials: { accessKeyId: "AKIASANDBOXSANDBOX00", secretAccessKey: "sandbox" },
    requestHandler: sdkHandler(cloud.handle),
    maxAttempts: 1,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
  } as const;
}

function queryOf(request: SdkRequest): string {
  const pairs = Object.entries(request.query ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? ""]).map((item) => `${encodeURIComponent(name)}=${encodeURIComponent(item)}`),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
