import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ApiErrorReason, isApiError } from "../../src/kube/errors.ts";
import { informer } from "../../src/kube/informer.ts";
import { type KubeObject, resource } from "../../src/kube/resource.ts";
import { bed, eventually, type TestCluster } from "../bed/bed.ts";
import { apply } from "../bed/manifests.ts";

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
