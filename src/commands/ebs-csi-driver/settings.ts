/** What the environment says of AWS, by the variables of the reference. */
import { type AwsSettings, noSettings } from "../../aws/settings.ts";
import type { World } from "../../runtime/world.ts";

export function awsSettings({ AWS_REGION: region, AWS_EC2_ENDPOINT: url }: World["environment"]): AwsSettings {
  return {
    ...noSettings,
    ...(region && { region }),
    serviceOverrides: url && region ? [{ id: "AWS_EC2_ENDPOINT", service: "EC2", region, url, signingRegion: region }] : [],
  };
}
