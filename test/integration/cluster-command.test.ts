/** `fairlead cluster` as a process, on a real API server, under the roles that we ship for it. */
import assert from "node:assert/strict";
import { join as pathOf } from "node:path";
import { type TestContext, test } from "node:test";
import { leases, nodes } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { bed, eventually, type TestCluster } from "../bed/bed.ts";
import { awsCredentials } from "../bed/controller-manager.ts";
import { applyManifest } from "../bed/manifests.ts";
import { asTheReferenceLeavesIt, hasTaint, join, nodeAccount, uninitialized } from "./node-account.ts";

const own = { namespace: "kube-system", name: "fairlead-cluster" };
const reference = { namespace: "kube-system", name: "cloud-controller-manager" };
const timings = ["--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=1s"];

/** A cluster with the roles of `fairlead cluster`, an account, and the command with a file in it. */
async function scene(t: TestContext) {
  const { cluster, fairlead, controllerManager } = await bed(t);
  for (const lease of [own, reference]) await forget(cluster, lease);
  await applyManifest(cluster.admin, "manifests/cluster.yaml");
  const account = await nodeAccount(t, cluster);
  const environment = { ...awsCredentials, ...account.environment };
  const identity = await cluster.fairlead();
  const file = pathOf(cluster.real.folder, "cluster.yaml");
  await realWorld().files.write(file, "process: {secure-port: 0}\ncontroller-manager: {configure-cloud-routes: false}\n", 0o600);
  const place = [`--kubeconfig=${await identity.kubeconfig()}`, `--cloud-config=${account.cloudConfig}`];
  return {
    cluster,
    account,
    identity,
    start: () => fairlead(["cluster", `--config=${file}`, ...place, ...timings, "--v=2"], { environment }),
    alone: () => controllerManager([`--cloud-config=${account.cloudConfig}`, ...timings, "--v=2"], { environment }),
  };
}

async function forget(cluster: TestCluster, lease: typeof own): Promise<void> {
  await cluster.admin.delete(leases, lease).catch((error) => {
    if (!isApiError(error, "not-found")) throw error;
  });
}

const holderOf = async (cluster: TestCluster, lease: typeof own) =>
  (await cluster.admin.get(leases, lease).catch(() => undefined))?.spec?.holderIdentity;

test("while the reference's lease is somebody else's nothing is written; then both are held, and losing one ends it with status 1", async (t) => {
  const { cluster, account, identity, start } = await scene(t);
  const [instance] = account.launch(1);
  const name = await join(cluster, instance!);
  const startedAt = Date.now();
  await cluster.admin.create(leases, {
    metadata: reference,
    spec: { holderIdentity: "reference", leaseDurationSeconds: 60, leaseTransitions: 0 },
  });
  const process = await start();
  await process.says(/kube-system\/fairlead-cluster.*acquired the leader lease/);
  await process.says(/kube-system\/cloud-controller-manager.*attempting to acquire the leader lease[\s\S]*new leader elected/);
  const mine = await holderOf(cluster, own);
  const written = async () => (await cluster.writes(identity)).filter(({ at, resource }) => at >= startedAt && resource !== "leases");
  assert.deepEqual(await written(), []);
  assert.equal(await holderOf(cluster, reference), "reference");

  await cluster.admin.patch(leases, reference, { merge: { spec: { holderIdentity: "" } } });
  await eventually(async () => assert.ok(!(await hasTaint(cluster, name, uninitialized.key))), 30_000);
  assert.equal(await holderOf(cluster, reference), mine);
  assert.deepEqual(
    (await cluster.writes(identity)).filter(({ status }) => status === 403),
    [],
    "the roles we ship are enough",
  );

  await cluster.admin.patch(leases, reference, { merge: { spec: { holderIdentity: "reference" } } });
  assert.deepEqual(await process.exit(), { code: 1, signal: null });
  assert.match(await process.logs(), /leaderelection lost/);
});

test("taking over from the controller manager's own command writes nothing but leases and Events", async (t) => {
  const { cluster, account, identity, start, alone } = await scene(t);
  for (const instance of account.launch(5)) {
    const ip = account.cloud.account.ec2.interfaces.get(instance.interfaceIds[0]!)!.privateAddresses[0]!;
    await join(cluster, instance, asTheReferenceLeavesIt(instance, ip));
  }
  const before = await alone();
  await before.says(/addresses refreshed/, 30_000);
  const startedAt = Date.now();
  const calls = account.cloud.controls.journal.entries().length;
  const after = await start();
  await after.says(/kube-system\/cloud-controller-manager.*attempting to acquire the leader lease/);
  before.signal("SIGTERM");
  assert.deepEqual(await before.exit(), { code: 0, signal: null });
  await after.says(/addresses refreshed/, 30_000);
  const written = (await cluster.writes(identity)).filter(
    ({ at, resource }) => at >= startedAt && !["leases", "events"].includes(resource),
  );
  assert.deepEqual(written, []);
  assert.equal(account.cloud.controls.journal.entries().length, calls);
  assert.equal((await cluster.admin.list(nodes)).items.length, 5);
});
