import assert from "node:assert/strict";
import { test } from "node:test";
import { leases } from "../../src/kube/builtin.ts";
import { bed, eventually } from "../bed/bed.ts";

test("a dry run writes nothing but Events and its own Lease, and leaves the real Lease to the real one", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const real = await controllerManager();
  await real.leads();
  const holder = () => cluster.admin.get(leases, { namespace: "kube-system", name: "cloud-controller-manager" });
  const heldBy = (await holder()).spec?.holderIdentity;
  real.signal("SIGSTOP");

  const nodes = await cluster.nodes(2, { uninitialized: true });
  const before = await Promise.all(nodes.map((node) => cluster.node(node)));
  const since = Date.now();
  const dry = await controllerManager(["--dry-run"]);
  await dry.leads();
  await eventually(() => cluster.admin.get(leases, { namespace: "kube-system", name: "cloud-controller-manager-dry-run" }));
  const others = await cluster.account("onlooker", { nonResourceURLs: ["/metrics"], verbs: ["get"] });
  assert.equal((await dry.ask("/metrics", others.token)).status, 200);

  const writes = (await cluster.writes(dry.account)).filter(({ at, status }) => at >= since && status < 300);
  const reviews = ["tokenreviews", "subjectaccessreviews"];
  const unexpected = writes.filter(({ resource, name }) => {
    if (resource === "leases") return name !== "cloud-controller-manager-dry-run";
    return resource !== "events" && !reviews.includes(resource);
  });
  assert.deepEqual(unexpected, []);
  assert.ok(
    writes.some(({ resource }) => resource === "leases"),
    "it has been looked at",
  );
  assert.deepEqual(await Promise.all(nodes.map((node) => cluster.node(node))), before);
  assert.equal((await holder()).spec?.holderIdentity, heldBy);
});
