import assert from "node:assert/strict";
import { test } from "node:test";
import { DescribeVpcsCommand, EC2Client } from "@aws-sdk/client-ec2";
import { AssumeRoleCommand, AssumeRoleWithWebIdentityCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { sdkConfig } from "../sdk-handler.ts";
import { cloudBed, refused } from "../testing.ts";

const ROLE = "arn:aws:iam::123456789012:role/web";
const ISSUER = "https://oidc.example/id/1";
const SUBJECT = "system:serviceaccount:kube-system:web";

function bed() {
  const made = cloudBed();
  return { ...made, sts: new STSClient(sdkConfig(made.cloud)) };
}

function jwt(claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;
}

function token(now: number, more: Record<string, unknown> = {}): string {
  return jwt({ iss: ISSUER, sub: SUBJECT, aud: ["sts.amazonaws.com"], exp: Math.floor(now / 1000) + 600, ...more });
}

test("GetCallerIdentity names the caller and cannot be denied", async () => {
  const { sts, cloud } = bed();
  cloud.controls.deny("*");
  const identity = await sts.send(new GetCallerIdentityCommand({}));
  assert.deepEqual([identity.Account, identity.Arn], ["123456789012", "arn:aws:iam::123456789012:user/owner"]);
});

test("AssumeRole opens a session whose keys act as the role until they expire", async () => {
  const { sts, cloud, world } = bed();
  const { Credentials, AssumedRoleUser } = await sts.send(
    new AssumeRoleCommand({ RoleArn: ROLE, RoleSessionName: "abc", DurationSeconds: 900 }),
  );
  const config = {
    ...sdkConfig(cloud),
    credentials: {
      accessKeyId: Credentials!.AccessKeyId!,
      secretAccessKey: Credentials!.SecretAccessKey!,
      sessionToken: Credentials!.SessionToken!,
    },
  };
  const session = new STSClient(config);
  assert.equal((await session.send(new GetCallerIdentityCommand({}))).Arn, "arn:aws:sts::123456789012:assumed-role/web/abc");
  assert.equal(AssumedRoleUser?.Arn, "arn:aws:sts::123456789012:assumed-role/web/abc");
  assert.equal(Credentials?.Expiration?.getTime(), world.clock.now() + 900_000);
  world.pass(900_000);
  await refused(session.send(new GetCallerIdentityCommand({})), "ExpiredToken", 403);
  await refused(new EC2Client(config).send(new DescribeVpcsCommand({})), "RequestExpired", 400);
  const forged = new STSClient({ ...config, credentials: { ...config.credentials, sessionToken: "forged" } });
  await refused(forged.send(new GetCallerIdentityCommand({})), "InvalidClientTokenId", 403);
});

test("AssumeRole checks the role's existence, its trust and the duration", async () => {
  const { sts, cloud } = bed();
  cloud.controls.change({ trust: [{ roleArn: ROLE, principals: ["arn:aws:iam::*:user/nobody"], maxSessionSeconds: 3600 }] });
  const assume = (more: Partial<AssumeRoleCommand["input"]> = {}) =>
    sts.send(new AssumeRoleCommand({ RoleArn: ROLE, RoleSessionName: "abc", ...more }));
  await refused(assume(), "AccessDenied", 403);
  await refused(assume({ RoleArn: "arn:aws:iam::123456789012:role/other" }), "AccessDenied", 403);
  cloud.controls.change({ trust: [{ roleArn: ROLE, maxSessionSeconds: 3600 }] });
  await assume();
  await refused(assume({ DurationSeconds: 7200 }), "ValidationError");
  await refused(assume({ DurationSeconds: 60 }), "ValidationError");
  await refused(assume({ RoleSessionName: "a b" }), "ValidationError");
  await refused(assume({ RoleArn: "web" }), "ValidationError");
});

test("AssumeRoleWithWebIdentity needs no signature, answers SubjectFromWebIdentityToken, and checks form, expiry, issuer, audience and subject", async () => {
  const { cloud, world } = bed();
  // A client without keys: the call is sent unsigned.
  const sts = new STSClient({ ...sdkConfig(cloud), credentials: () => Promise.reject(new Error("no keys are needed")) });
  cloud.controls.change({
    trust: [
      { roleArn: ROLE, webIdentity: { issuer: ISSUER, audience: "sts.amazonaws.com", subject: "system:serviceaccount:kube-system:*" } },
    ],
  });
  const now = world.clock.now();
  const assume = (WebIdentityToken: string) =>
    sts.send(new AssumeRoleWithWebIdentityCommand({ RoleArn: ROLE, RoleSessionName: "abc", WebIdentityToken }));
  const answer = await assume(token(now));
  assert.deepEqual([answer.SubjectFromWebIdentityToken, answer.Audience], [SUBJECT, "sts.amazonaws.com"]);
  assert.equal(answer.Provider, "arn:aws:iam::123456789012:oidc-provider/oidc.example/id/1");
  await refused(assume("some-opaque-token"), "InvalidIdentityTokenException", 400);
  await refused(assume(token(now, { exp: Math.floor(now / 1000) })), "ExpiredTokenException", 400);
  await refused(assume(token(now, { iss: "https://other" })), "InvalidIdentityTokenException");
  await refused(assume(token(now, { aud: ["other"] })), "InvalidIdentityTokenException");
  await refused(assume(token(now, { sub: "system:serviceaccount:default:web" })), "AccessDenied", 403);
});
