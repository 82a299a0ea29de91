import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedClient, scriptedServer } from "../../kube/testing/scripted-server.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { bindingFinalizer } from "./binding.ts";
import { type BindingParts, type BindingWish, writeBindings } from "./owned-bindings.ts";

test("a binding is born with its finalizer: deleted before it was ever seen, it still opens the gates of pods that wait for it", async () => {
  const world = virtualWorld(1);
  const server = scriptedServer();
  const parts = { kube: scriptedClient(world, server), bindings: { list: () => [] } } as unknown as BindingParts;
  const wish = {
    namespace: "shop",
    name: "k8s-shop-web",
    labels: { stack: "web" },
    targetGroup: "web",
    spec: { serviceRef: { name: "web", port: 80 }, targetType: "ip" },
  } as unknown as BindingWish;
  const ids = { arnOf: () => "arn:web", groupId: (id: string) => id };
  const written = writeBindings({ stack: "web" }, [wish], ids, parts, new AbortController().signal);
  await world.settle();
  const { request, json } = server.take();
  const { metadata } = JSON.parse(String(request.body)) as { metadata: { finalizers: string[] } };
  assert.deepEqual(metadata.finalizers, [bindingFinalizer]);
  json({ metadata: { name: "k8s-shop-web" } });
  assert.equal(await written, true);
});
