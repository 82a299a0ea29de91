import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, type ApiErrorReason } from "../../kube/errors.ts";
import type { Endpoint } from "./endpoints.ts";
import { awaitsHealth, bindingDeleted, gatedPods, gateOf, tellPod } from "./gates.ts";
import type { SeenTarget } from "./group-targets.ts";
import type { PodCondition, SeenPod } from "./pods.ts";

const gate = gateOf("web");
const { signal } = new AbortController();
const then = "2026-01-01T00:00:00Z";
const now = "2026-01-01T00:01:00Z";

const condition = (status: string, reason = "", message = "", type = gate): PodCondition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: then,
});
const pod = (conditions: readonly PodCondition[], gates: readonly string[] = [gate]): SeenPod =>
  ({ metadata: { namespace: "shop", name: "web-1", uid: "u-1" }, gates, conditions }) as unknown as SeenPod;
const endpoint = (of: SeenPod): Endpoint => ({ id: "10.0.0.1", port: 80, createdAt: 0, pod: of });

async function told(seen: SeenPod, verdict: Parameters<typeof tellPod>[2]["verdict"], failure?: Error) {
  const patches: unknown[] = [];
  const kube = {
    patch: async (_of: unknown, where: unknown, body: unknown) => {
      patches.push([where, body]);
      if (failure) throw failure;
    },
  };
  const isTold = await tellPod(kube as never, gate, { pod: seen, verdict }, now, signal);
  return { isTold, patches };
}

const healthy = { status: "True", reason: "", message: "" } as const;
const checking = { status: "False", reason: "Elb.InitialHealthChecking", message: "m" } as const;

test("a condition is written for this very pod, alone; its time changes with its status only", async () => {
  const first = await told(pod([]), checking);
  assert.deepEqual(first.patches, [
    [
      { namespace: "shop", name: "web-1", subresource: "status" },
      { strategic: { status: { conditions: [{ type: gate, ...checking, lastTransitionTime: now }] } }, uid: "u-1" },
    ],
  ]);
  const same = await told(pod([condition("False", "Elb.RegistrationInProgress")]), checking);
  assert.match(JSON.stringify(same.patches), new RegExp(`"lastTransitionTime":"${then}"`));
  const flipped = await told(pod([condition("False")]), healthy);
  assert.match(JSON.stringify(flipped.patches), new RegExp(`"lastTransitionTime":"${now}"`));
});

test("what a pod was told already is not said again", async () => {
  const { isTold, patches } = await told(pod([condition("False", checking.reason, checking.message)]), checking);
  assert.deepEqual([isTold, patches], [false, []]);
});

test("a pod that is gone needs no word; any other failure is one", async () => {
  const failure = (reason: ApiErrorReason) => new ApiError({ reason, status: 0, asked: "patch pods", said: reason });
  assert.equal((await told(pod([]), healthy, failure("not-found"))).isTold, false);
  await assert.rejects(told(pod([]), healthy, failure("internal")), /patch pods: internal/);
});

test("health is asked for as long as a gated pod is not told that it is well, by this binding and no other", () => {
  const other = "target-health.elbv2.k8s.aws/other";
  assert.equal(awaitsHealth(gate, [endpoint(pod([condition("True")]))]), false);
  assert.equal(awaitsHealth(gate, [endpoint(pod([condition("False")]))]), true);
  assert.equal(awaitsHealth(gate, [endpoint(pod([condition("True"), condition("False", "", "", other)], [gate, other]))]), false);
  assert.equal(awaitsHealth(gate, [endpoint(pod([]))]), true, "one that was never told is told");
  assert.equal(awaitsHealth(gate, [endpoint(pod([], [other]))]), false);
  assert.equal(awaitsHealth(gate, [{ id: "i-1", port: 80, createdAt: 0 }]), false);
});

test("only pods with the gate are told, each of its own target; when the binding goes all are let go", () => {
  const target = { id: "10.0.0.1", port: 80, state: "healthy", reason: "", description: "" } satisfies SeenTarget;
  const pairs = [
    [endpoint(pod([])), target],
    [endpoint(pod([], [])), target],
    [endpoint(pod([])), undefined],
  ] as const;
  assert.deepEqual(
    gatedPods(gate, pairs).map(({ verdict }) => [verdict.status, verdict.reason]),
    [
      ["True", ""],
      ["False", "Elb.RegistrationInProgress"],
    ],
  );
  assert.deepEqual([bindingDeleted.status, bindingDeleted.message], ["True", "Target Group Binding is deleted"]);
});
