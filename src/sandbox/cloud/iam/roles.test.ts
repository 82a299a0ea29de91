import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateRoleCommand, GetRoleCommand, GetRolePolicyCommand, IAMClient, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import { virtualWorld } from "../../virtual-clock.ts";
import { createCloud } from "../cloud.ts";
import { sdkConfig } from "../sdk-handler.ts";

const trust = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "x" }, Action: "sts:AssumeRole" }],
});
const role = { RoleName: "handler", AssumeRolePolicyDocument: trust };
const policy = { RoleName: "handler", PolicyName: "p" };

function bed() {
  const cloud = createCloud({ world: virtualWorld(1), seed: 1, region: "us-east-1" });
  return new IAMClient(sdkConfig(cloud));
}

const refused = (name: string) => ({ name: new RegExp(`^${name}`) });

test("a role is made once, and answers with its documents as they are in URLs", async () => {
  const client = bed();
  await assert.rejects(client.send(new GetRoleCommand({ RoleName: "handler" })), refused("NoSuchEntity"));
  await client.send(new CreateRoleCommand(role));
  await assert.rejects(client.send(new CreateRoleCommand(role)), refused("EntityAlreadyExists"));
  const { Role } = await client.send(new GetRoleCommand({ RoleName: "handler" }));
  assert.equal(Role?.Arn, "arn:aws:iam::123456789012:role/handler");
  const { AssumeRolePolicyDocument: shown = "" } = Role ?? {};
  assert.deepEqual([shown.slice(0, 3), decodeURIComponent(shown)], ["%7B", trust]);

  await assert.rejects(client.send(new GetRolePolicyCommand(policy)), refused("NoSuchEntity"));
  await client.send(new PutRolePolicyCommand({ ...policy, PolicyDocument: trust }));
  const { PolicyDocument = "" } = await client.send(new GetRolePolicyCommand(policy));
  assert.equal(decodeURIComponent(PolicyDocument), trust);
});

test("what is no policy, or too much of one, is refused", async () => {
  const client = bed();
  await assert.rejects(client.send(new PutRolePolicyCommand({ ...policy, PolicyDocument: trust })), refused("NoSuchEntity"));
  await assert.rejects(client.send(new CreateRoleCommand({ ...role, AssumeRolePolicyDocument: "{" })), refused("MalformedPolicyDocument"));
  await assert.rejects(client.send(new CreateRoleCommand({ ...role, RoleName: "a role" })), refused("ValidationError"));
  const long = (size: number) => JSON.stringify({ Statement: [{ Sid: "x".repeat(size) }] });
  await assert.rejects(client.send(new CreateRoleCommand({ ...role, AssumeRolePolicyDocument: long(2_048) })), refused("LimitExceeded"));
  await client.send(new CreateRoleCommand(role));
  await client.send(new PutRolePolicyCommand({ ...policy, PolicyDocument: long(6_000) }));
  await assert.rejects(
    client.send(new PutRolePolicyCommand({ ...policy, PolicyName: "q", PolicyDocument: long(6_000) })),
    refused("LimitExceeded"),
  );
});
