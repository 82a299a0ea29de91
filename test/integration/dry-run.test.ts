import assert from "node:assert/strict";
import { test } from "node:test";
import type { ControllerTable } from "../../src/commands/controller-manager/context.ts";
import { leases, nodes } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { objectRef } from "../../src/kube/event-recorder.ts";
import { informer } from "../../src/kube/informer.ts";
import { watchSource } from "../../src/kube/watch-source.ts";
import { done } from "../../src/runtime/controller.ts";
import { bed, eventually, type Write } from "../bed/bed.ts";

test("a dry run writes nothing but Events and its own Lease, whatever its controllers try", async (t) => {
  const { cluster, run } = await bed(t);
  const made = await cluster.nodes(2, { uninitialized: true });
  const before = await Promise.all(made.map((node) => cluster.node(node)));
  const tried = new Set<string>();
  const dry = await run(
    labelling((name) => tried.add(name)),
    { flags: ["--dry-run", "--leader-elect=true"] },
  );
  await eventually(() => assert.equal(tried.size, 2));
  await dry.stop();

  assert.ok((await cluster.events()).some(({ reason }) => reason === "LoadBalancerPlan"));
  const writes = (await cluster.writes(dry.account)).filter(({ status }) => status < 300);
  assert.deepEqual(
    writes.filter((write) => !allowed(write)),
    [],
  );
  assert.ok(
    writes.some(({ resource }) => resource === "leases"),
    "it has led",
  );
  assert.deepEqual(await Promise.all(made.map((node) => cluster.node(node))), before);
  const { items } = await cluster.admin.list(leases, { namespace: "kube-system", fieldSelector: "metadata.name=cloud-controller-manager" });
  assert.deepEqual(items, [], "the real Lease is left to the real one");
});

test("the same controllers without a dry run do write", async (t) => {
  const { cluster, run } = await bed(t);
  const [node] = await cluster.nodes(1);
  await run(labelling(() => {}));
  await eventually(async () => assert.equal((await cluster.node(node!)).metadata.labels?.labelled, "yes"));
});

function allowed({ resource, namespace, name }: Write): boolean {
  return resource === "events" || (resource === "leases" && namespace === "kube-system" && name === "cloud-controller-manager-dry-run");
}

/** One controller that labels every Node and says of each that it has. */
function labelling(onTry: (name: string) => void): ControllerTable {
  const nodeInformer = { name: "nodes", make: (client: KubeClient) => informer({ client, of: nodes }) };
  return {
    "cloud-node-controller": async ({ kube, informers, recorder }) => {
      const followed = informers.shared(nodeInformer);
      const controller = {
        name: "labelling",
        sources: [watchSource(followed, (_, after) => (after ? [after.metadata.name] : []))],
        concurrency: 1,
        async reconcile(name: string, signal: AbortSignal) {
          onTry(name);
          recorder.record(objectRef(nodes, followed.get(name)!), "Normal", "LoadBalancerPlan", `${name} gets its label`);
          await kube.patch(nodes, { name }, { merge: { metadata: { labels: { labelled: "yes" } } } }, { signal });
          return done;
        },
      };
      return { kind: "run", controllers: [{ controller }] };
    },
  };
}
