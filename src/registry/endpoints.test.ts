import assert from "node:assert/strict";
import { test } from "node:test";
import { ECRClient } from "@aws-sdk/client-ecr";
import { ECRPUBLICClient } from "@aws-sdk/client-ecr-public";
import { STSClient } from "@aws-sdk/client-sts";
// @ts-expect-error: the SDK's table of partitions, which it does not export.
import { partitionsInfo as sdkPartitions } from "../../node_modules/@aws-sdk/core/dist-es/submodules/client/util-endpoints/lib/aws/partitions.js";
import { awsEndpoint, type Service } from "./endpoints.ts";

/** Region, then the hosts of ECR plain, FIPS, dual-stack, both; then STS in the same order. Observed from AWS's SDK for Go. */
const table: readonly (readonly [region: string, ecr: readonly string[], sts: readonly string[]])[] = [
  [
    "us-west-2",
    ["api.ecr.us-west-2.amazonaws.com", "api.ecr-fips.us-west-2.amazonaws.com", "ecr.us-west-2.api.aws", "ecr-fips.us-west-2.api.aws"],
    ["sts.us-west-2.amazonaws.com", "sts-fips.us-west-2.amazonaws.com", "sts.us-west-2.api.aws", "sts-fips.us-west-2.api.aws"],
  ],
  [
    "us-gov-west-1",
    [
      "api.ecr.us-gov-west-1.amazonaws.com",
      "api.ecr-fips.us-gov-west-1.amazonaws.com",
      "ecr.us-gov-west-1.api.aws",
      "ecr-fips.us-gov-west-1.api.aws",
    ],
    ["sts.us-gov-west-1.amazonaws.com", "sts.us-gov-west-1.amazonaws.com", "sts.us-gov-west-1.api.aws", "sts-fips.us-gov-west-1.api.aws"],
  ],
  [
    "cn-north-1",
    [
      "api.ecr.cn-north-1.amazonaws.com.cn",
      "api.ecr-fips.cn-north-1.amazonaws.com.cn",
      "ecr.cn-north-1.api.amazonwebservices.com.cn",
      "ecr-fips.cn-north-1.api.amazonwebservices.com.cn",
    ],
    [
      "sts.cn-north-1.amazonaws.com.cn",
      "sts-fips.cn-north-1.amazonaws.com.cn",
      "sts.cn-north-1.api.amazonwebservices.com.cn",
      "sts-fips.cn-north-1.api.amazonwebservices.com.cn",
    ],
  ],
  [
    "eusc-de-east-1",
    [
      "api.ecr.eusc-de-east-1.amazonaws.eu",
      "api.ecr-fips.eusc-de-east-1.amazonaws.eu",
      "ecr.eusc-de-east-1.api.amazonwebservices.eu",
      "ecr-fips.eusc-de-east-1.api.amazonwebservices.eu",
    ],
    [
      "sts.eusc-de-east-1.amazonaws.eu",
      "sts-fips.eusc-de-east-1.amazonaws.eu",
      "sts.eusc-de-east-1.api.amazonwebservices.eu",
      "sts-fips.eusc-de-east-1.api.amazonwebservices.eu",
    ],
  ],
  [
    "us-iso-east-1",
    [
      "api.ecr.us-iso-east-1.c2s.ic.gov",
      "api.ecr-fips.us-iso-east-1.c2s.ic.gov",
      "ecr.us-iso-east-1.api.aws.ic.gov",
      "ecr-fips.us-iso-east-1.api.aws.ic.gov",
    ],
    [
      "sts.us-iso-east-1.c2s.ic.gov",
      "sts-fips.us-iso-east-1.c2s.ic.gov",
      "sts.us-iso-east-1.api.aws.ic.gov",
      "sts-fips.us-iso-east-1.api.aws.ic.gov",
    ],
  ],
];

const partitionsInfo = sdkPartitions as { readonly partitions: readonly { readonly regions: Readonly<Record<string, unknown>> }[] };

const variants = [
  { fips: false, dualStack: false },
  { fips: true, dualStack: false },
  { fips: false, dualStack: true },
  { fips: true, dualStack: true },
];

const hostsOf = (service: Service, region: string) => variants.map((variant) => new URL(awsEndpoint(service, region, variant)).host);

test("ECR and STS are called where AWS's own clients call them, in every partition and variant", () => {
  for (const [region, ecr, sts] of table) {
    assert.deepEqual(hostsOf("ecr", region), ecr);
    assert.deepEqual(hostsOf("sts", region), sts);
  }
});

test("isolated partitions have their own domains", () => {
  const plain = (region: string) => hostsOf("ecr", region)[0];
  assert.equal(plain("us-isob-east-1"), "api.ecr.us-isob-east-1.sc2s.sgov.gov");
  assert.equal(plain("eu-isoe-west-1"), "api.ecr.eu-isoe-west-1.cloud.adc-e.uk");
  assert.equal(plain("us-isof-south-1"), "api.ecr.us-isof-south-1.csp.hci.ic.gov");
  assert.equal(plain("lala-land-1"), "api.ecr.lala-land-1.amazonaws.com");
});

test("every service, region and variant has the endpoint of the SDK's rule set", () => {
  const regions = partitionsInfo.partitions
    .flatMap((partition) => Object.keys(partition.regions))
    .filter((name) => !name.endsWith("-global"));
  assert.ok(regions.length > 40 && regions.includes("us-isof-south-1"), `${regions.length} regions`);
  const clients = { ecr: ECRClient, "ecr-public": ECRPUBLICClient, sts: STSClient };
  let compared = 0;
  for (const service of ["ecr", "ecr-public", "sts"] as const) {
    const { config } = new clients[service]({ region: "us-east-1" });
    for (const region of [...regions, "lala-land-1", "us-gov-lala-1", "eusc-de-lala-1"]) {
      for (const { fips, dualStack } of variants) {
        const rule = { Region: region, UseFIPS: fips, UseDualStack: dualStack, UseGlobalEndpoint: false };
        const name = `${service} ${JSON.stringify(rule)}`;
        assert.equal(new URL(awsEndpoint(service, region, { fips, dualStack })).href, config.endpointProvider(rule).url.href, name);
        compared++;
      }
    }
  }
  assert.ok(compared > 480, `${compared} compared`);
});
