/** Which region this process works in, and how that was found out. */
import type { Metadata } from "./metadata.ts";
import { type AwsSettings, SettingsInvalid } from "./settings.ts";

export interface RegionFound {
  readonly region: string;
  /** Where it came from, for the log. */
  readonly source: string;
}

/** Nothing says which region this is. The message lists what was asked, in order. */
export class RegionUnknown extends Error {
  override readonly name = "RegionUnknown";
}

/** The first answer of: configured Zone, configured Region, environment, metadata service. Later ones are not asked. */
export async function resolveRegion(
  settings: AwsSettings,
  environment: Readonly<Record<string, string | undefined>>,
  metadata: Metadata,
  signal?: AbortSignal,
): Promise<RegionFound> {
  if (settings.zone) return { region: regionOfZone(settings.zone), source: `configured Zone ${settings.zone}` };
  if (settings.region) return { region: settings.region, source: "configured Region" };
  for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION"]) {
    const region = environment[name];
    if (region) return { region, source: `environment variable ${name}` };
  }
  try {
    return { region: await metadata.region(signal), source: "instance metadata service" };
  } catch (cause) {
    throw new RegionUnknown(
      "cannot tell which AWS region to work in: no Zone or Region configured, neither AWS_REGION nor AWS_DEFAULT_REGION set, and the " +
        `instance metadata service did not help (${(cause as Error).message}). Set Region in the [Global] section of the cloud config, or AWS_REGION.`,
      { cause },
    );
  }
}

/** The region a zone lies in: `us-west-2-lax-1a` → `us-west-2`. */
export function regionOfZone(zone: string): string {
  const region = /^([a-zA-Z]+-)+\d+/.exec(zone)?.[0];
  if (region === undefined) throw new SettingsInvalid(`invalid AZ: ${zone}`);
  return region;
}
