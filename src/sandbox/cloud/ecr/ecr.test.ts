import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchGetImageCommand, DescribeRepositoriesCommand, ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { ECRPUBLICClient, GetAuthorizationTokenCommand as GetPublicTokenCommand } from "@aws-sdk/client-ecr-public";
import { sdkConfig } from "../sdk-handler.ts";
import { cloudBed, refused } from "../testing.ts";

const HOURS_12 = 12 * 3_600_000;

test("ECR: user AWS, expiresAt twelve hours from the cloud's clock, the endpoint of the region the call was signed for", async () => {
  const { cloud, world } = cloudBed();
  const ecr = new ECRClient({ ...sdkConfig(cloud), region: "eu-west-1" });
  const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
  const [data] = authorizationData!;
  assert.match(Buffer.from(data!.authorizationToken!, "base64").toString(), /^AWS:.{100,}/);
  assert.equal(data?.expiresAt?.getTime(), world.clock.now() + HOURS_12);
  assert.equal(data?.proxyEndpoint, "https://123456789012.dkr.ecr.eu-west-1.amazonaws.com");
  const several = await ecr.send(new GetAuthorizationTokenCommand({ registryIds: ["111111111111", "222222222222"] }));
  assert.equal(several.authorizationData?.length, 2);
  await refused(ecr.send(new GetAuthorizationTokenCommand({ registryIds: ["x"] })), "InvalidParameterException", 400);
});

test("ECR: there is no repository to pull from, which only those learn who may pull", async () => {
  const { cloud } = cloudBed();
  const ecr = new ECRClient(sdkConfig(cloud));
  const pull = new BatchGetImageCommand({ repositoryName: "app", imageIds: [{ imageTag: "1" }] });
  await refused(ecr.send(pull), "RepositoryNotFoundException", 400);
  cloud.controls.deny("ecr:BatchGetImage");
  await refused(ecr.send(pull), "AccessDeniedException", 400);
});

test("ECR: an operation that is not modelled is UnknownOperationException with 400", async () => {
  const { cloud } = cloudBed();
  await refused(new ECRClient(sdkConfig(cloud)).send(new DescribeRepositoriesCommand({})), "UnknownOperationException", 400);
});

test("ECR Public exists, in us-east-1 only, and also needs sts:GetServiceBearerToken", async () => {
  const { cloud, world } = cloudBed({ region: "eu-west-1" });
  const client = new ECRPUBLICClient({ ...sdkConfig(cloud), region: "us-east-1" });
  const { authorizationData } = await client.send(new GetPublicTokenCommand({}));
  assert.equal(authorizationData?.expiresAt?.getTime(), world.clock.now() + HOURS_12);
  await refused(new ECRPUBLICClient(sdkConfig(cloud)).send(new GetPublicTokenCommand({})), "InvalidSignatureException", 400);
  cloud.controls.deny("sts:GetServiceBearerToken");
  await refused(client.send(new GetPublicTokenCommand({})), "AccessDeniedException", 400);
});
