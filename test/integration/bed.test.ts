import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes, serviceAccounts } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { bed, eventually } from "../bed/bed.ts";

test("a cluster has the Nodes a test asks for, ready or not, and the next test finds none of them", async (t) => {
  await t.test("one test", async (t) => {
    const { cluster } = await bed(t);
    const [up, down] = [...(await cluster.nodes(1)), ...(await cluster.nodes(1, { ready: false, uninitialized: true }))];
    assert.deepEqual(await cluster.nodeNames(), [up!.name, down!.name].sort());
    assert.ok(!(await cluster.hasTaint(up!, "node.kubernetes.io/not-ready")));
    assert.ok(await cluster.hasTaint(down!, "node.cloudprovider.kubernetes.io/uninitialized"));
  });
  await t.test("the next", async (t) => {
    const { cluster } = await bed(t);
    assert.deepEqual(await cluster.nodeNames(), []);
  });
});

test("controllers run with the roles that we ship and may do no more than those say", async (t) => {
  const { cluster } = await bed(t);
  const account = await cluster.fairlead();
  const client = await account.client();
  const [node] = await cluster.nodes(1);
  await client.patch(nodes, node!, { merge: { metadata: { labels: { zone: "a" } } } });
  await assert.rejects(client.create(nodes, { metadata: { name: "new" } }), (error) => isApiError(error, "forbidden"));
  await assert.rejects(client.list(serviceAccounts), (error) => isApiError(error, "forbidden"));
  const writes = await eventually(async () => {
    const seen = await cluster.writes(account);
    assert.equal(seen.length, 2);
    return seen;
  });
  assert.deepEqual(
    writes.map(({ verb, resource, name, status }) => ({ verb, resource, name, status })),
    [
      { verb: "patch", resource: "nodes", name: node!.name, status: 200 },
      // Refused before the apiserver has read its name.
      { verb: "create", resource: "nodes", name: undefined, status: 403 },
    ],
  );
});

test("the fault proxy before the real apiserver knows its clients by token and by certificate", async (t) => {
  const { cluster } = await bed(t);
  const proxy = await cluster.faultProxy();
  const [node] = await cluster.nodes(1);
  const byCertificate = await cluster.adminAt(proxy.url);
  await byCertificate.patch(nodes, node!, { merge: { metadata: { labels: { a: "b" } } } });
  const byToken = await (await cluster.fairlead()).client(proxy.url);
  assert.equal((await byToken.get(nodes, node!)).metadata.labels?.a, "b");
  await assert.rejects(byToken.create(nodes, { metadata: { name: "new" } }), (error) => isApiError(error, "forbidden"));
});
