/** Where the API server, the metadata service and AWS are, as the handler's own flags say it. */
import type { AwsSettings } from "../../aws/settings.ts";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import type { World } from "../../runtime/world.ts";
import type { Options } from "./flags.ts";

/** The world with the addresses that the flags give: of the API server and of the metadata service. */
export function worldOf(world: World, options: Options): World {
  const host = options["kubernetes-service-host"];
  const port = options["kubernetes-service-port"];
  const environment = {
    ...world.environment,
    ...(host !== "" && { KUBERNETES_SERVICE_HOST: host }),
    ...(port !== "" && { KUBERNETES_SERVICE_PORT: port }),
  };
  const { clock, random, files, hostname } = world;
  return { clock, random, files, environment, hostname };
}

/** The world in which the metadata service is where the flag says. That SDKs may not use it for credentials says nothing about notices. */
export function metadataWorld(world: World, options: Options): World {
  const { clock, random, files, hostname, environment } = world;
  const address = { AWS_EC2_METADATA_SERVICE_ENDPOINT: options["metadata-url"], AWS_EC2_METADATA_DISABLED: "false" };
  return { clock, random, files, hostname, environment: { ...environment, ...address } };
}

/** One address for all services, where one is given. */
export function awsSettings(options: Options): AwsSettings {
  const url = options["aws-endpoint"];
  const region = regionOf(options);
  if (url === "") return { region, serviceOverrides: [] };
  const services = ["EC2", "SQS", "Auto Scaling", "STS"];
  return {
    region,
    serviceOverrides: services.map((service) => ({ id: "aws-endpoint", service, region, url, signingRegion: region })),
  };
}

/** The region that is given, or that of the queue's URL. */
export function regionOf(options: Pick<Options, "aws-region" | "queue-url">): string {
  const given = options["aws-region"] || /[a-z]{2}(-[a-z]+)+-\d/.exec(new URL(options["queue-url"]).host)?.[0];
  if (given === undefined) throw new OptionsInvalid(["Unable to find the AWS region to process queue events."]);
  return given;
}
