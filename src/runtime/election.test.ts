import assert from "node:assert/strict";
import { test } from "node:test";
import { type VirtualWorld, virtualWorld } from "../sandbox/virtual-clock.ts";
import { Election, type ElectionOptions, identityOf, type LeadershipLost } from "./election.ts";
import { defaultTimings, type ElectionTimings, InvalidTimings } from "./election-timings.ts";
import { WriteRefused } from "./gate.ts";
import { LeaseConflict, type LeaseRecord, type LeaseStore } from "./lease.ts";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { type Clock, sleep } from "./world.ts";

/** The lease as the API server has it, with the time of every change. */
class Server {
  record: LeaseRecord | undefined;
  version = 0;
  readonly history: { readonly at: number; readonly record: LeaseRecord }[] = [];
  readonly world: VirtualWorld;
  constructor(world: VirtualWorld) {
    this.world = world;
  }
  put(record: LeaseRecord, over: string | undefined): string {
    const current = this.record === undefined ? undefined : String(this.version);
    if (over !== current) throw new LeaseConflict(`version is ${current}, not ${over}`);
    this.record = record;
    this.version++;
    this.history.push({ at: this.world.clock.monotonic(), record });
    return String(this.version);
  }
}

/** One process: it can stall (nothing of it runs while time passes), lose the network, or be killed. */
class Replica {
  readonly name: string;
  readonly election: Election;
  readonly writes: number[] = [];
  /** Who held the lease, as the server has it, each time this process started a write. */
  readonly heldBy = new Set<string | undefined>();
  readonly leaders: string[] = [];
  readonly metrics = newRegistry();
  readonly stopping = new AbortController();
  loss: LeadershipLost | undefined;
  cutOff = false;
  #state: "running" | "stalled" | "killed" = "running";
  readonly #held: (() => void)[] = [];
  readonly #server: Server;

  constructor(server: Server, name: string, options: Partial<ElectionOptions> = {}) {
    this.name = name;
    this.#server = server;
    const clock: Clock = {
      now: server.world.clock.now,
      monotonic: server.world.clock.monotonic,
      after: (ms, callback) => server.world.clock.after(ms, () => this.#run(callback)),
    };
    const world = { ...server.world, clock, hostname: name };
    this.election = new Election(
      { world, log: silentLog, metrics: this.metrics },
      {
        store: this.#store(),
        identity: name,
        timings: defaultTimings,
        name: "cloud-controller-manager",
        lostMessage: "leaderelection lost",
        onNewLeader: (identity) => this.leaders.push(identity),
        ...options,
      },
    );
    void this.election.lost.then((loss) => {
      this.loss = loss;
    });
    this.election.lead(this.stopping.signal).catch(() => {});
    const writeOften = () => {
      this.tryWrite();
      clock.after(50, writeOften);
    };
    writeOften();
  }

  tryWrite(): boolean {
    try {
      this.election.gate.check("patch node a");
    } catch (error) {
      assert.ok(error instanceof WriteRefused);
      return false;
    }
    this.writes.push(this.#server.world.clock.monotonic());
    this.heldBy.add(this.#server.record?.holderIdentity);
    return true;
  }

  stall(): void {
    if (this.#state === "running") this.#state = "stalled";
  }

  /** The stall ends: the first thing that happens is an attempt to write, before any timer has its turn. */
  wake(): boolean {
    if (this.#state !== "stalled") return false;
    this.#state = "running";
    const wrote = this.tryWrite();
    for (const callback of this.#held.splice(0)) this.#run(callback);
    return wrote;
  }

  kill(): void {
    this.#state = "killed";
  }

  #run(callback: () => void): void {
    if (this.#state === "running") callback();
    else this.#held.push(callback);
  }

  #store(): LeaseStore {
    const exchange = async <T>(signal: AbortSignal, act: () => T): Promise<T> => {
      const { clock } = this.#server.world;
      await sleep(clock, 5, signal);
      if (this.cutOff) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
      const answer = act();
      await sleep(clock, 5);
      // An answer that arrives during a stall is read when the stall ends.
      await new Promise<void>((resolve) => this.#run(resolve));
      return answer;
    };
    const server = this.#server;
    return {
      name: "kube-system/cloud-controller-manager",
      read: (signal) => exchange(signal, () => server.record && { record: server.record, version: String(server.version) }),
      create: (record, signal) => exchange(signal, () => server.put(record, undefined)),
      update: (record, version, signal) => exchange(signal, () => server.put(record, version)),
    };
  }
}

function pair(seed = 1) {
  const world = virtualWorld(seed);
  const server = new Server(world);
  return { world, server, a: new Replica(server, "a"), b: new Replica(server, "b") };
}

/** No write was started by anybody but the holder of that moment. */
function assertOnlyHoldersWrote(...replicas: Replica[]): void {
  for (const { name, heldBy } of replicas)
    assert.deepEqual(
      [...heldBy].filter((holder) => holder !== name),
      [],
      `writes of ${name}`,
    );
}

async function leaderOf(world: VirtualWorld, ...replicas: Replica[]): Promise<Replica> {
  await world.runUntil(() => replicas.some((replica) => replica.election.leading()), 60_000, "a leader");
  return replicas.find((replica) => replica.election.leading())!;
}

async function until(world: VirtualWorld, from: number, replica: Replica): Promise<number> {
  await world.runUntil(() => replica.election.leading(), 60_000, "the successor leads");
  return world.clock.monotonic() - from;
}

test("one of two replicas leads, writes, and keeps the lease; the other refuses every write", async () => {
  const { world, server, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  await world.advance(120_000);
  const other = leader === a ? b : a;
  assert.equal(leader.election.leading(), true);
  assert.ok(leader.writes.length > 2_000);
  assert.deepEqual(other.writes, []);
  assert.equal(server.record?.leaseTransitions, 0);
  assert.equal(server.record?.leaseDurationSeconds, 15);
  assert.match(server.record?.renewTime ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.match(await leader.metrics.metrics(), /leader_election_master_status\{name="cloud-controller-manager"\} 1\n/);
  assert.match(await other.metrics.metrics(), /leader_election_master_status\{name="cloud-controller-manager"\} 0\n/);
  assert.equal(other.leaders.at(-1), leader === a ? "a" : "b");
});

test("when the leader is killed the other leads within the lease duration and one retry period", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { world, server, a, b } = pair(seed);
    const leader = await leaderOf(world, a, b);
    const other = leader === a ? b : a;
    await world.advance(20_000 + 97 * seed);
    leader.kill();
    const took = await until(world, world.clock.monotonic(), other);
    assert.ok(took <= 17_000, `seed ${seed}: took ${took} ms`);
    assert.equal(server.record?.leaseTransitions, 1);
    await world.advance(5_000);
    assertOnlyHoldersWrote(a, b);
  }
});

test("a leader cut off from the API server stops writing by the renew deadline and says that it lost the election", async () => {
  const { world, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  const other = leader === a ? b : a;
  await world.advance(30_000);
  leader.cutOff = true;
  const cutAt = world.clock.monotonic();
  await world.advance(60_000);
  assert.equal(leader.loss?.message, "leaderelection lost");
  assert.ok(leader.writes.at(-1)! < cutAt + 10_000);
  assert.ok(other.election.leading());
  assert.ok(other.writes[0]! > leader.writes.at(-1)! + 4_000, "some seconds for what was in flight");
  assert.equal(leader.election.gate.lost.aborted, true);
  assert.match(await leader.metrics.metrics(), /leader_election_master_status\{name="cloud-controller-manager"\} 0\n/);
  assertOnlyHoldersWrote(a, b);
});

test("a leader that is cut off for less than the renew deadline keeps the lease", async () => {
  const { world, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  await world.advance(30_000);
  leader.cutOff = true;
  await world.advance(3_500);
  leader.cutOff = false;
  await world.advance(30_000);
  assert.equal(leader.loss, undefined);
  assert.ok(leader.election.leading());
});

test("after a stall longer than the lease the very first write is refused, before any timer has run", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { world, a, b } = pair(seed);
    const leader = await leaderOf(world, a, b);
    await world.advance(7_000 + seed * 131);
    leader.stall();
    await world.advance(20_000);
    assert.equal(leader.wake(), false, "the write right after the stall");
    await world.advance(10_000);
    assert.equal(leader.loss?.message, "leaderelection lost");
    assertOnlyHoldersWrote(a, b);
  }
});

test("a stall between the renew deadline and the lease duration ends the leadership although nobody else has it yet", async () => {
  const { world, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  await world.advance(30_000);
  leader.stall();
  await world.advance(12_500);
  assert.equal(leader.wake(), false);
  assert.equal(leader.election.gate.lost.aborted, true, "final: controllers that were refused have stopped");
});

test("a refused write stays refused: a late answer to a renewal does not reopen the gate", async () => {
  const { world, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  await world.advance(30_000);
  leader.stall();
  await world.advance(10_500);
  leader.wake();
  const before = leader.writes.length;
  await world.advance(10_000);
  assert.equal(leader.writes.length, before);
});

test("after a release the successor leads within two retry periods, and the released one starts no write", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const { world, server, a, b } = pair(seed);
    const leader = await leaderOf(world, a, b);
    const other = leader === a ? b : a;
    await world.advance(10_000 + seed * 173);
    const from = world.clock.monotonic();
    void leader.election.release(new AbortController().signal);
    assert.equal(leader.tryWrite(), false);
    const took = await until(world, from, other);
    assert.ok(took <= 4_000, `seed ${seed}: took ${took} ms`);
    const released = server.history.find((change) => change.record.holderIdentity === "")!.record;
    assert.equal(released.leaseDurationSeconds, 1);
    assert.equal(leader.loss, undefined, "a release is no loss");
    await world.advance(30_000);
    assertOnlyHoldersWrote(a, b);
  }
});

test("a release that crosses a renewal still under way gives the lease up all the same", async () => {
  const world = virtualWorld(3);
  const server = new Server(world);
  const a = new Replica(server, "a");
  await leaderOf(world, a);
  // 2 s after the start of the last renewal the next one is sent; its answer takes 10 ms.
  const renewals = server.history.length;
  await world.runUntil(() => server.history.length > renewals, 10_000);
  const release = a.election.release(new AbortController().signal);
  await world.advance(100);
  await release;
  assert.equal(server.record?.holderIdentity, "");
});

test("a candidate stopped while its bid is under way does not leave the lease behind", async () => {
  const world = virtualWorld(3);
  const server = new Server(world);
  const a = new Replica(server, "a");
  await world.runUntil(() => server.history.length > 0, 1_000);
  assert.equal(a.election.leading(), false);
  a.stopping.abort(new Error("SIGTERM"));
  await world.settle();
  const release = a.election.release(new AbortController().signal);
  await world.advance(100);
  await release;
  assert.equal(server.record?.holderIdentity, "");
});

test("a release while the bid is still under way leaves the gate closed for good", async () => {
  const world = virtualWorld(3);
  const server = new Server(world);
  const a = new Replica(server, "a");
  await world.runUntil(() => server.history.length > 0, 1_000);
  // Nobody called the candidacy off: its answer is on the way and must not open the gate.
  const release = a.election.release(new AbortController().signal);
  await world.advance(30_000);
  await release;
  assert.equal(a.election.leading(), false);
  assert.deepEqual(a.writes, []);
  assert.equal(server.record?.holderIdentity, "");
});

test("other processes' wall clocks are not believed, nor is our own when it jumps", async () => {
  const { world, server, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  world.clock.jump(3_600_000);
  await world.advance(10_000);
  world.clock.jump(-7_200_000);
  await world.advance(60_000);
  assert.ok(leader.election.leading());
  assert.equal(server.record?.leaseTransitions, 0);
});

test("a leader that finds another holder in the record stops at once", async () => {
  const { world, server, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  await world.advance(5_000);
  server.put({ ...server.record!, holderIdentity: "intruder" }, String(server.version));
  await world.advance(2_500);
  assert.equal(leader.loss?.message, "leaderelection lost");
});

test("a lease deleted under the leader is made again", async () => {
  const { world, server, a } = pair();
  await world.runUntil(() => a.election.leading() || server.history.length > 0, 5_000);
  server.record = undefined;
  await world.advance(20_000);
  assert.ok(server.record !== undefined);
});

test("through random stalls, kills, cuts and releases no two processes ever write under one lease", async () => {
  for (let seed = 100; seed < 110; seed++) {
    const world = virtualWorld(seed);
    const server = new Server(world);
    const all: Replica[] = [];
    let alive: Replica[] = [];
    const spawn = () => {
      const replica = new Replica(server, `replica-${all.length}`);
      all.push(replica);
      alive.push(replica);
    };
    spawn();
    spawn();
    spawn();
    for (let i = 0; i < 15; i++) {
      await world.advance(world.random.number() * 20_000);
      const victim = alive[Math.floor(world.random.number() * alive.length)]!;
      const fate = world.random.number();
      if (fate < 0.4) victim.stall();
      else if (fate < 0.5) victim.kill();
      else if (fate < 0.8) victim.cutOff = true;
      else void victim.election.release(new AbortController().signal).catch(() => {});
      await world.advance(world.random.number() * 25_000);
      victim.wake();
      victim.cutOff = false;
      await world.advance(0);
      // A process that has lost the lease or released it ends; the others go on.
      const ended = alive.filter((replica) => replica.loss !== undefined || (replica === victim && (fate < 0.5 || fate >= 0.8)));
      for (const replica of ended) replica.kill();
      alive = alive.filter((replica) => !ended.includes(replica));
      while (alive.length < 3) spawn();
    }
    const writes = all.reduce((sum, replica) => sum + replica.writes.length, 0);
    assert.ok(writes > 500, `seed ${seed}: ${writes} writes`);
    assertOnlyHoldersWrote(...all);
  }
});

test("timings that contradict each other are a message, not a crash later on", () => {
  const world = virtualWorld(1);
  const server = new Server(world);
  const build = (timings: Partial<ElectionTimings>) => new Replica(server, "a", { timings: { ...defaultTimings, ...timings } });
  assert.throws(() => build({ leaseDurationMs: 10_000 }), {
    name: "InvalidTimings",
    message: "leaseDuration must be greater than renewDeadline",
  });
  assert.throws(() => build({ retryPeriodMs: 9_000 }), { message: "renewDeadline must be greater than retryPeriod*JitterFactor" });
  assert.throws(() => build({ leaseDurationMs: 0, renewDeadlineMs: 0, retryPeriodMs: 0 }), InvalidTimings);
});

test("the health check fails only when this process should long have given up", async () => {
  const { world, a, b } = pair();
  const leader = await leaderOf(world, a, b);
  const other = leader === a ? b : a;
  await world.advance(10_000);
  leader.stall();
  await world.advance(30_000);
  assert.equal(leader.election.health(), undefined);
  await world.advance(10_000);
  assert.match(leader.election.health() ?? "", /failed election to renew leadership on lease cloud-controller-manager/);
  assert.equal(other.election.health(), undefined);
});

test("an identity names the host and is different every time", () => {
  const world = virtualWorld(1, { hostname: "ip-10-0-0-1" });
  assert.match(identityOf(world), /^ip-10-0-0-1_[0-9a-f]{8}-[0-9a-f]{4}-4/);
  assert.notEqual(identityOf(world), identityOf(world));
});
