import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { host, runIt, staticKeys } from "../../test/bed/credential-provider.ts";

test("config prints what kubelet needs, in YAML or JSON", async () => {
  const yaml = await runIt({ args: ["config"] });
  const json = await runIt({ args: ["config", "--output=json"] });
  assert.equal(yaml.status, 0);
  assert.deepEqual(parse(yaml.stdout), JSON.parse(json.stdout));
  const [provider] = JSON.parse(json.stdout).providers;
  assert.equal(provider.name, "ecr-credential-provider");
  assert.equal(provider.apiVersion, "credentialprovider.kubelet.k8s.io/v1");
  assert.ok(provider.matchImages.includes("*.dkr-ecr-fips.*.on.aws"));
  assert.equal(provider.tokenAttributes, undefined);
  const roles = parse((await runIt({ args: ["config", "--service-account-tokens"] })).stdout);
  assert.equal(roles.providers[0].tokenAttributes.serviceAccountTokenAudience, "sts.amazonaws.com");
  assert.deepEqual(roles.providers[0].tokenAttributes.optionalServiceAccountAnnotationKeys, ["eks.amazonaws.com/ecr-role-arn"]);
});

test("test shows what kubelet would get, with the password hidden", async () => {
  const run = await runIt({ args: ["test", `${host}/team/app:1.0@sha256:${"0".repeat(64)}`] });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stdout, new RegExp(`^image: +${host}/team/app\n`));
  assert.match(run.stdout, /kubelet: +asks, because of \*\.dkr\.ecr\.\*\.amazonaws\.com\n/);
  assert.match(run.stdout, /identity: +the node's, because the request carries no service account token\n/);
  assert.match(run.stdout, /credentials: +environment\n/);
  assert.match(run.stdout, /"password":"\[hidden, 12 characters\]"/);
  assert.doesNotMatch(run.stdout + run.stderr, /the-password/);
});

test("test says why not, when not", async () => {
  const foreign = await runIt({ args: ["test", "docker.io/library/nginx"] });
  assert.equal(foreign.status, 1);
  assert.match(foreign.stdout, /no pattern of the generated configuration matches/);
  assert.match(foreign.stdout, /the host is not an Amazon ECR registry/);
  const denied = await runIt({ args: ["test", `${host}/a`], reply: () => ({ status: 400, body: { __type: "AccessDeniedException" } }) });
  assert.equal(denied.status, 1);
  assert.match(denied.stdout, /result: +no credentials \(CallFailed\)/);
  assert.match(denied.stderr, /Allow ecr:GetAuthorizationToken/);
});

test("test plays a service account's part", async () => {
  const run = await runIt({
    args: ["test", `${host}/a`, "--token-file", "/token", "--annotation=eks.amazonaws.com/ecr-role-arn=arn:aws:iam::123456789012:role/x"],
    files: { "/token": "pod-token-text" },
    environment: { ...staticKeys },
    reply: () => ({ status: 403, body: "<Error><Code>AccessDenied</Code></Error>" }),
  });
  assert.equal(run.status, 1);
  assert.equal(run.seen[0]?.form.get("WebIdentityToken"), "pod-token-text");
});
