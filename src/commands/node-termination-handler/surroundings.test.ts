import assert from "node:assert/strict";
import { test } from "node:test";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { parseOptions } from "./options.ts";
import { awsSettings, metadataWorld, regionOf, worldOf } from "./surroundings.ts";

const options = (...flags: string[]) => parseOptions(["--node-name=n", ...flags], {}).options;
const inQueueMode = ["--enable-sqs-termination-draining", "--queue-url=https://sqs.eu-west-1.amazonaws.com/1/q"];

test("the flags for the API server's address win over the environment's", () => {
  const world = virtualWorld(1, { environment: { KUBERNETES_SERVICE_HOST: "a", KUBERNETES_SERVICE_PORT: "1" } });
  const { environment } = worldOf(world, options("--kubernetes-service-host=b"));
  assert.deepEqual([environment.KUBERNETES_SERVICE_HOST, environment.KUBERNETES_SERVICE_PORT], ["b", "1"]);
});

test("the metadata service is where the flag says, whatever SDKs are told about it", () => {
  const world = virtualWorld(1, { environment: { AWS_EC2_METADATA_DISABLED: "true" } });
  const { environment } = metadataWorld(world, options("--metadata-url=http://127.0.0.1:1338"));
  assert.deepEqual(
    [environment.AWS_EC2_METADATA_SERVICE_ENDPOINT, environment.AWS_EC2_METADATA_DISABLED],
    ["http://127.0.0.1:1338", "false"],
  );
});

test("the region is the one given, else that of the queue's URL, else it is said that there is none", () => {
  assert.equal(regionOf(options(...inQueueMode)), "eu-west-1");
  assert.equal(regionOf(options(...inQueueMode, "--aws-region=us-gov-west-1")), "us-gov-west-1");
  assert.throws(() => regionOf({ "aws-region": "", "queue-url": "http://localhost:9324/queue" }), OptionsInvalid);
});

test("one address serves every AWS service, where one is given", () => {
  assert.deepEqual(awsSettings(options(...inQueueMode)).serviceOverrides, []);
  const { serviceOverrides } = awsSettings(options(...inQueueMode, "--aws-endpoint=http://127.0.0.1:4566"));
  assert.deepEqual(
    serviceOverrides.map(({ service, url }) => [service, url]),
    ["EC2", "SQS", "Auto Scaling", "STS"].map((service) => [service, "http://127.0.0.1:4566"]),
  );
});
