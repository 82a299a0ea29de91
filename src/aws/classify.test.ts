import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "./classify.ts";
import type { ErrorClass } from "./errors.ts";

const attempted = { service: "ec2", action: "CreateTags", region: "us-east-1", writes: true, sent: true } as const;
const raised = (code: string, status?: number, message = code) =>
  Object.assign(new Error(message), { name: code, $metadata: { httpStatusCode: status, requestId: "r-1" } });

const table: readonly (readonly [code: string, status: number | undefined, ErrorClass])[] = [
  ["InvalidInstanceID.NotFound", 400, "not-found"],
  ["InvalidGroup.NotFound", 400, "not-found"],
  ["LoadBalancerNotFound", 400, "not-found"],
  ["RepositoryNotFoundException", 400, "not-found"],
  ["RequestLimitExceeded", 503, "throttled"],
  ["Throttling", 400, "throttled"],
  ["SomethingNew", 429, "throttled"],
  ["DependencyThrottle", 400, "throttled"],
  ["UnauthorizedOperation", 403, "denied"],
  ["AccessDenied", 403, "denied"],
  ["RouteAlreadyExists", 400, "conflict"],
  ["InvalidPermission.Duplicate", 400, "conflict"],
  ["DuplicateLoadBalancerName", 400, "conflict"],
  ["ResourceInUse", 400, "conflict"],
  ["DependencyViolation", 400, "dependency"],
  ["RouteLimitExceeded", 400, "limit-exceeded"],
  ["TooManyTargets", 400, "limit-exceeded"],
  ["InvalidParameterValue", 400, "invalid"],
  ["InvalidInstanceID.Malformed", 400, "invalid"],
  ["ValidationError", 400, "invalid"],
  ["UnsupportedOperation", 400, "unsupported"],
  ["InternalError", 500, "transient"],
  ["NoIdeaWhat", 502, "transient"],
  ["ECONNRESET", undefined, "transient"],
  ["ExpiredToken", 400, "expired-credentials"],
  ["AuthFailure", 401, "credentials"],
  ["RequestTimeTooSkewed", 403, "clock-skew"],
  ["NoIdeaWhat", 418, "unknown"],
];
for (const [code, status, expected] of table) {
  test(`${code}${status === undefined ? "" : ` with status ${status}`} is ${expected}`, () => {
    assert.equal(classify(raised(code, status), attempted).class, expected);
  });
}

test("a refused signature is a wrong clock when AWS's clock says so, or its words do", () => {
  assert.equal(classify(raised("AuthFailure", 401), { ...attempted, skewMs: 600_000 }).class, "clock-skew");
  assert.equal(classify(raised("RequestExpired", 400), { ...attempted, skewMs: -600_000 }).class, "clock-skew");
  assert.equal(classify(raised("RequestExpired", 400), { ...attempted, skewMs: 1_000 }).class, "expired-credentials");
  assert.equal(classify(raised("SignatureDoesNotMatch", 403, "Signature expired: 2026 is now earlier"), attempted).class, "clock-skew");
});

test("only a write that was sent and lost may have happened", () => {
  const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  assert.equal(classify(reset, attempted).mayHaveHappened, true);
  assert.equal(classify(reset, { ...attempted, writes: false }).mayHaveHappened, false);
  assert.equal(classify(reset, { ...attempted, sent: false }).mayHaveHappened, false);
  assert.equal(classify(Object.assign(new Error("x"), { code: "ENOTFOUND" }), attempted).mayHaveHappened, false);
  assert.equal(classify(raised("DependencyViolation", 400), attempted).mayHaveHappened, false);
});

test("the permission AWS names is the one reported, else that of the action", () => {
  const message = "User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: elasticloadbalancing:AddTags on resource: x";
  assert.equal(classify(raised("AccessDenied", 403, message), attempted).iamAction, "elasticloadbalancing:AddTags");
  assert.equal(classify(raised("UnauthorizedOperation", 403), attempted).iamAction, "ec2:CreateTags");
});

test("a refused deletion of what is protected is no missing permission, and says what protects it", () => {
  const call = { ...attempted, service: "elbv2", action: "DeleteLoadBalancer" } as const;
  const said = "Load balancer 'arn:x' cannot be deleted because deletion protection is enabled";
  const error = classify(raised("OperationNotPermitted", 400, said), call);
  assert.equal(error.class, "conflict");
  assert.equal(error.iamAction, undefined);
  assert.match(error.message, /deletion protection is on/);
  assert.doesNotMatch(error.message, /policy of the role/);
  assert.doesNotMatch(classify(raised("OperationNotPermitted", 400, "cannot be detached"), attempted).message, /protection/);
});
