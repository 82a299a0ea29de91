import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes, serviceAccounts } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { asServiceAccount } from "../../src/kube/service-account-credentials.ts";
import { bed, eventually } from "../bed/bed.ts";

test("with the roles that we ship, each controller gets an identity of its own, made when it is missing", async (t) => {
  const { cluster } = await bed(t);
  const [node] = await cluster.nodes(1);
  const base = await (await cluster.fairlead()).client();
  const controller = asServiceAccount(base, { namespace: "kube-system", name: "node-controller", userAgent: "node-controller" });
  await controller.patch(nodes, node!, { merge: { metadata: { labels: { seen: "yes" } } } });
  assert.ok(await cluster.admin.get(serviceAccounts, { namespace: "kube-system", name: "node-controller" }));
  await eventually(async () => {
    const users = (await cluster.writes()).filter(({ name, verb }) => name === node!.name && verb === "patch").map(({ user }) => user);
    assert.equal(users.at(-1), "system:serviceaccount:kube-system:node-controller");
  });
});

test("the roles that we ship give no token for anybody else", async (t) => {
  const { cluster } = await bed(t);
  await cluster.admin.create(serviceAccounts, { metadata: { namespace: "kube-system", name: "powerful" } });
  const base = await (await cluster.fairlead()).client();
  const thief = asServiceAccount(base, { namespace: "kube-system", name: "powerful", userAgent: "thief" });
  await assert.rejects(thief.list(nodes), (error) => isApiError(error, "forbidden"));
});
