import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Lease } from "../../src/kube/types.ts";
import type { ElectionTimings } from "../../src/runtime/election-timings.ts";
import type { FaultProxy } from "../../src/sandbox/fault-proxy.ts";
import { bed, eventually, type TestCluster, type TestProcess, type Write } from "../bed/bed.ts";

const timings: ElectionTimings = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
/** From the moment a write starts until the apiserver notes it, on a machine that is busy. */
const onTheWayMs = 300;

test("a leader whose event loop stalls longer than the lease writes nothing once it may have been taken", async (t) => {
  const { cluster, first, second } = await twoReplicas(t);
  first.process.signal("SIGUSR2");
  await second.process.says(/leading/);
  await first.process.says(/stalled and back/);
  await first.process.says(/refused 50/);
  await assertHandover(cluster, first.name, second.name);
});

test("a leader that loses the API server writes nothing once its lease may have been taken", async (t) => {
  const { cluster, first, second } = await twoReplicas(t);
  first.proxy.strike({ fault: { kind: "stall" } });
  await second.process.says(/leading/);
  first.proxy.heal();
  await first.process.says(/refused 50/);
  await assertHandover(cluster, first.name, second.name);
});

test("when the leader is killed the other leads within lease duration and retry period", async (t) => {
  const { cluster, first, second } = await twoReplicas(t);
  first.process.signal("SIGKILL");
  await first.process.exit();
  const killedAt = Date.now();
  await second.process.says(/leading/);
  const { takenAt } = await assertHandover(cluster, first.name, second.name);
  const limit = timings.leaseDurationMs + timings.retryPeriodMs;
  assert.ok(takenAt - killedAt <= limit + onTheWayMs, `took ${takenAt - killedAt} ms, allowed are ${limit}`);
});

interface Replica {
  readonly name: string;
  readonly process: TestProcess;
  readonly proxy: FaultProxy;
}

/** The first leads and writes, the second waits for its turn. */
async function twoReplicas(t: TestContext): Promise<{ cluster: TestCluster; first: Replica; second: Replica }> {
  const { cluster, process } = await bed(t);
  const [node] = await cluster.nodes(1);
  const account = await cluster.fairlead();
  const start = async (name: string): Promise<Replica> => {
    const proxy = await cluster.faultProxy();
    const args = [name, await account.kubeconfig(proxy.url), node!.name, JSON.stringify(timings)];
    return { name, proxy, process: await process(new URL("./replica.ts", import.meta.url), args) };
  };
  // Whoever led in an earlier test has been killed: its lease has to run out first.
  const id = `replica-${Math.floor(performance.now())}`;
  const first = await start(`${id}-a`);
  await eventually(async () => assert.ok((await nodeWrites(cluster, first.name)).length > 20));
  const second = await start(`${id}-b`);
  await second.process.says(/up/);
  return { cluster, first, second };
}

/**
 * Looks at every write that the apiserver received. The first's end before the second takes the lease, and none started
 * later than the renew deadline after its last renewal.
 */
async function assertHandover(cluster: TestCluster, first: string, second: string): Promise<{ takenAt: number }> {
  const taken = await eventually(async () => {
    const [acquisition] = await leaseWrites(cluster, second);
    assert.ok(acquisition && (await nodeWrites(cluster, second)).length > 5);
    return acquisition;
  });
  const renewedAt = (await leaseWrites(cluster, first)).at(-1)!.at;
  const writes = await nodeWrites(cluster, first);
  const lastAt = Math.max(...writes.map(({ at }) => at));
  assert.ok(lastAt < taken.at, `${first} wrote ${lastAt - taken.at} ms after ${second} had the lease`);
  assert.ok(lastAt <= renewedAt + timings.renewDeadlineMs + onTheWayMs, `${first} wrote ${lastAt - renewedAt} ms after its last renewal`);
  const secondsFirst = Math.min(...(await nodeWrites(cluster, second)).map(({ at }) => at));
  assert.ok(secondsFirst >= taken.at, `${second} wrote before it had the lease`);
  return { takenAt: taken.at };
}

async function nodeWrites(cluster: TestCluster, agent: string): Promise<readonly Write[]> {
  return (await cluster.writes()).filter((write) => write.agent === agent && write.resource === "nodes");
}

/** Successful writes of the lease that name their writer as its holder. */
async function leaseWrites(cluster: TestCluster, agent: string): Promise<readonly Write[]> {
  const holds = ({ object }: Write) => (object as Lease | undefined)?.spec?.holderIdentity === agent;
  return (await cluster.writes()).filter(
    (write) => write.agent === agent && write.resource === "leases" && write.status < 300 && holds(write),
  );
}
