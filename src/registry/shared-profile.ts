/** Credentials of a shared profile, by the AWS SDK. Heavy, and loaded only by those who have such a profile. */
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { HttpResponse } from "@smithy/core/protocols";
import type { HttpRequest, RequestHandler } from "@smithy/types";
import type { Transport } from "../runtime/http.ts";
import type { CredentialSources, FoundCredentials } from "./credentials.ts";

/** Whatever the profile says: keys, a role over a source profile, SSO, an external process. */
export async function credentialsOfProfile(sources: CredentialSources): Promise<FoundCredentials> {
  const { profile, caller } = sources;
  const provide = defaultProvider({
    profile: profile.name,
    ...(profile.configFile === undefined ? {} : { configFilepath: profile.configFile }),
    ...(profile.credentialsFile === undefined ? {} : { filepath: profile.credentialsFile }),
    clientConfig: { region: await sources.sts.region(), requestHandler: asRequestHandler(caller.send, caller.deadline) },
  });
  const { accessKeyId, secretAccessKey, sessionToken } = await provide();
  return {
    source: `profile ${profile.name}`,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  };
}

/** Our transport in the shape the SDK's clients expect, so that proxies, certificates and the deadline hold for them too. */
function asRequestHandler(send: Transport, deadline: AbortSignal): RequestHandler<HttpRequest, HttpResponse> {
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
        signal: deadline,
      });
      const { Readable } = await import("node:stream");
      return { response: new HttpResponse({ statusCode: response.status, headers: response.headers, body: Readable.from(response.body) }) };
    },
  };
}
