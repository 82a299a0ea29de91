/** The separate sets of regions AWS runs, each with its own domain. */

export interface Partition {
  readonly name: string;
  readonly dnsSuffix: string;
  readonly dualStackDnsSuffix: string;
}

const partitions: readonly (Partition & { readonly region: RegExp })[] = [
  { name: "aws-cn", dnsSuffix: "amazonaws.com.cn", dualStackDnsSuffix: "api.amazonwebservices.com.cn", region: /^cn-\w+-\d+$/ },
  { name: "aws-us-gov", dnsSuffix: "amazonaws.com", dualStackDnsSuffix: "api.aws", region: /^us-gov-\w+-\d+$/ },
  { name: "aws-iso", dnsSuffix: "c2s.ic.gov", dualStackDnsSuffix: "api.aws.ic.gov", region: /^us-iso-\w+-\d+$/ },
  { name: "aws-iso-b", dnsSuffix: "sc2s.sgov.gov", dualStackDnsSuffix: "api.aws.scloud", region: /^us-isob-\w+-\d+$/ },
  { name: "aws-iso-e", dnsSuffix: "cloud.adc-e.uk", dualStackDnsSuffix: "api.cloud-aws.adc-e.uk", region: /^eu-isoe-\w+-\d+$/ },
  { name: "aws-iso-f", dnsSuffix: "csp.hci.ic.gov", dualStackDnsSuffix: "api.aws.hci.ic.gov", region: /^us-isof-\w+-\d+$/ },
  { name: "aws-eusc", dnsSuffix: "amazonaws.eu", dualStackDnsSuffix: "api.amazonwebservices.eu", region: /^eusc-\w+-\w+-\d+$/ },
];

const commercial: Partition = { name: "aws", dnsSuffix: "amazonaws.com", dualStackDnsSuffix: "api.aws" };

/** The partition a region lies in. A region nobody has heard of yet is taken to be in the commercial one, as the SDK does. */
export function partitionOf(region: string): Partition {
  return partitions.find((partition) => partition.region.test(region)) ?? commercial;
}
