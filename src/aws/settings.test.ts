import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointFor } from "./endpoints.ts";
import { partitionOf } from "./partitions.ts";
import { regionOfZone } from "./regions.ts";
import { noSettings, parseArn, type ServiceOverride, validateSettings } from "./settings.ts";

const override: ServiceOverride = { id: "1", service: "EC2", region: "us-east-1", url: "https://ec2.example", signingRegion: "us-west-2" };
const withOverrides = (...serviceOverrides: ServiceOverride[]) => ({ ...noSettings, serviceOverrides });

test("the region is the leading part of a zone's name", () => {
  const zones = {
    "us-west-2a": "us-west-2",
    "us-west-2-lax-1a": "us-west-2",
    "ap-northeast-2a": "ap-northeast-2",
    "us-gov-east-1a": "us-gov-east-1",
    "us-iso-east-1a": "us-iso-east-1",
    "us-isob-east-1a": "us-isob-east-1",
  };
  for (const [zone, region] of Object.entries(zones)) assert.equal(regionOfZone(zone), region);
  for (const zone of ["some-fake-zone", ""]) assert.throws(() => regionOfZone(zone), { message: `invalid AZ: ${zone}` });
});

test("each region lies in its partition, an unknown one in the commercial", () => {
  const partitions = {
    "us-east-1": "aws",
    "mx-central-9": "aws",
    "cn-north-1": "aws-cn",
    "us-gov-west-1": "aws-us-gov",
    "us-iso-east-1": "aws-iso",
    "us-isob-east-1": "aws-iso-b",
    "eu-isoe-west-1": "aws-iso-e",
    "us-isof-south-1": "aws-iso-f",
    "eusc-de-east-1": "aws-eusc",
  };
  for (const [region, name] of Object.entries(partitions)) assert.equal(partitionOf(region).name, name);
  assert.equal(partitionOf("cn-north-1").dnsSuffix, "amazonaws.com.cn");
});

const refusals: readonly (readonly [Partial<ServiceOverride>, string])[] = [
  [{ service: " " }, 'service name is missing [Service is ""] in override 1'],
  [{ region: "" }, 'service region is missing [Region is ""] in override 1'],
  [{ url: "" }, 'url is missing [URL is ""] in override 1'],
  [{ signingRegion: "" }, 'signingRegion is missing [SigningRegion is ""] in override 1'],
];
for (const [fault, message] of refusals) {
  test(`an override is refused: ${message}`, () => {
    assert.throws(() => validateSettings(withOverrides({ ...override, ...fault })), {
      message: `unable to validate custom endpoint overrides: ${message}`,
    });
  });
}

test("a service may be overridden once a region; by another of its names it may be, but that has no effect", () => {
  assert.throws(() => validateSettings(withOverrides(override, { ...override, id: "2", service: "EC2 " })), {
    message: "unable to validate custom endpoint overrides: duplicate entry found for service override [2] (EC2 in us-east-1)",
  });
  const legacy = { ...override, id: "2", service: "ec2", url: "https://legacy" };
  for (const settings of [withOverrides(override, legacy), withOverrides(legacy, override)]) {
    assert.deepEqual(validateSettings(settings), [
      'service override 2: Service "ec2" is the service of override 1 too, by another name; it has no effect',
    ]);
    assert.equal(endpointFor("ec2", override.region, settings, {}).url, override.url);
  }
  assert.deepEqual(validateSettings(withOverrides(override, { ...override, id: "2", region: "eu-west-1" })), []);
});

test("a URL that cannot be parsed is warned about: the reference starts with it", () => {
  assert.deepEqual(validateSettings(withOverrides({ ...override, url: "not a url" })), [
    'service override 1: could not parse override URL "not a url"; every call of the service will fail',
  ]);
});

test("an override of a service nobody calls is warned about", () => {
  assert.deepEqual(validateSettings(withOverrides({ ...override, service: "s3" }, { ...override, id: "2", service: "ec2imds" })), [
    'service override 1: Service "s3" is not a service Fairlead calls; it has no effect',
  ]);
});

test("a role that is no ARN is refused", () => {
  assert.throws(() => validateSettings({ ...noSettings, roleArn: "ccm" }), /RoleARN "ccm" is not an ARN \(arn: invalid prefix\)/);
  assert.throws(() => validateSettings({ ...noSettings, roleArn: "arn:aws:iam" }), /not enough sections/);
  assert.equal(parseArn("arn:aws-cn:iam::123456789012:role/a:b", "RoleARN").resource, "role/a:b");
});

test("an override applies to its service in its region, by old names and new", () => {
  const legacy = { ...override, service: "ElasticLoadBalancing", signingName: "elb" };
  const settings = withOverrides(override, legacy, { ...override, service: "sts" });
  assert.deepEqual(endpointFor("ec2", "us-east-1", settings, {}), {
    url: "https://ec2.example",
    signingRegion: "us-west-2",
    fips: false,
    dualStack: false,
    source: "service override 1",
  });
  assert.equal(endpointFor("ec2", "eu-west-1", settings, {}).url, undefined);
  assert.equal(endpointFor("elb", "us-east-1", settings, {}).signingName, "elb");
  assert.equal(endpointFor("elbv2", "us-east-1", settings, {}).url, undefined);
  assert.equal(endpointFor("sts", "us-east-1", settings, {}).url, "https://ec2.example");
});

test("without an override the SDK's environment decides, the service's own variable first", () => {
  const environment = {
    AWS_ENDPOINT_URL: "http://all",
    AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2: "http://v2",
    AWS_USE_FIPS_ENDPOINT: "true",
    AWS_USE_DUALSTACK_ENDPOINT: "TRUE",
  };
  assert.equal(endpointFor("elbv2", "us-east-1", noSettings, environment).url, "http://v2");
  assert.equal(endpointFor("ec2", "us-east-1", noSettings, environment).url, "http://all");
  const ignoring = endpointFor("ec2", "us-east-1", noSettings, { ...environment, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true" });
  assert.deepEqual([ignoring.url, ignoring.fips, ignoring.dualStack], [undefined, true, true]);
});
