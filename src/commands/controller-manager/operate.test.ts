import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventual } from "../../aws/testing/eventual.ts";
import { nodes } from "../../kube/builtin.ts";
import { informer } from "../../kube/informer.ts";
import { watchSource } from "../../kube/watch-source.ts";
import type { InformerKey } from "../../process/informers.ts";
import { done } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import type { HttpRequest } from "../../runtime/http.ts";
import { openLogs } from "../../runtime/logs.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { createEmbeddedCluster } from "../../sandbox/cluster/embedded/cluster.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import type { ControllerFactory, ControllerTable } from "./context.ts";
import { parseOptions } from "./flags.ts";
import { operate } from "./operate.ts";

const cloudConfig = "[Global]\nRegion=eu-west-1\nVPC=vpc-1\nSubnetID=subnet-1\nKubernetesClusterID=prod\n";

/** A world with a cluster in it, and processes that can be started there. */
function world(t: TestContext) {
  const machine = virtualWorld(7, { files: { "/etc/cloud": cloudConfig }, hostname: "vm" });
  const cluster = createEmbeddedCluster({ world: machine });
  t.after(() => cluster.close());
  const lines: string[] = [];
  const start = (table: ControllerTable, ...argv: string[]) => {
    const logs = openLogs(machine.clock, { format: "json", verbosity: 0, destination: { write: (line) => lines.push(line), flush() {} } });
    const host: Host = { world: machine, log: logs.log, metrics: newRegistry() };
    const stop = new AbortController();
    const flags = ["--cloud-provider=aws", "--secure-port=0", "--master=http://cluster", "--cloud-config=/etc/cloud", ...argv];
    const connections = { send: cluster.send, close: async () => {} };
    const ended = operate({
      options: parseOptions(flags).values,
      version: "v0.0.0",
      host,
      logs,
      table,
      network: { aws: () => Promise.reject(new Error("AWS is not asked")), kube: () => connections },
      stop: stop.signal,
    });
    ended.catch(() => {});
    return { ended, stop: () => stop.abort(new Error("received SIGTERM")), metrics: host.metrics };
  };
  const createNode = (name: string) => cluster.send(post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name } }));
  const lease = (name = "cloud-controller-manager") =>
    cluster.objects("leases.coordination.k8s.io").find(({ metadata }) => metadata.name === name) as
      | { spec: { holderIdentity?: string } }
      | undefined;
  const labelsOf = (metadata: object) => ("labels" in metadata ? (metadata.labels as Record<string, string>) : {});
  const labelled = () => cluster.objects("nodes").filter(({ metadata }) => labelsOf(metadata).seen === "yes").length;
  const said = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
  return { machine, cluster, start, createNode, lease, labelled, said };
}

function post(path: string, body: object): HttpRequest {
  const headers = { "content-type": "application/json" };
  return { method: "POST", url: new URL(`http://cluster${path}`), headers, body: JSON.stringify(body) };
}

const nodeInformer: InformerKey<{ metadata: { name: string; uid: string; resourceVersion: string } }> = {
  name: "nodes",
  make: (client) => informer({ client, of: nodes }),
};

/** Labels every node it sees. */
const labeller: ControllerFactory = async ({ informers, kube }) => {
  const seen = informers.shared(nodeInformer);
  return {
    kind: "run",
    controllers: [
      {
        controller: {
          name: "labeller",
          concurrency: 1,
          sources: [watchSource(seen, (_, after) => (after ? [after.metadata.name] : []))],
          async reconcile(name, signal) {
            await kube.patch(nodes, { name }, { merge: { metadata: { labels: { seen: "yes" } } } }, { signal });
            return done;
          },
        },
      },
    ],
  };
};

test("a process leads, works, and gives the lease up when it is asked to stop", async (t) => {
  const { machine, start, createNode, lease, labelled, cluster, said } = world(t);
  await createNode("a");
  const process = start({ "cloud-node-controller": labeller });
  await machine.runUntil(() => labelled() === 1, 10_000, "the node is labelled");
  assert.match(lease()?.spec.holderIdentity ?? "", /^vm_/);
  assert.match(await process.metrics.metrics(), /running_managed_controllers\{name="cloud-node",manager="cloud-controller-manager"\} 1/);

  process.stop();
  await eventual(machine, process.ended);
  assert.equal(lease()?.spec.holderIdentity ?? "", "");
  const events = cluster.objects("events").map(({ message }) => String(message).replace(/vm_\S+/, "vm"));
  assert.deepEqual(events.sort(), ["vm became leader", "vm stopped leading"]);
  assert.equal(said(/"cloud-node-lifecycle-controller\\" is selected, but this build does not include it/), 1);
  assert.equal(said(/Skipping \\"node-route-controller/), 1);
});

test("a lease that is lost while work in hand is waited for ends the process as lost, at once", async (t) => {
  const { machine, start, lease, cluster, said } = world(t);
  let begun = false;
  const slow: ControllerFactory = async () => ({
    kind: "run",
    controllers: [
      {
        controller: {
          name: "slow",
          concurrency: 1,
          sources: [{ name: "one", start: async (enqueue) => enqueue("key") }],
          reconcile: () => {
            begun = true;
            return new Promise(() => {});
          },
        },
      },
    ],
  });
  const process = start({ "cloud-node-controller": slow });
  await machine.runUntil(() => begun, 10_000, "work is in hand");
  assert.match(lease()?.spec.holderIdentity ?? "", /^vm_/);
  cluster.faults.add({ match: ({ url }) => url.pathname.includes("/leases/"), effect: { kind: "reset" } });
  process.stop();
  const stoppedAt = machine.clock.monotonic();
  await assert.rejects(eventual(machine, process.ended), { name: "LeadershipLost" });
  assert.ok(machine.clock.monotonic() - stoppedAt <= 10_000, "not after the time that work in hand is given");
  assert.equal(said(/"stopped"/), 0);
});

test("Events that do not get through at the end do not keep the lease from being given up", async (t) => {
  const { machine, start, createNode, lease, labelled, cluster, said } = world(t);
  await createNode("a");
  const process = start({ "cloud-node-controller": labeller });
  await machine.runUntil(() => labelled() === 1, 10_000, "it works");
  cluster.faults.add({ match: ({ url }) => url.pathname.includes("/events"), effect: { kind: "hang" } });
  process.stop();
  await eventual(machine, process.ended);
  assert.equal(lease()?.spec.holderIdentity ?? "", "");
  assert.equal(said(/"stopped"/), 1);
});

test("a lease that cannot be given up in time does not keep the other one, nor makes an asked-for end a failure", async (t) => {
  const { machine, start, lease, cluster, said } = world(t);
  const migration = "cloud-provider-extraction-migration";
  const process = start({}, "--enable-leader-migration");
  await machine.runUntil(() => lease(migration)?.spec.holderIdentity !== undefined, 10_000, "it holds both");
  cluster.faults.add({ match: ({ url }) => url.pathname.endsWith(`/leases/${migration}`), effect: { kind: "hang" } });
  process.stop();
  await eventual(machine, process.ended);
  assert.equal(lease()?.spec.holderIdentity ?? "", "");
  assert.match(lease(migration)?.spec.holderIdentity ?? "", /^vm_/);
  assert.equal(said(/could not be released/), 1);
  assert.equal(said(/"stopped"/), 1);
});

test("of two processes one works, and the other takes over when it stops", async (t) => {
  const { machine, start, createNode, lease, labelled } = world(t);
  const first = start({ "cloud-node-controller": labeller });
  await machine.runUntil(() => lease()?.spec.holderIdentity !== undefined, 10_000, "the first leads");
  const holder = lease()?.spec.holderIdentity;
  start({ "cloud-node-controller": labeller });
  await machine.advance(20_000);
  assert.equal(lease()?.spec.holderIdentity, holder);
  first.stop();
  await createNode("a");
  await machine.runUntil(() => labelled() === 1, 4_400, "the second works");
  assert.notEqual(lease()?.spec.holderIdentity, holder);
});

test("a dry run changes nothing, holds a lease of its own, and says what it would have done", async (t) => {
  const { machine, start, createNode, lease, labelled, said } = world(t);
  await createNode("a");
  start({ "cloud-node-controller": labeller }, "--dry-run");
  await machine.runUntil(() => said(/dry run: would patch nodes\/a/) > 0, 10_000, "it says what it would do");
  assert.equal(labelled(), 0);
  assert.equal(lease(), undefined);
  assert.match(lease("cloud-controller-manager-dry-run")?.spec.holderIdentity ?? "", /^vm_/);
});

test("a process that cannot renew its lease ends with its loss and writes nothing more", async (t) => {
  const { machine, start, createNode, cluster, labelled } = world(t);
  await createNode("a");
  const process = start({ "cloud-node-controller": labeller });
  await machine.runUntil(() => labelled() === 1, 10_000, "it works");
  cluster.faults.add({ match: () => true, effect: { kind: "reset" } });
  await assert.rejects(eventual(machine, process.ended, 15_000), { name: "LeadershipLost", message: "leaderelection lost" });
  cluster.faults.clear();
  await createNode("b");
  await machine.advance(60_000);
  assert.equal(labelled(), 1);
});

test("without leader election controllers start at once and no lease is touched", async (t) => {
  const { machine, start, createNode, cluster, labelled } = world(t);
  await createNode("a");
  start({ "cloud-node-controller": labeller }, "--leader-elect=false");
  await machine.runUntil(() => labelled() === 1, 10_000, "it works");
  assert.equal(cluster.objects("leases.coordination.k8s.io").length, 0);
});

test("an API server that is not up yet is waited for", async (t) => {
  const { machine, start, createNode, cluster, labelled, said } = world(t);
  await createNode("a");
  cluster.faults.add({ match: () => true, effect: { kind: "reset" } });
  start({ "cloud-node-controller": labeller });
  await machine.advance(120_000);
  assert.ok(said(/cannot acquire the lease; retrying/) > 1);
  cluster.faults.clear();
  await machine.runUntil(() => labelled() === 1, 30_000, "it works in the end");
});

test("migrated controllers wait for the second lease, the others do not", async (t) => {
  const { machine, start, createNode, lease, labelled } = world(t);
  await createNode("a");
  const other = start({}, "--enable-leader-migration", "--leader-elect-resource-name=other");
  await machine.runUntil(() => lease("cloud-provider-extraction-migration") !== undefined, 10_000, "another holds the migration lease");
  let nodesStarted = false;
  const table: ControllerTable = {
    "cloud-node-controller": async () => {
      nodesStarted = true;
      return { kind: "skip", why: "seen" };
    },
    "service-lb-controller": labeller,
  };
  start(table, "--enable-leader-migration");
  await machine.runUntil(() => nodesStarted, 10_000, "what does not migrate starts");
  await machine.advance(30_000);
  assert.equal(labelled(), 0);
  other.stop();
  await machine.runUntil(() => labelled() === 1, 10_000, "what migrates starts");
});

test("a controller that cannot be made ends the process, and the lease is given up", async (t) => {
  const { machine, start, lease } = world(t);
  const process = start({ "cloud-node-controller": () => Promise.reject(new Error("no such thing")) });
  await assert.rejects(eventual(machine, process.ended), {
    name: "ControllersFailed",
    message: "error running controllers: cloud-node-controller: no such thing",
  });
  assert.equal(lease()?.spec.holderIdentity ?? "", "");
});

test("a controller whose sources cannot start ends the process", async (t) => {
  const { machine, start } = world(t);
  const source = { name: "bad source", start: () => Promise.reject(new Error("cannot watch")) };
  const controller = { name: "x", concurrency: 1, sources: [source], reconcile: async () => done };
  const process = start({ "cloud-node-controller": async () => ({ kind: "run", controllers: [{ controller }] }) });
  await assert.rejects(eventual(machine, process.ended), { name: "ControllersFailed", message: /bad source cannot start: cannot watch/ });
});

test("an API server that does not answer a leader is fatal after ten seconds", async (t) => {
  const { machine, start, cluster } = world(t);
  cluster.faults.add({ match: ({ url }) => url.pathname === "/healthz", effect: { kind: "reset" } });
  await assert.rejects(eventual(machine, start({}).ended, 60_000), {
    name: "ApiServerUnhealthy",
    message: /^failed to wait for apiserver being healthy: /,
  });
});

test("every controller has a service account of its own when that is asked for", async (t) => {
  const { machine, start, createNode, cluster, labelled } = world(t);
  await createNode("a");
  const agents = new Set<string>();
  cluster.faults.add({
    match: ({ method, headers }) => method === "PATCH" && !!agents.add(headers["user-agent"] ?? ""),
    effect: { kind: "delay", ms: 0 },
  });
  start({ "cloud-node-controller": labeller }, "--use-service-account-credentials");
  await machine.runUntil(() => labelled() === 1, 10_000, "it works");
  const accounts = cluster.objects("serviceaccounts").map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  assert.ok(accounts.includes("kube-system/node-controller"), accounts.join());
  assert.match([...agents].join(), /^fairlead\/v.* kubernetes\/.*\/system:serviceaccount:kube-system:node-controller$/);
});

const refusals: [string, string[], string, RegExp][] = [
  ["an unreadable kubeconfig", ["--kubeconfig=/nope"], "ConfigurationFailed", /cannot read kubeconfig \/nope/],
  [
    "an unreadable migration file",
    ["--enable-leader-migration", "--leader-migration-config=/nope"],
    "ConfigurationFailed",
    /^unable to read leader migration configuration from "\/nope"/,
  ],
  [
    "an unreadable cloud config",
    ["--cloud-config=/nope"],
    "CloudUnusable",
    /^Cloud provider could not be initialized: .*Couldn't open cloud provider configuration \/nope/,
  ],
];

for (const [what, argv, name, message] of refusals) {
  test(`${what} ends the process before it does anything`, async (t) => {
    const { machine, start, cluster } = world(t);
    await assert.rejects(eventual(machine, start({}, ...argv).ended), { name, message });
    assert.equal(cluster.objects("leases.coordination.k8s.io").length, 0);
  });
}

test("controllers start one after the other when a pause between them is asked for", async (t) => {
  const { machine, start } = world(t);
  const startedAt: number[] = [];
  const note: ControllerFactory = async ({ host }) => {
    startedAt.push(host.world.clock.monotonic());
    return { kind: "skip", why: "seen" };
  };
  start({ "cloud-node-controller": note, "service-lb-controller": note }, "--controller-start-interval=10s");
  await machine.runUntil(() => startedAt.length === 2, 60_000, "both start");
  const pauseMs = startedAt[1]! - startedAt[0]!;
  assert.ok(pauseMs >= 10_000 && pauseMs < 20_000, String(pauseMs));
});
