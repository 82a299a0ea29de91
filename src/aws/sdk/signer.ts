/** Signature version 4 on a clock that is handed in. */
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import type { HandlerExecutionContext, HttpRequest, HttpSigner, Identity } from "@smithy/types";
import type { Credentials } from "../credentials.ts";
import type { ClientOptions } from "./client.ts";

/** A signer for SDK clients. Region and name come from the endpoint's override, else its rules, else the service. */
export function requestSigner(options: ClientOptions): HttpSigner {
  return {
    async sign(request: HttpRequest, identity: Identity, properties: Record<string, unknown>): Promise<HttpRequest> {
      const context = properties.context as HandlerExecutionContext | undefined;
      const rule = context?.endpointV2?.properties?.authSchemes?.[0];
      const region = options.endpoint.signingRegion ?? rule?.signingRegion ?? (properties.region as string);
      const service = options.endpoint.signingName ?? rule?.signingName ?? (properties.name as string);
      const signer = new SignatureV4({ credentials: identity as Credentials & Identity, region, service, sha256: Sha256 });
      Object.assign(request.headers, options.headers);
      return (await signer.sign(request, { signingDate: new Date(options.now()) })) as HttpRequest;
    },
  };
}
