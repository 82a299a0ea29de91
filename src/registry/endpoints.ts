/** Where the three calls go. AWS's rules for these services, without the SDK's rule engine, which costs more than the call. */
import { partitionOf } from "../aws/partitions.ts";

export type Service = "ecr" | "ecr-public" | "sts";

export interface Variant {
  readonly fips: boolean;
  readonly dualStack: boolean;
}

/** AWS's own endpoint of a service in a region. */
export function awsEndpoint(service: Service, region: string, variant: Variant): string {
  const { name, dnsSuffix, dualStackDnsSuffix } = partitionOf(region);
  const suffix = variant.dualStack ? dualStackDnsSuffix : dnsSuffix;
  // In GovCloud the plain STS endpoint is the FIPS one.
  const fips = variant.fips && !(service === "sts" && name === "aws-us-gov" && !variant.dualStack) ? "-fips" : "";
  // Dual-stack endpoints have no "api." before the service, but for those of ECR Public that are FIPS or outside the commercial partition.
  const old = service === "ecr" ? !variant.dualStack : service === "ecr-public" && !(variant.dualStack && !variant.fips && name === "aws");
  const prefix = old ? "api." : "";
  return `https://${prefix}${service}${fips}.${region}.${suffix}`;
}
