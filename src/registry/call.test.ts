import assert from "node:assert/strict";
import { test } from "node:test";
import { type Reply, request, runIt, staticKeys, tokenReply } from "../../test/bed/credential-provider.ts";

const refusal = (status: number, code: string, message = "the reason"): Reply => ({
  status,
  headers: { "x-amzn-requestid": "request-9" },
  body: { __type: `com.amazonaws.ecr#${code}`, message },
});
const never: Reply = { afterMs: Number.POSITIVE_INFINITY };

test("a refusal is reported as AWS gave it, with what to do, after one call", async () => {
  const run = await runIt({ input: request(), reply: () => refusal(400, "AccessDeniedException", "User: arn:x is not\nauthorized") });
  assert.equal(run.status, 1);
  assert.equal(run.stdout, "");
  assert.equal(run.seen.length, 1);
  assert.match(
    run.stderr,
    /Error running credential provider plugin: operation error ECR: GetAuthorizationToken, https response error StatusCode: 400, RequestID: request-9, api error AccessDeniedException: User: arn:x is not authorized code="CallFailed" hint="Allow ecr:GetAuthorizationToken to/,
  );
});

test("a missing permission is named as AWS names it: the login of public registries takes two", async () => {
  for (const action of ["ecr:GetAuthorizationToken", "ecr-public:GetAuthorizationToken", "sts:GetServiceBearerToken"]) {
    const image = action.startsWith("ecr:") ? undefined : "public.ecr.aws/eks/pause";
    const message = `User: arn:aws:sts::123456789012:assumed-role/node/i-1 is not authorized to perform: ${action} on resource: *`;
    const run = await runIt({ input: request(image), reply: () => refusal(400, "AccessDeniedException", message) });
    assert.equal(run.status, 1);
    assert.match(run.stderr, new RegExp(`hint="Allow ${action} to the role`));
  }
});

test("throttling, server errors and broken connections are tried three times; AWS_MAX_ATTEMPTS changes that", async () => {
  for (const reply of [
    refusal(400, "ThrottlingException"),
    refusal(500, "ServerException"),
    refusal(503, "x"),
    new Error("connect ECONNREFUSED"),
  ]) {
    const run = await runIt({ input: request(), reply: () => reply });
    assert.equal(run.status, 1);
    assert.equal(run.seen.length, 3);
    assert.match(run.stderr, /exceeded maximum number of attempts, 3, /);
    const once = await runIt({ input: request(), environment: { ...staticKeys, AWS_MAX_ATTEMPTS: "1" }, reply: () => reply });
    assert.equal(once.seen.length, 1);
  }
  for (const reply of [
    refusal(400, "ValidationException"),
    refusal(403, "UnrecognizedClientException"),
    refusal(400, "ExpiredTokenException"),
  ]) {
    assert.equal((await runIt({ input: request(), reply: () => reply })).seen.length, 1);
  }
});

test("an attempt that fails is made good by the next", async () => {
  const run = await runIt({ input: request(), reply: (_, index) => (index === 0 ? new Error("socket hang up") : tokenReply()) });
  assert.equal(run.status, 0, run.stderr);
  assert.ok(run.elapsedMs < 500);
});

test("throttled callers spread out over seconds, so that nodes which boot together do not come back together", async () => {
  const run = await runIt({ input: request(), reply: (_, index) => (index < 2 ? refusal(429, "TooManyRequests") : tokenReply()) });
  assert.equal(run.status, 0, run.stderr);
  const [first, second, third] = run.seen.map(({ atMs }) => atMs) as [number, number, number];
  assert.ok(second - first >= 500 && second - first <= 8_000, `${second - first}`);
  assert.ok(third - second >= 500 && third - second <= 16_000, `${third - second}`);
});

test("an endpoint that never answers is given up in time, and the reason says which", async () => {
  const run = await runIt({ input: request(), reply: () => never });
  assert.equal(run.status, 1);
  assert.ok(run.elapsedMs < 46_000, `${run.elapsedMs}`);
  assert.equal(run.seen.length, 3);
  assert.match(run.stderr, /ECR: GetAuthorizationToken, .*https:\/\/api.ecr.us-west-2.amazonaws.com.*no answer within 12000 ms/);
});

test("one time limit holds for the whole run, however many steps it has", async () => {
  const limited = { ECR_CREDENTIAL_PROVIDER_TIMEOUT: "5s" };
  const ecr = await runIt({ input: request(), environment: { ...staticKeys, ...limited }, reply: () => never });
  assert.equal(ecr.elapsedMs, 5_000);
  assert.match(
    ecr.stderr,
    /ECR: GetAuthorizationToken, the time limit of 5s ran out in attempt 1 at api.ecr.us-west-2.amazonaws.com: no answer code="Deadl/,
  );

  const role = {
    serviceAccountToken: "a.b.c-token",
    serviceAccountAnnotations: { "eks.amazonaws.com/ecr-role-arn": "arn:aws:iam::123456789012:role/x" },
  };
  const sts = await runIt({ input: request(undefined, role), environment: limited, reply: () => never });
  assert.equal(sts.elapsedMs, 5_000);
  assert.match(sts.stderr, /failed to assume role: operation error STS: AssumeRoleWithWebIdentity, the time limit of 5s ran out/);

  const metadata = await runIt({ input: request(), environment: { ECR_CREDENTIAL_PROVIDER_TIMEOUT: "3s" }, reply: () => never });
  assert.ok(metadata.elapsedMs <= 3_300);
  assert.match(metadata.stderr, /no EC2 IMDS role found, the time limit ran out/);
});

test("no limit beyond 48 seconds can be asked for", async () => {
  const environment = { ...staticKeys, ECR_CREDENTIAL_PROVIDER_TIMEOUT: "10m", AWS_MAX_ATTEMPTS: "100" };
  const run = await runIt({ input: request(), environment, reply: () => never });
  assert.equal(run.elapsedMs, 48_000);
});

test("standard input that stays open ends the run in time too", async () => {
  const run = await runIt({});
  assert.equal(run.status, 1);
  assert.equal(run.elapsedMs, 45_000);
  assert.match(run.stderr, /standard input was not closed within the time limit/);
});

test("an answer without end is cut off", async () => {
  const run = await runIt({ input: request(), reply: () => ({ body: "x".repeat(2 * 1024 * 1024) }) });
  assert.match(run.stderr, /the answer is longer than 1048576 bytes/);
  assert.equal(run.seen.length, 1);
});

test("a clock that is hours off is corrected from AWS's answer", async () => {
  const trueTime = Date.UTC(2026, 0, 1, 5);
  const run = await runIt({
    input: request(),
    reply: ({ headers }, index) =>
      index === 0
        ? { ...refusal(403, "InvalidSignatureException"), headers: { date: new Date(trueTime).toUTCString() } }
        : headers["x-amz-date"] === "20260101T050000Z"
          ? tokenReply()
          : refusal(403, "InvalidSignatureException"),
  });
  assert.equal(run.status, 0, run.stderr);
});

test("a signature refused for another reason is not retried", async () => {
  const reply = { ...refusal(403, "InvalidSignatureException"), headers: { date: new Date(Date.UTC(2026, 0, 1)).toUTCString() } };
  assert.equal((await runIt({ input: request(), reply: () => reply })).seen.length, 1);
});

test("a proxy's error page is not quoted", async () => {
  const run = await runIt({ input: request(), reply: () => ({ status: 407, body: "<html>secret-page</html>" }) });
  assert.match(run.stderr, /StatusCode: 407, RequestID: , api error UnknownError: no message/);
  assert.doesNotMatch(run.stderr, /secret-page/);
});
