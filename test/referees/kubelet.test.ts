/** Kubelet's own code as judge: it reads our configuration, runs our executable, and takes our answers or leaves them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { credentialProvider } from "../../deploy/build/credential-provider.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { kubeletReferee } from "./go-programs.ts";

const run = promisify(execFile);
const account = "123456789012";
const issuer = "https://oidc.example.com";
const image = `${account}.dkr.ecr.us-west-2.amazonaws.com/team/app`;

interface Node {
  readonly cloud: Cloud;
  /** What kubelet's keyring holds for each image, and what kubelet logged. */
  lookUp(images: readonly string[], flags?: readonly string[]): Promise<{ readonly found: readonly Found[]; readonly log: string }>;
}

interface Found {
  readonly image: string;
  readonly credentials: readonly { readonly username: string; readonly password: string; readonly serviceAccount?: string }[];
}

/** A node with our executable and the configuration it prints itself, in a simulated AWS. */
async function node(t: TestContext): Promise<Node> {
  const cloud = createCloud({ world: realWorld(), region: "us-west-2" });
  const served = await serve(cloud);
  const folder = await mkdtemp(join(tmpdir(), "fairlead-kubelet-"));
  t.after(async () => {
    await served.close();
    await rm(folder, { recursive: true, force: true });
  });
  const [executable, referee] = await Promise.all([credentialProvider(hostArchitecture()), kubeletReferee()]);
  await copyFile(executable, join(folder, "ecr-credential-provider"));
  const config = join(folder, "config.yaml");
  await writeFile(config, (await run(executable, ["config", "--service-account-tokens"])).stdout);
  return {
    cloud,
    async lookUp(images, flags = []) {
      const { stdout, stderr } = await run(referee, ["-config", config, "-bin", folder, ...flags, ...images], {
        env: {
          AWS_ENDPOINT_URL: served.url,
          AWS_ACCESS_KEY_ID: "AKIDNODE",
          AWS_SECRET_ACCESS_KEY: "node-secret",
          AWS_EC2_METADATA_DISABLED: "true",
        },
      });
      const found = stdout
        .trim()
        .split("\n")
        .map((line): Found => JSON.parse(line));
      return { found, log: stderr };
    },
  };
}

test("kubelet takes our configuration and gets a login for the images of every kind of registry", async (t) => {
  const { lookUp } = await node(t);
  const images = [
    image,
    `${account}.dkr.ecr-fips.us-west-2.amazonaws.com/a`,
    `${account}.dkr-ecr.us-west-2.on.aws/a`,
    `${account}.dkr.ecr.cn-north-1.amazonaws.com.cn/a`,
    `${account}.dkr.ecr.eusc-de-east-1.amazonaws.eu/a`,
    "public.ecr.aws/eks/pause",
    "ecr-public.aws.com/eks/pause",
  ];
  const { found, log } = await lookUp(images);
  for (const [index, name] of images.entries()) {
    const [login, ...more] = found[index]?.credentials ?? [];
    assert.equal(login?.username, "AWS", `${name}: ${log}`);
    assert.ok(login.password.length > 100);
    assert.equal(more.length, 0);
  }
});

test("kubelet does not ask for other registries, and what it asks for once it keeps for the registry", async (t) => {
  const { lookUp, cloud } = await node(t);
  const { found } = await lookUp([image, `${account}.dkr.ecr.us-west-2.amazonaws.com/other`, "docker.io/library/nginx"]);
  assert.deepEqual(
    found.map(({ credentials }) => credentials.length),
    [1, 1, 0],
  );
  assert.equal(found[0]?.credentials[0]?.password, found[1]?.credentials[0]?.password);
  assert.equal(cloud.controls.journal.calls("ecr:GetAuthorizationToken"), 1);
});

test("with a service account's token and role kubelet gets the role's login, and attributes it to the account", async (t) => {
  const { lookUp, cloud } = await node(t);
  const roleArn = `arn:aws:iam::${account}:role/pull-team`;
  const webIdentity = { issuer, audience: "sts.amazonaws.com", subject: "system:serviceaccount:team-a:builder" };
  cloud.controls.change({ trust: [{ roleArn, webIdentity }] });
  const flags = ["-token", podToken(), "-role", roleArn];
  const { found, log } = await lookUp([image], flags);
  assert.equal(found[0]?.credentials[0]?.serviceAccount, "builder", log);
  assert.equal(cloud.controls.journal.calls("sts:AssumeRoleWithWebIdentity"), 1);

  cloud.controls.change({ trust: [{ roleArn, webIdentity: { ...webIdentity, subject: "system:serviceaccount:other:*" } }] });
  const denied = await lookUp([image], flags);
  assert.deepEqual(denied.found[0]?.credentials, []);
  assert.match(denied.log, /failed to assume role: operation error STS: AssumeRoleWithWebIdentity/);
  assert.ok(!denied.log.includes(podToken()), "kubelet's log holds no token");
});

function podToken(): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: issuer, sub: "system:serviceaccount:team-a:builder", aud: ["sts.amazonaws.com"], exp: 4_000_000_000 };
  return [part({ alg: "RS256" }), part(claims), Buffer.from("not checked").toString("base64url")].join(".");
}
