import assert from "node:assert/strict";
import { test } from "node:test";
import { double, run } from "./ecr-double.ts";

test("whatever hangs, the executable ends within 50 seconds of real time and says what hung", { concurrency: true }, async (t) => {
  const silent = await double(t, () => {});
  const [endpoint, input, attempts] = await Promise.all([
    run({ environment: { AWS_ENDPOINT_URL: silent.url } }),
    run({ stayOpen: true }),
    run({ environment: { AWS_ENDPOINT_URL: silent.url, AWS_MAX_ATTEMPTS: "50", ECR_CREDENTIAL_PROVIDER_TIMEOUT: "10m" } }),
  ]);
  for (const { status, stdout, milliseconds } of [endpoint, input, attempts]) {
    assert.deepEqual([status, stdout], [1, ""]);
    assert.ok(milliseconds < 50_000, `${milliseconds} ms`);
  }
  assert.match(
    endpoint.stderr,
    /ECR: GetAuthorizationToken, .*exceeded maximum number of attempts, 3, request send failed: no answer within 12000 ms/,
  );
  assert.match(input.stderr, /standard input was not closed within the time limit/);
  assert.match(attempts.stderr, /the time limit of 48s ran out in attempt \d/);
});
