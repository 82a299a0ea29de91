import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { leases } from "../../src/kube/builtin.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { bed, type TestCluster } from "../bed/bed.ts";

const lease = { namespace: "kube-system", name: "cloud-controller-manager" };
const seconds = { lease: 4, renew: 3, retry: 1 };
/** What a busy machine may add between two processes. */
const slackMs = 500;

test("when the leading process is killed the other leads within lease duration and retry period", async (t) => {
  const { leader, successor } = await twoReplicas(t);
  const killedAt = performance.now();
  leader.signal("SIGKILL");
  await successor.leads();
  const took = performance.now() - killedAt;
  assert.ok(took <= (seconds.lease + seconds.retry) * 1000 + slackMs, `took ${took} ms`);
});

test("after SIGTERM the leader ends with status 0 and its successor leads within two retry periods", async (t) => {
  const { cluster, leader, successor } = await twoReplicas(t);
  leader.signal("SIGTERM");
  assert.deepEqual(await leader.exit(), { code: 0, signal: null });
  const endedAt = performance.now();
  await successor.leads();
  const took = performance.now() - endedAt;
  assert.ok(took <= 2 * seconds.retry * 1000 + slackMs, `took ${took} ms`);
  const { spec } = await cluster.admin.get(leases, lease);
  assert.equal(spec?.leaseTransitions, 1);
});

test("a leader that can reach the API server no more ends with status 1", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  await forgetLease(cluster);
  const proxy = await cluster.faultProxy();
  const leader = await controllerManager(timings, { server: proxy.url });
  await leader.leads();
  proxy.strike({ fault: { kind: "stall" } });
  assert.deepEqual(await leader.exit(), { code: 1, signal: null });
  assert.match(await leader.logs(), /leaderelection lost/);
});

const timings = [
  `--leader-elect-lease-duration=${seconds.lease}s`,
  `--leader-elect-renew-deadline=${seconds.renew}s`,
  `--leader-elect-retry-period=${seconds.retry}s`,
];

/** One leads, the other is ready to. */
async function twoReplicas(t: TestContext) {
  const { cluster, controllerManager } = await bed(t);
  await forgetLease(cluster);
  const leader = await controllerManager(timings);
  await leader.leads();
  const successor = await controllerManager(timings);
  await successor.says(/attempting to acquire the leader lease/);
  return { cluster, leader, successor };
}

/** The leader of the test before was killed with the lease in its hand. */
async function forgetLease(cluster: TestCluster): Promise<void> {
  await cluster.admin.delete(leases, lease).catch((error) => {
    if (!isApiError(error, "not-found")) throw error;
  });
}
