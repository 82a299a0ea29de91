import assert from "node:assert/strict";
import { test } from "node:test";
import { type Reply, request, runIt, staticKeys, tokenReply } from "../../test/bed/credential-provider.ts";
import { credentialMatrix, matrixAnswer, matrixFiles } from "../aws/testing/credential-matrix.ts";
import type { HttpRequest } from "../runtime/http.ts";

const roleArn = "arn:aws:iam::123456789012:role/pull-team";
const claims = Buffer.from(JSON.stringify({ sub: "system:serviceaccount:team-a:builder" })).toString("base64url");
const podToken = `header.${claims}.signature-of-the-pod`;
const annotated = (arn = roleArn, key = "eks.amazonaws.com/ecr-role-arn") => ({
  serviceAccountToken: podToken,
  serviceAccountAnnotations: { [key]: arn },
});
const stsCredentials = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
  <SecretAccessKey>role-secret&amp;key</SecretAccessKey><SessionToken>role-session-token</SessionToken><AccessKeyId>ASIAROLE</AccessKeyId>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
const stsError = (code: string, message = "no") =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

/** STS and ECR, and an instance with a role. */
function cloud({ url, method }: HttpRequest): Reply {
  if (url.host.startsWith("sts")) return { body: stsCredentials };
  if (url.pathname === "/latest/api/token") return method === "PUT" ? { body: "imds-session" } : { status: 405 };
  if (url.pathname.endsWith("/security-credentials/")) return { body: "node-role\n" };
  if (url.pathname.endsWith("/node-role")) {
    return { body: { Code: "Success", AccessKeyId: "ASIANODE", SecretAccessKey: "node-secret-key", Token: "node-session-token" } };
  }
  if (url.pathname.endsWith("/placement/region")) return { body: "eu-north-1" };
  return tokenReply(undefined, undefined, url.host.includes("public") ? "public" : "private");
}

/** Whose access key signed the last call. */
const signer = (run: Awaited<ReturnType<typeof runIt>>) =>
  /Credential=(\w+)\//.exec(run.seen.at(-1)?.request.headers.authorization ?? "")?.[1];

test("a role named by the service account is assumed with the pod's token, and ECR is called with its credentials", async () => {
  const run = await runIt({ input: request(undefined, annotated()), reply: cloud });
  assert.equal(run.status, 0, run.stderr);
  const [sts, ecr] = run.seen as [(typeof run.seen)[0], (typeof run.seen)[0]];
  assert.equal(run.seen.length, 2);
  assert.equal(sts.request.url.href, "https://sts.us-west-2.amazonaws.com/");
  assert.equal(sts.request.headers.authorization, undefined);
  assert.deepEqual(Object.fromEntries(sts.form), {
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: roleArn,
    RoleSessionName: "ecr-team-a.builder",
    WebIdentityToken: podToken,
  });
  assert.equal(ecr.request.headers["x-amz-security-token"], "role-session-token");
  assert.equal(signer(run), "ASIAROLE");
  assert.doesNotMatch(run.stderr + run.stdout, /signature-of-the-pod|role-secret|role-session-token/);
});

test("each row of the decision which identity pulls", async () => {
  const environment = { ...staticKeys, AWS_ECR_ROLE_ARN: "arn:aws:iam::123456789012:role/default-pull" };
  const roleOf = async (more: Record<string, unknown>, env: Record<string, string> = environment) => {
    const run = await runIt({ input: request(undefined, more), environment: env, reply: cloud });
    assert.equal(run.status, 0, run.stderr);
    return { role: run.seen.find(({ form }) => form.has("RoleArn"))?.form.get("RoleArn"), log: run.stderr, signer: signer(run) };
  };
  assert.deepEqual((await roleOf({})).role, undefined);
  assert.equal((await roleOf({ serviceAccountAnnotations: annotated().serviceAccountAnnotations })).role, undefined);
  assert.equal((await roleOf({ serviceAccountToken: "" })).role, undefined);
  assert.equal((await roleOf(annotated())).role, roleArn);
  assert.equal((await roleOf({ serviceAccountToken: podToken })).role, environment.AWS_ECR_ROLE_ARN);
  const optedOut = await roleOf(annotated(""));
  assert.equal(optedOut.role, undefined);
  assert.equal(optedOut.signer, "AKIDEXAMPLE");
  const none = await roleOf({ serviceAccountToken: podToken }, staticKeys);
  assert.equal(none.role, undefined);
  assert.match(none.log, /no arn provided, cannot assume role using ServiceAccountToken/);
  assert.equal((await roleOf(annotated(roleArn, "eks.amazonaws.com/role-arn"), staticKeys)).role, undefined);
  const keys = { ...staticKeys, ECR_CREDENTIAL_PROVIDER_ROLE_ANNOTATIONS: "example.com/pull-role, eks.amazonaws.com/role-arn" };
  assert.equal((await roleOf(annotated(roleArn, "eks.amazonaws.com/role-arn"), keys)).role, roleArn);
});

test("a role that was asked for and cannot be had is an error, never the node's role", async () => {
  for (const [reply, message] of [
    [
      { status: 403, body: stsError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity") },
      /api error AccessDenied: Not authorized/,
    ],
    [{ status: 400, body: stsError("InvalidIdentityToken", `bad token ${podToken}`) }, /InvalidIdentityToken/],
    [{ body: "<AssumeRoleWithWebIdentityResponse/>" }, /the answer holds no credentials/],
    [{ body: "garbage" }, /the answer holds no credentials/],
  ] as const) {
    const run = await runIt({
      input: request(undefined, annotated()),
      reply: (call) => (call.url.host.startsWith("sts") ? reply : cloud(call)),
    });
    assert.equal(run.status, 1);
    assert.equal(run.stdout, "");
    assert.match(run.stderr, /get identity: get credentials: failed to assume role: operation error STS: AssumeRoleWithWebIdentity, /);
    assert.match(run.stderr, message);
    assert.doesNotMatch(run.stderr, /signature-of-the-pod/);
    assert.ok(
      run.seen.every(({ request: call }) => call.url.host.startsWith("sts")),
      "no call to ECR",
    );
  }
});

test("what cannot be a role of the registry's partition is refused before the token leaves", async () => {
  for (const [arn, message] of [
    ["pull-team", /is not the ARN of an IAM role/],
    ["arn:aws:iam::123456789012:user/me", /is not the ARN of an IAM role/],
    ["arn:aws-cn:iam::123456789012:role/x", /partition aws-cn, and the registry is in partition aws/],
  ] as const) {
    const run = await runIt({ input: request(undefined, annotated(arn)), reply: cloud });
    assert.equal(run.status, 1);
    assert.equal(run.seen.length, 0);
    assert.match(run.stderr, message);
  }
});

test("only an operator who asked for it gets the node's credentials instead", async () => {
  const run = await runIt({
    input: request(undefined, annotated()),
    environment: { ...staticKeys, ECR_CREDENTIAL_PROVIDER_FALLBACK: "node" },
    reply: (call) => (call.url.host.startsWith("sts") ? { status: 403, body: stsError("AccessDenied") } : cloud(call)),
  });
  assert.equal(run.status, 0, run.stderr);
  assert.equal(signer(run), "AKIDEXAMPLE");
  assert.match(run.stderr, /failed to assume role.*using the node's credentials, as ECR_CREDENTIAL_PROVIDER_FALLBACK allows/);
});

test("for public images a role is assumed in the configured region, the instance's, or us-east-1", async () => {
  const stsHost = async (environment: Record<string, string>) => {
    const run = await runIt({ input: request("public.ecr.aws/a/b", annotated()), environment, reply: cloud });
    assert.equal(run.status, 0, run.stderr);
    return run.seen.find(({ form }) => form.has("RoleArn"))?.request.url.host;
  };
  assert.equal(await stsHost({ AWS_REGION: "eu-west-3" }), "sts.eu-west-3.amazonaws.com");
  assert.equal(await stsHost({}), "sts.eu-north-1.amazonaws.com");
  assert.equal(await stsHost({ AWS_EC2_METADATA_DISABLED: "true" }), "sts.us-east-1.amazonaws.com");
});

test("without anything configured the instance's role is used, by version 2 of the metadata service, past any proxy", async () => {
  const run = await runIt({ input: request(), environment: { HTTP_PROXY: "http://proxy:1", HTTPS_PROXY: "http://proxy:2" }, reply: cloud });
  assert.equal(run.status, 0, run.stderr);
  assert.deepEqual(
    run.seen.map(({ request: call, route }) => `${call.method} ${call.url.host}${call.url.pathname} ${route.proxy ?? "direct"}`),
    [
      "PUT 169.254.169.254/latest/api/token direct",
      "GET 169.254.169.254/latest/meta-data/iam/security-credentials/ direct",
      "GET 169.254.169.254/latest/meta-data/iam/security-credentials/node-role direct",
      "POST api.ecr.us-west-2.amazonaws.com/ http://proxy:2/",
    ],
  );
  assert.equal(run.seen[1]?.request.headers["x-aws-ec2-metadata-token"], "imds-session");
  assert.equal(signer(run), "ASIANODE");
  const ipv6 = await runIt({ input: request(), environment: { AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: "IPv6" }, reply: cloud });
  assert.equal(ipv6.seen[0]?.request.url.hostname, "[fd00:ec2::254]");
});

test("a node without credentials is told so, with what was tried", async () => {
  const nothing = await runIt({ input: request(), environment: {}, reply: () => ({ status: 404 }) });
  assert.equal(nothing.status, 1);
  assert.match(
    nothing.stderr,
    /ECR: GetAuthorizationToken, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, /,
  );
  const off = await runIt({ input: request(), environment: { AWS_EC2_METADATA_DISABLED: "true" } });
  assert.match(off.stderr, /the instance metadata service is switched off/);
  const broken = await runIt({
    input: request(),
    environment: {},
    reply: (call) => (call.url.pathname.endsWith("/node-role") ? { body: { Code: "AssumeRoleUnauthorizedAccess" } } : cloud(call)),
  });
  assert.match(broken.stderr, /cannot read EC2 IMDS role node-role, the answer says AssumeRoleUnauthorizedAccess/);
});

test("web identity of the environment is a role assumed with a token from a file", async () => {
  const environment = { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: "/token", AWS_ROLE_SESSION_NAME: "node-7" };
  const run = await runIt({ input: request(), environment, files: { "/token": "file-token" }, reply: cloud });
  assert.equal(run.status, 0, run.stderr);
  assert.equal(run.seen[0]?.form.get("WebIdentityToken"), "file-token");
  assert.equal(run.seen[0]?.form.get("RoleSessionName"), "node-7");
  assert.equal(signer(run), "ASIAROLE");
  const missing = await runIt({ input: request(), environment, reply: cloud });
  assert.match(missing.stderr, /web identity: cannot read \/token/);
});

test("a container endpoint is asked, with its authorization, unless it is somewhere it must not be", async () => {
  const body = { AccessKeyId: "ASIATASK", SecretAccessKey: "task-secret-key", Token: "task-session-token" };
  const reply = (call: HttpRequest) => (call.url.pathname === "/creds" ? { body } : cloud(call));
  const full = await runIt({
    input: request(),
    environment: { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/creds", AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "/auth" },
    files: { "/auth": "Bearer x\n" },
    reply,
  });
  assert.equal(signer(full), "ASIATASK", full.stderr);
  assert.equal(full.seen[0]?.request.headers.authorization, "Bearer x");
  const relative = await runIt({ input: request(), environment: { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/creds" }, reply });
  assert.equal(relative.seen[0]?.request.url.href, "http://169.254.170.2/creds");
  const outside = await runIt({ input: request(), environment: { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://evil.com/creds" }, reply });
  assert.equal(outside.status, 1);
  assert.equal(outside.seen.length, 0);
});

test("the shared profile gives region, endpoints and attempts; one chosen by name must exist", async () => {
  const config = `# comment
[default]
region = eu-west-1
max_attempts = 1
services = local
[profile other]
use_dualstack_endpoint = true
[services local]
ecr =
  endpoint_url = http://127.0.0.1:7
`;
  const files = { "/root/.aws/config": config };
  const named = await runIt({ input: request(), environment: { ...staticKeys, HOME: "/root" }, files, reply: () => new Error("refused") });
  assert.equal(named.seen.length, 1);
  assert.equal(named.seen[0]?.request.url.host, "127.0.0.1:7");
  const other = await runIt({
    input: request(),
    environment: { ...staticKeys, AWS_CONFIG_FILE: "/root/.aws/config", AWS_PROFILE: "other" },
    files,
  });
  assert.equal(other.seen[0]?.request.url.host, "ecr.us-west-2.api.aws");
  const missing = await runIt({ input: request(), environment: { ...staticKeys, HOME: "/root", AWS_PROFILE: "nope" }, files });
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /failed to get shared config profile, nope/);
});

test("in every environment the credentials are those that the SDK for Go would use", async () => {
  // The last eight of each kind differ in the container endpoint alone: one of them, another each time, is played.
  const played = credentialMatrix().filter((_, index) => index % 8 === Math.floor(index / 8) % 8);
  assert.equal(played.length, 480);
  for (const { environment, keyId } of played) {
    const reply = ({ url }: HttpRequest) => (url.host.startsWith("api.ecr") ? tokenReply() : { body: matrixAnswer(url.pathname) });
    const run = await runIt({ input: request(), environment, files: matrixFiles, reply });
    const used = run.status === 0 ? signer(run) : undefined;
    assert.equal(used, keyId, `${JSON.stringify(environment)} ${run.stderr}`);
  }
});
