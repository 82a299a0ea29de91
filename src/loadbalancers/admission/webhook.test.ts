import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import type { AdmissionRequest, Verdict } from "./review.ts";
import { serviceClassWebhook } from "./service-class.ts";
import { type Webhook, webhookRoutes } from "./webhook.ts";

const review = (request: Partial<AdmissionRequest> = {}) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "u-1", operation: "CREATE", namespace: "shop", name: "web", object: {}, ...request },
});

interface Answer {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
  readonly status?: { readonly code: number; readonly message: string };
}

function bed(answer: Webhook["answer"]) {
  const world = virtualWorld(1);
  const metrics = newRegistry();
  const rule = { group: "", version: "v1", resource: "pods", operations: ["CREATE"] } as const;
  const row: Webhook = { name: "mtest", path: "/mutate", phase: "mutating", rule, answer };
  const [route] = webhookRoutes([row], { world, log: silentLog, metrics });
  const send = async (body: string) =>
    route!.answer({
      method: "POST",
      path: "/mutate",
      query: new URLSearchParams(),
      body,
      user: undefined,
      signal: new AbortController().signal,
    });
  const ask = async (request?: Partial<AdmissionRequest>) =>
    (JSON.parse(String((await send(JSON.stringify(review(request)))).body)) as { response: Answer }).response;
  return { world, metrics, send, ask };
}

test("an answer carries the question's id, and a change as a JSON patch", async () => {
  const { ask } = bed(() => ({ kind: "allow", patch: [{ op: "add", path: "/spec/a", value: 1 }], warnings: ["mind this"] }));
  const { patch = "", ...rest } = await ask();
  assert.deepEqual(rest, { uid: "u-1", allowed: true, patchType: "JSONPatch", warnings: ["mind this"] });
  assert.deepEqual(JSON.parse(Buffer.from(patch, "base64").toString()), [{ op: "add", path: "/spec/a", value: 1 }]);
});

test("a refusal says why, and is counted by webhook and category", async () => {
  const { ask, metrics } = bed(() => ({ kind: "deny", category: "checkNodeSelector", message: "no such thing" }));
  const { allowed, status } = await ask();
  assert.deepEqual([allowed, status?.code, status?.message], [false, 403, "no such thing"]);
  assert.match(
    await metrics.metrics(),
    /awslbc_webhook_mutation_failure_total\{webhook_name="\/mutate",error_category="checkNodeSelector"\} 1/,
  );
});

test("what cannot be judged passes with a warning: an error, an answer that does not come, AWS that fails", async () => {
  const broken = bed(() => {
    throw new TypeError("spec is not iterable");
  });
  const { allowed, warnings } = await broken.ask();
  assert.deepEqual([allowed, warnings], [true, ["mtest cannot judge this now: spec is not iterable"]]);

  const slow = bed(() => new Promise<Verdict>(() => {}));
  const asked = slow.ask();
  await slow.world.advance(8_001);
  assert.deepEqual([(await asked).allowed, (await asked).warnings?.length], [true, 1]);

  const unsure = await bed(() => ({ kind: "pass", category: "any", why: "x".repeat(300) })).ask();
  assert.deepEqual([unsure.allowed, unsure.warnings?.[0]?.length], [true, 256]);
});

test("nobody is asked about an object that is being deleted, or about a deletion", async () => {
  const { ask } = bed(() => ({ kind: "deny", category: "any", message: "never" }));
  assert.equal((await ask({ operation: "UPDATE", object: { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } } })).allowed, true);
  assert.equal((await ask({ operation: "DELETE", object: null })).allowed, true);
  assert.equal((await ask()).allowed, false);
});

test("what is no question is answered with 400", async () => {
  const { send } = bed(() => ({ kind: "allow" }));
  for (const body of ["", "[]", "{}", JSON.stringify({ ...review(), apiVersion: "admission.k8s.io/v1beta1" })])
    assert.equal((await send(body)).status, 400, body);
});

test("a new Service of type LoadBalancer without a class gets ours; a class that is there stays, also through an update", async () => {
  const { answer } = serviceClassWebhook("service.k8s.aws/nlb");
  const { signal } = new AbortController();
  const patchFor = async (operation: "CREATE" | "UPDATE", spec: object, oldSpec?: object) => {
    const verdict = await answer({ operation, namespace: "shop", name: "web", object: { spec }, oldObject: { spec: oldSpec } }, signal);
    return verdict.kind === "allow" ? (verdict.patch ?? []).map((each) => ("value" in each ? each.value : "")) : undefined;
  };
  assert.deepEqual(await patchFor("CREATE", { type: "LoadBalancer" }), ["service.k8s.aws/nlb"]);
  assert.deepEqual(await patchFor("CREATE", { type: "LoadBalancer", loadBalancerClass: "" }), ["service.k8s.aws/nlb"]);
  assert.deepEqual(await patchFor("CREATE", { type: "LoadBalancer", loadBalancerClass: "other" }), []);
  assert.deepEqual(await patchFor("CREATE", { type: "ClusterIP" }), []);
  assert.deepEqual(await patchFor("UPDATE", { type: "LoadBalancer" }, { loadBalancerClass: "was" }), ["was"]);
  assert.deepEqual(await patchFor("UPDATE", { type: "LoadBalancer" }, { type: "ClusterIP" }), []);
});
