import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { nodes } from "../kube/builtin.ts";
import { KubeClient } from "../kube/client.ts";
import { loadKubeConfig } from "../kube/config/load.ts";
import { informer } from "../kube/informer.ts";
import type { Node } from "../kube/types.ts";
import { openGate } from "../runtime/gate.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { createCloud } from "./cloud/cloud.ts";
import { standardNetwork } from "./cloud/network.ts";
import { createEmbeddedCluster } from "./cluster/embedded/cluster.ts";
import { standInForKubeControllerManager } from "./kube-controller-manager.ts";
import { Kubelets } from "./kubelets.ts";
import { Machines } from "./machines.ts";
import { virtualWorld } from "./virtual-clock.ts";

const graceMs = 5_000;

/** Three machines with kubelets, and the stand-in for kube-controller-manager, on virtual time. */
async function worldOf(t: TestContext, withProviderId = false) {
  const world = virtualWorld(1);
  const cluster = createEmbeddedCluster({ world });
  const over = new AbortController();
  t.after(() => {
    over.abort(new Error("over"));
    cluster.close();
  });
  const cloud = createCloud({ world, settings: { speed: 10 } });
  const machines = new Machines(cloud, standardNetwork(cloud, { clusterId: "test" }));
  const kube = new KubeClient({
    host: { world, log: silentLog, metrics: newRegistry() },
    config: await loadKubeConfig(world, { master: "http://cluster" }),
    gate: openGate(),
    userAgent: "test",
    connect: () => ({ send: cluster.send, close: async () => {} }),
  });
  const complaints: unknown[] = [];
  const complain = (message: string, error: unknown) => complaints.push([message, error]);
  const kubelets = new Kubelets({ kube, machines, withProviderId, heartbeatMs: 1_000, openPorts: () => new Set([30_080]), complain });
  const known = informer<Node>({ client: kube, of: nodes });
  void known.run(over.signal);
  void kubelets.run(over.signal);
  void standInForKubeControllerManager({ kube, nodes: known, graceMs, complain }, over.signal);
  const launched = [machines.launch(), machines.launch(), machines.launch()];
  const node = (index: number) => known.get(launched[index]!.privateDnsName);
  const readyOf = (index: number) => node(index)?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const taintsOf = (index: number) => node(index)?.spec?.taints?.map(({ key }) => key);
  await world.runUntil(
    () => [0, 1, 2].every((index) => readyOf(index) === "True" && taintsOf(index)?.length === 1),
    30_000,
    "three ready Nodes",
  );
  return { world, machines, launched, kubelets, node, readyOf, taintsOf, complaints };
}

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";

test("a booted machine registers as kubelet does for an external cloud: tainted, with its host name alone, no provider ID", async (t) => {
  const { node, launched, complaints } = await worldOf(t);
  const name = launched[0]!.privateDnsName;
  assert.deepEqual(node(0)?.spec?.taints, [{ key: uninitialized, value: "true", effect: "NoSchedule" }]);
  assert.deepEqual(node(0)?.status?.addresses, [{ type: "Hostname", address: name }]);
  assert.equal(node(0)?.spec?.providerID, undefined);
  assert.equal(node(0)?.status?.capacity?.cpu, "2");
  assert.deepEqual(complaints, []);
});

test("kubelets that are told their machine register with its provider ID", async (t) => {
  const { node, launched } = await worldOf(t, true);
  assert.equal(node(0)?.spec?.providerID, `aws:///${launched[0]!.zone}/${launched[0]!.id}`);
});

test("every Node gets a pod CIDR of its own, also when they register in the same moment", async (t) => {
  const { node } = await worldOf(t);
  assert.deepEqual([0, 1, 2].map((index) => node(index)?.spec?.podCIDR).sort(), ["10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24"]);
});

test("a Node whose machine stops becomes unknown after the grace, and recovers when it starts; its neighbours stay ready", async (t) => {
  const { world, machines, launched, readyOf, taintsOf } = await worldOf(t);
  const before = world.clock.monotonic();
  machines.stop(launched[1]!.id);
  await world.runUntil(() => readyOf(1) === "Unknown", 30_000, "the Node unknown");
  assert.ok(world.clock.monotonic() - before >= graceMs - 1_000);
  await world.runUntil(() => taintsOf(1)?.includes("node.kubernetes.io/unreachable") === true, 5_000, "the taint unreachable");
  assert.deepEqual([readyOf(0), readyOf(2)], ["True", "True"]);

  machines.start(launched[1]!.id);
  await world.runUntil(() => readyOf(1) === "True" && taintsOf(1)?.join() === uninitialized, 30_000, "the Node ready again");
});

test("health checks are answered where a Service has its port, refused elsewhere, and lost on a machine that is down", async (t) => {
  const { world, machines, launched, kubelets } = await worldOf(t);
  const check = (port: number) =>
    kubelets.probe({ instanceId: launched[0]!.id, address: "10.0.0.1", port, protocol: "TCP", path: undefined });
  assert.deepEqual(check(30_080), { kind: "answered", status: 200 });
  assert.deepEqual(check(30_081), { kind: "refused" });
  machines.terminate(launched[0]!.id);
  await world.advance(1_000);
  assert.deepEqual(check(30_080), { kind: "silent" });
});
