import assert from "node:assert/strict";
import { test } from "node:test";
import { redact } from "../runtime/redact.ts";
import { Secret } from "../runtime/secret.ts";
import { apply, type Caller } from "./apply.ts";
import { createListener, createTargetGroup, deleteTargetGroup } from "./elbv2-actions.ts";
import { AwsError } from "./errors.ts";
import { made, planJson, planText, resolved, step } from "./plan.ts";

const group = step(
  createTargetGroup,
  { Name: "tg", Port: 31000 },
  {
    what: "create target group tg",
    why: "port 80 needs one",
    makes: { name: "target group tg", id: (output) => output.TargetGroups?.[0]?.TargetGroupArn },
  },
);
const listener = step(
  createListener,
  { LoadBalancerArn: "arn:lb", Port: 80, DefaultActions: [{ Type: "forward", TargetGroupArn: made("target group tg") }] },
  { what: "create listener TCP:80", why: "the Service has port 80" },
);
const removal = step(
  deleteTargetGroup,
  { TargetGroupArn: "arn:old" },
  {
    what: "delete target group old",
    why: "no listener uses it",
    settledBy: ["TargetGroupNotFound"],
    waitsOn: ["ResourceInUse"],
  },
);

/** A cloud that answers each action as told, and remembers what it was asked. */
function cloud(answers: Record<string, unknown>) {
  const calls: [string, object][] = [];
  const call = async (action: { name: string }, input: object) => {
    calls.push([action.name, input]);
    const answer = answers[action.name];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { calls, caller: { call } as unknown as Caller };
}

const failure = (code: string) =>
  new AwsError({
    class: "conflict",
    code,
    service: "elbv2",
    action: "DeleteTargetGroup",
    region: "us-east-1",
    message: "in use by a listener",
  });
const options = { cause: "test", signal: new AbortController().signal };

test("a step gets the id of what an earlier step made", async () => {
  const { calls, caller } = cloud({ CreateTargetGroup: { TargetGroups: [{ TargetGroupArn: "arn:tg" }] } });
  assert.equal((await apply([group, listener], caller, options)).kind, "done");
  assert.deepEqual(calls[1], [
    "CreateListener",
    { LoadBalancerArn: "arn:lb", Port: 80, DefaultActions: [{ Type: "forward", TargetGroupArn: "arn:tg" }] },
  ]);
});

test("a plan in the wrong order is refused before anything wrong is sent", async () => {
  const { calls, caller } = cloud({});
  await assert.rejects(apply([listener], caller, options), /uses target group tg before it is made/);
  assert.deepEqual(calls, []);
});

test("what AWS says is so already is done; what has to wait is waited for; what fails stops the plan", async () => {
  assert.equal((await apply([removal], cloud({ DeleteTargetGroup: failure("TargetGroupNotFound") }).caller, options)).kind, "done");
  assert.deepEqual(await apply([removal], cloud({ DeleteTargetGroup: failure("ResourceInUse") }).caller, options), {
    kind: "waiting",
    made: new Map(),
    refused: [],
    why: "delete target group old: in use by a listener",
  });
  const { calls, caller } = cloud({ DeleteTargetGroup: failure("AccessDenied") });
  await assert.rejects(apply([removal, group], caller, options), AwsError);
  assert.equal(calls.length, 1);
});

test("a plan reads as text and as JSON, with names where ids are not known yet", () => {
  assert.equal(
    planText([group, listener]),
    "create target group tg  (port 80 needs one)\ncreate listener TCP:80  (the Service has port 80)",
  );
  assert.deepEqual(planJson([listener])[0], {
    what: "create listener TCP:80",
    why: "the Service has port 80",
    action: "elbv2:CreateListener",
    input: { LoadBalancerArn: "arn:lb", Port: 80, DefaultActions: [{ Type: "forward", TargetGroupArn: "<target group tg>" }] },
  });
});

test("a step knows whether it brings something or takes it away", () => {
  assert.deepEqual([group.effect, removal.effect], ["create", "delete"]);
});

test("a secret that was sent is masked in what AWS says of it", () => {
  const clientSecret = "correct-horse-battery";
  const refused = `Value '${clientSecret}' at 'actions.1.member.clientSecret' failed to satisfy constraint`;
  assert.deepEqual(resolved({ ClientSecret: new Secret(clientSecret) }, new Map()), { ClientSecret: clientSecret });
  assert.doesNotMatch(redact(refused), /correct-horse/);
});
