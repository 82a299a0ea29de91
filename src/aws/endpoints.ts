/** Where a service is reached in a region, and how requests to it are signed, when that is not the SDK's default. */
import { type ServiceName, serviceFacts } from "./services.ts";
import { type AwsSettings, overrideFor } from "./settings.ts";

export interface Endpoint {
  /** The base URL; undefined for AWS's own. */
  readonly url?: string;
  readonly signingRegion?: string;
  readonly signingName?: string;
  readonly fips: boolean;
  readonly dualStack: boolean;
  /** Where the choice came from, for the log. */
  readonly source: string;
}

/** The first that applies of: a matching ServiceOverride, the SDK's environment variables, AWS's default. */
export function endpointFor(
  service: ServiceName,
  region: string,
  settings: AwsSettings,
  environment: Readonly<Record<string, string | undefined>>,
): Endpoint {
  const variant = {
    fips: isTrue(environment.AWS_USE_FIPS_ENDPOINT),
    dualStack: isTrue(environment.AWS_USE_DUALSTACK_ENDPOINT),
  };
  const override = overrideFor(service, region, settings.serviceOverrides);
  if (override !== undefined) {
    return {
      // A given URL is used as it is; asking for a variant of it as well is refused by the SDK.
      fips: false,
      dualStack: false,
      url: override.url.trim(),
      signingRegion: override.signingRegion.trim(),
      ...(override.signingName ? { signingName: override.signingName.trim() } : {}),
      source: `service override ${override.id}`,
    };
  }
  if (!isTrue(environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS)) {
    for (const name of [`AWS_ENDPOINT_URL_${serviceFacts(service).environment}`, "AWS_ENDPOINT_URL"]) {
      const url = environment[name];
      if (url) return { fips: false, dualStack: false, url, source: `environment variable ${name}` };
    }
  }
  return { ...variant, source: "AWS" };
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === "true";
}
