import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ApiErrorReason, isApiError } from "../../src/kube/errors.ts";
import { informer } from "../../src/kube/informer.ts";
import { type KubeObject, type Resource, resource } from "../../src/kube/resource.ts";
import { listenerRuleConfigurations, loadBalancerConfigurations, targetGroupConfigurations } from "../../src/loadbalancers/gateway/api.ts";
import { loadBalancerConfigurationDefinition, targetGroupConfigurationDefinition } from "../../src/loadbalancers/gateway/crd.ts";
import { listenerRuleConfigurationDefinition } from "../../src/loadbalancers/gateway/rule-crd.ts";
import { bed, eventually, type TestCluster } from "../bed/bed.ts";
import { apply } from "../bed/manifests.ts";
import { type Schema, schemaCases } from "../bed/schema-cases.ts";

interface Boat extends KubeObject {
  readonly spec?: { readonly crew?: number; readonly flags?: readonly string[] };
  readonly status?: { readonly at?: string };
}

const boats = resource<Boat>({ group: "test.fairlead.dev", version: "v1", plural: "boats", kind: "Boat", namespaced: true });

test("a custom resource is followed as a built-in one is", async (t) => {
  const { cluster, namespace } = await withBoats(t);
  const followed = informer({ client: cluster.admin, of: boats, indexes: { crew: ({ spec }) => [String(spec?.crew)] } });
  const stop = new AbortController();
  const running = followed.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  await followed.synced;
  await cluster.admin.create(boats, { metadata: { namespace, name: "dinghy" }, spec: { crew: 1 } });
  await eventually(() =>
    assert.deepEqual(
      followed.by("crew", "1").map(({ metadata }) => metadata.name),
      ["dinghy"],
    ),
  );
  await cluster.admin.patch(boats, { namespace, name: "dinghy" }, { merge: { spec: { crew: 2 } } });
  await eventually(() => assert.equal(followed.get(`${namespace}/dinghy`)?.spec?.crew, 2));
  assert.deepEqual(followed.by("crew", "1"), []);
  await cluster.admin.delete(boats, { namespace, name: "dinghy" });
  await eventually(() => assert.equal(followed.size, 0));
});

test("every kind of patch reaches the real server, and its refusals come back by class", async (t) => {
  const { cluster, namespace } = await withBoats(t);
  const { admin } = cluster;
  const ferry = { namespace, name: "ferry" };
  const made = await admin.patch(boats, ferry, { apply: { metadata: ferry, spec: { crew: 5 } } as Boat, fieldManager: "yard" });
  await admin.patch(boats, ferry, { json: [{ op: "add", path: "/spec/flags", value: ["blue"] }] });
  await admin.patch(boats, { ...ferry, subresource: "status" }, { merge: { status: { at: "sea" }, spec: { crew: 99 } } });
  const now = await admin.get(boats, ferry);
  assert.deepEqual([now.spec, now.status], [{ crew: 5, flags: ["blue"] }, { at: "sea" }]);

  const refused = (work: Promise<unknown>, reason: ApiErrorReason) => assert.rejects(work, (error) => isApiError(error, reason));
  const old = { resourceVersion: made.resourceVersion };
  await refused(admin.patch(boats, ferry, { merge: { metadata: old, spec: { crew: 6 } } }), "conflict");
  await refused(admin.patch(boats, ferry, { strategic: { spec: { crew: 6 } } }), "unsupported-media-type");
  await refused(admin.patch(boats, ferry, { merge: { spec: { crew: "many" } } }), "invalid");
  await refused(admin.patch(boats, ferry, { apply: { spec: { flags: ["red"] } } as Boat, fieldManager: "pirate" }), "conflict");
  await refused(admin.create(boats, { metadata: ferry }), "already-exists");
  await refused(admin.delete(boats, ferry, { uid: "somebody-else" }), "conflict");
  await admin.delete(boats, ferry, { uid: made.uid });
  await refused(admin.get(boats, ferry), "not-found");
});

/** What a real server says of a spec: `taken`, or the words of its refusal that are looked for. */
const listener = (mutualAuthentication: object) => ({ listenerConfigurations: [{ protocolPort: "HTTPS:443", mutualAuthentication }] });
const pre = { type: "jwt-validation", jwtValidationConfig: { issuer: "i", jwksEndpoint: "j" } };
const fixed = (statusCode: number) => ({ type: "fixed-response", fixedResponseConfig: { statusCode } });
const verdicts = [
  [loadBalancerConfigurations, {}, "taken"],
  [loadBalancerConfigurations, { loadBalancerName: "a".repeat(33) }, "Too long"],
  [loadBalancerConfigurations, { listenerConfigurations: [{ protocolPort: "HTTP:65536" }] }, "should match"],
  [loadBalancerConfigurations, listener({ mode: "verify", trustStore: "t", ignoreClientCertificateExpiry: true }), "taken"],
  [loadBalancerConfigurations, listener({ mode: "off" }), "taken"],
  [loadBalancerConfigurations, listener({ mode: "verify" }), "trustStore is required when mutualAuthentication mode is 'verify'"],
  [loadBalancerConfigurations, listener({ mode: "off", trustStore: "t" }), "does not support 'trustStore'"],
  [loadBalancerConfigurations, listener({ mode: "passthrough", advertiseTrustStoreCaNames: "on" }), "does not support 'advertise"],
  [targetGroupConfigurations, { targetReference: { name: "web" } }, "taken"],
  [targetGroupConfigurations, { targetReference: {} }, "Required value"],
  [listenerRuleConfigurations, { actions: [pre, fixed(200)] }, "taken"],
  [listenerRuleConfigurations, { actions: [] }, "should have at least 1 items"],
  [listenerRuleConfigurations, { actions: [pre, pre] }, "At most one pre-routing action"],
  [listenerRuleConfigurations, { actions: [fixed(200), fixed(404)] }, "At most one routing action"],
  [listenerRuleConfigurations, { actions: [fixed(302)] }, "statusCode must be"],
  [listenerRuleConfigurations, { actions: [{ type: "forward" }] }, "forwardConfig must be specified only when type is 'forward'"],
  [listenerRuleConfigurations, { actions: [{ ...fixed(200), forwardConfig: {} }] }, "forwardConfig must be specified only when"],
  [listenerRuleConfigurations, { conditions: [{ field: "source-ip" }] }, "sourceIPConfig must be specified"],
  [listenerRuleConfigurations, { conditions: [] }, "should have at least 1 items"],
] as const;

const configurations = [
  [loadBalancerConfigurations, loadBalancerConfigurationDefinition],
  [targetGroupConfigurations, targetGroupConfigurationDefinition],
  [listenerRuleConfigurations, listenerRuleConfigurationDefinition],
] as const;

test("a real server takes the definitions of Gateway configurations, and refuses what they forbid", async (t) => {
  const { cluster } = await bed(t);
  const { admin } = cluster;
  for (const [, definition] of configurations) await apply(admin, definition);
  await eventually(() => Promise.all(configurations.map(([of]) => admin.list(of as Resource<KubeObject>))));
  const namespace = await cluster.namespace();
  let count = 0;
  const answer = (of: Resource<KubeObject>, spec: unknown) =>
    admin.create(of as typeof loadBalancerConfigurations, { metadata: { namespace, name: `case-${count++}` }, spec: spec as object }).then(
      () => "taken",
      (error: unknown) => String(error),
    );
  for (const [of, spec, expected] of verdicts) {
    const said = await answer(of, spec);
    assert.ok(said.includes(expected), `${of.kind} ${JSON.stringify(spec)}: ${said}`);
  }
  for (const [of, { spec }] of configurations) {
    const [{ schema }] = spec.versions as unknown as [{ schema: { openAPIV3Schema: { properties: { spec: Schema } } } }];
    const cases = schemaCases(schema.openAPIV3Schema.properties.spec);
    t.diagnostic(`${of.kind}: ${cases.length} values on either side of its rules`);
    for (const { path, value, spec: wish, refusal } of cases) {
      const said = await answer(of, wish);
      const about = `${of.kind} ${path} = ${JSON.stringify(value).slice(0, 80)}: ${said}`;
      if (refusal) assert.ok(said.includes(`${path}: `) && refusal.test(said), about);
      else assert.ok(!said.includes(`${path}: Unsupported value`), about);
    }
  }
});

async function withBoats(t: TestContext): Promise<{ cluster: TestCluster; namespace: string }> {
  const { cluster } = await bed(t);
  await apply(cluster.admin, boatDefinition);
  // A definition is served a moment after it is accepted.
  await eventually(() => cluster.admin.list(boats));
  return { cluster, namespace: await cluster.namespace() };
}

const boatSchema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { crew: { type: "integer" }, flags: { type: "array", items: { type: "string" } } } },
    status: { type: "object", properties: { at: { type: "string" } } },
  },
};

const boatDefinition: KubeObject & { readonly spec: object } = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "boats.test.fairlead.dev" },
  spec: {
    group: boats.group,
    scope: "Namespaced",
    names: { plural: boats.plural, singular: "boat", kind: boats.kind },
    versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: boatSchema } }],
  },
};
