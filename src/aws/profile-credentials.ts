/** Credentials of a profile that says where to get them: a role, SSO, a process. Heavy, loaded only by those who have such a profile. */
import { fromIni } from "@aws-sdk/credential-provider-ini";
import { HttpResponse } from "@smithy/core/protocols";
import type { HttpRequest, RequestHandler } from "@smithy/types";
import type { Transport } from "../runtime/http.ts";
import { redact } from "../runtime/redact.ts";
import type { Credentials } from "./credentials.ts";
import type { SharedProfile } from "./shared-profile.ts";

export interface ProfileSurroundings {
  /** Where a role is assumed. */
  readonly region: string;
  readonly send: Transport;
  readonly signal: AbortSignal;
}

/** What the profile names, and nothing else: when that fails, nobody else's credentials are used in its place. */
export async function credentialsOfProfile(profile: SharedProfile, { region, send, signal }: ProfileSurroundings): Promise<Credentials> {
  const provide = fromIni({
    profile: profile.name,
    // Files change in the life of a process.
    ignoreCache: true,
    ...(profile.configFile === undefined ? {} : { configFilepath: profile.configFile }),
    ...(profile.credentialsFile === undefined ? {} : { filepath: profile.credentialsFile }),
    clientConfig: { region, requestHandler: asRequestHandler(send, signal) },
  });
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provide().catch((error: Error) => {
    throw processFailure(profile, error) ?? error;
  });
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(expiration === undefined ? {} : { expiresAt: expiration.getTime() }),
  };
}

/** The SDK quotes the whole command and all that it printed on stderr; of that, what it says is passed on, and no secrets. */
function processFailure({ name }: SharedProfile, { message }: Error): Error | undefined {
  const printed = /^Command failed: [^\n]*(.*)$/s.exec(message)?.[1];
  if (printed === undefined) return undefined;
  // Masked before it is cut: a cut takes away what a secret is known by.
  const words = redact(printed.trim(), { strict: true })
    .slice(-1000)
    .replaceAll(/\s*\n\s*/g, "; ");
  return new Error(`profile ${name}: a credential_process failed${words === "" ? "" : `: ${words}`}`);
}

/** Our transport in the shape the SDK's clients expect, so that proxies, certificates and time limits hold for them too. */
function asRequestHandler(send: Transport, signal: AbortSignal): RequestHandler<HttpRequest, HttpResponse> {
  return {
    async handle(request) {
      const url = new URL(`${request.protocol}//${request.hostname}${request.port ? `:${request.port}` : ""}${request.path}`);
      for (const [name, value] of Object.entries(request.query ?? {})) {
        for (const item of [value ?? ""].flat()) url.searchParams.append(name, item);
      }
      const response = await send({
        method: request.method,
        url,
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])),
        ...(request.body === undefined ? {} : { body: request.body as string | Uint8Array }),
        signal,
      });
      const { Readable } = await import("node:stream");
      return { response: new HttpResponse({ statusCode: response.status, headers: response.headers, body: Readable.from(response.body) }) };
    },
  };
}
