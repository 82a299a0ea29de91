import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import type { HttpRequest, Transport } from "../runtime/http.ts";
import { realWorld } from "../runtime/world.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { findCredentials } from "./credential-chain.ts";
import { CredentialsUnavailable } from "./credentials.ts";
import { Metadata } from "./metadata.ts";
import { noSettings } from "./settings.ts";
import { parseProfiles } from "./shared-profile.ts";
import { credentialMatrix, matrixAnswer, matrixFiles } from "./testing/credential-matrix.ts";

const signal = new AbortController().signal;

function answering(answer: (request: HttpRequest) => string): Transport {
  return async (request) => ({
    status: 200,
    headers: {},
    body: (async function* () {
      yield Buffer.from(answer(request));
    })(),
  });
}

test("in every environment the credentials are those that the SDK for Go would use", async () => {
  const transport = answering(({ url }) => matrixAnswer(url.pathname));
  const matrix = credentialMatrix();
  assert.equal(matrix.length, 3840);
  for (const { environment, keyId } of matrix) {
    const world = virtualWorld(1, { environment, files: matrixFiles });
    const assumeWithToken = async () => ({ accessKeyId: "W", secretAccessKey: "s" });
    const metadata = new Metadata(world, transport, noSettings);
    const found = await findCredentials({ world, transport, metadata, region: "us-east-1", assumeWithToken }, signal).catch(
      (error: unknown) => {
        assert.ok(error instanceof CredentialsUnavailable, String(error));
        return undefined;
      },
    );
    assert.equal(found?.accessKeyId, keyId, JSON.stringify(environment));
  }
});

/** A machine with real files, as the SDK reads them, whose instance has a role that must not be used. */
async function withFiles(config: string, work: (chain: () => Promise<string>, asked: string[], folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "profile-"));
  try {
    const path = join(folder, "config");
    await writeFile(path, config.replaceAll("FOLDER", folder));
    const environment = { AWS_CONFIG_FILE: path, AWS_SHARED_CREDENTIALS_FILE: join(folder, "none"), AWS_PROFILE: "named" };
    const world = { ...realWorld(), environment };
    const asked: string[] = [];
    const send = answering((request) => {
      asked.push(`${request.url.host} ${new URLSearchParams(String(request.body)).get("RoleArn") ?? ""}`);
      return request.url.host.startsWith("sts.")
        ? "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey>" +
            "<SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
        : matrixAnswer(request.url.pathname);
    });
    const metadata = new Metadata(world, send, noSettings);
    const assumeWithToken = () => assert.fail("no token here");
    const options = { world, transport: send, metadata, region: "eu-west-1", assumeWithToken };
    await work(async () => (await findCredentials(options, signal)).accessKeyId, asked, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a profile that fails is an error, and the instance's role is not even asked for", async (t) => {
  // The SDK has a client of its own for the metadata service, which goes by the environment of the process.
  const requests: string[] = [];
  const metadata = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end(matrixAnswer(request.url ?? ""));
  }).listen(0, "127.0.0.1");
  await once(metadata, "listening");
  process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT = `http://127.0.0.1:${(metadata.address() as AddressInfo).port}`;
  t.after(() => {
    delete process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT;
    metadata.close();
  });
  for (const broken of [
    "credential_process = /bin/false",
    "role_arn = arn:aws:iam::1:role/r\nsource_profile = nobody",
    "role_arn = x",
    "role_arn = x\ncredential_process = /bin/true",
    "sso_role_name = r",
    "sso_region = eu-west-1",
  ]) {
    await withFiles(`[profile named]\n${broken}\n`, async (chain, asked) => {
      await assert.rejects(chain(), CredentialsUnavailable, broken);
      assert.deepEqual([...asked, ...requests], [], broken);
    });
  }
});

test("what a failing process of a profile prints, and what it is called with, reaches the message without its secrets", async () => {
  const config = `[profile named]
role_arn = arn:aws:iam::1:role/r
source_profile = base
[profile base]
credential_process = FOLDER/keys PLANTED-argument
`;
  await withFiles(config, async (chain, _, folder) => {
    const said = "trying\ngot token: PLANTED\nthe endpoint is down, it seems\n";
    await writeFile(join(folder, "keys"), `#!/bin/sh\ncat >&2 <<EOF\n${said}EOF\nexit 3\n`, { mode: 0o755 });
    const error = await chain().catch((failure: unknown) => failure);
    assert.ok(error instanceof CredentialsUnavailable);
    assert.match(error.message, /profile named: a credential_process failed: trying; .*the endpoint is down, it seems$/);
    assert.doesNotMatch(inspect(error), /PLANTED/);
  });
});

test("a profile's process is run anew when keys are asked for again, and its role is assumed over our own transport", async () => {
  await withFiles("[profile named]\ncredential_process = FOLDER/keys\n", async (chain, _, folder) => {
    for (const id of ["ONE", "TWO"]) {
      await writeFile(join(folder, "keys"), `#!/bin/sh\necho '{"Version":1,"AccessKeyId":"${id}","SecretAccessKey":"s"}'\n`);
      await chmod(join(folder, "keys"), 0o755);
      assert.equal(await chain(), id);
    }
  });
  const config = `[profile named]
role_arn = arn:aws:iam::1:role/r
source_profile = base
[profile base]
aws_access_key_id = A
aws_secret_access_key = s
`;
  await withFiles(config, async (chain, asked) => {
    assert.equal(await chain(), "ROLE");
    assert.deepEqual(asked, ["sts.eu-west-1.amazonaws.com arn:aws:iam::1:role/r"]);
  });
});

test("lines of the shared files are read as the SDK for Go reads them", () => {
  const text = `global = ignored
  [ profile  spaced ] ; comment
Region = eu-west-1 # comment
secret = a#b;c
url = https://host/#part
quoted = 'x y'
colon : value=1
empty =
s3 =
  max = 1
after = 2
; comment
# comment
not a property
[profile spaced]
region=us-east-1
[constructor]
a=1
`;
  assert.deepEqual(JSON.parse(JSON.stringify(parseProfiles(text))), {
    "profile spaced": {
      region: "us-east-1",
      secret: "a#b;c",
      url: "https://host/#part",
      quoted: "x y",
      colon: "value=1",
      "s3.max": "1",
      after: "2",
    },
    constructor: { a: "1" },
  });
});
