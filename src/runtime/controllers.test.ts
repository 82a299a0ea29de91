import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { again, type Controller, done, type Source } from "./controller.ts";
import { ControllerFailed, Controllers } from "./controllers.ts";
import { dryRunGate, openGate, refusalIn, type WriteGate, WriteRefused } from "./gate.ts";
import { type Fields, type Log, silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { realWorld, sleep } from "./world.ts";

interface Line {
  readonly level: "error" | "warn" | "info";
  readonly message: string;
  readonly fields: Fields;
}

function recordingLog(lines: Line[], bound: Fields = {}): Log {
  const write = (level: Line["level"]) => (message: string, fields?: Fields) => {
    lines.push({ level, message, fields: { ...bound, ...fields } });
  };
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    v: () => undefined,
    with: (fields) => recordingLog(lines, { ...bound, ...fields }),
  };
}

function bench(gate: WriteGate = openGate()) {
  const world = virtualWorld(1);
  const lines: Line[] = [];
  const metrics = newRegistry();
  const controllers = new Controllers({ world, log: recordingLog(lines), metrics }, { manager: "cloud-controller-manager", gate });
  return { world, lines, metrics, controllers };
}

/** Tells these keys at once. */
function keys(...told: string[]): Source {
  return {
    name: "keys",
    async start(enqueue) {
      for (const key of told) enqueue(key);
    },
  };
}

function controller(reconcile: Controller["reconcile"], source: Source = keys("a"), concurrency = 1): Controller {
  return { name: "test-controller", sources: [source], concurrency, reconcile };
}

test("workers start only when every source is in sync, and then as many as asked for", async () => {
  const { world, controllers } = bench();
  let inWork = 0;
  let most = 0;
  const slow: Source = {
    name: "slow",
    async start(enqueue, signal) {
      for (const key of ["a", "b", "c", "d", "e"]) enqueue(key);
      await sleep(world.clock, 1_000, signal);
    },
  };
  const running = controllers.start(
    controller(
      async () => {
        most = Math.max(most, ++inWork);
        await sleep(world.clock, 10);
        inWork--;
        return done;
      },
      slow,
      3,
    ),
  );
  await world.advance(999);
  assert.equal(most, 0);
  assert.deepEqual(running.progress().waitingFor, ["slow"]);
  await world.advance(1);
  await running.synced;
  await world.advance(100);
  assert.equal(most, 3);
  assert.equal(running.progress().depth, 0);
});

test("a key that fails is logged with its error, tried again with back-off, and keeps no other key from its turn", async () => {
  const { world, controllers, lines } = bench();
  const runs: string[] = [];
  controllers.start(
    controller(
      async (key) => {
        runs.push(`${key}@${Math.floor(world.clock.monotonic())}`);
        if (key === "bad" && runs.filter((run) => run.startsWith("bad")).length < 4) throw new Error("no such subnet");
        return done;
      },
      keys("bad", "good"),
    ),
  );
  await world.advance(60_000);
  assert.equal(runs.filter((run) => run.startsWith("good")).length, 1);
  assert.equal(runs.filter((run) => run.startsWith("bad")).length, 4);
  const errors = lines.filter((line) => line.level === "error");
  assert.equal(errors.length, 3);
  assert.equal(errors[0]?.fields.key, "bad");
  assert.equal(errors[0]?.fields.controller, "test-controller");
  assert.match(String(errors[0]?.fields.error), /no such subnet/);
  const waits = errors.map((line) => Number(line.fields.retryInMs));
  assert.ok(waits[0]! < waits[1]! && waits[1]! < waits[2]!, `${waits} grow`);
});

test("a key that wants to come again does so when it said, without back-off", async () => {
  const { world, controllers } = bench();
  const at: number[] = [];
  controllers.start(
    controller(async () => {
      at.push(world.clock.monotonic());
      return at.length < 4 ? again(1_000, "load balancer is provisioning") : done;
    }),
  );
  await world.advance(10_000);
  assert.deepEqual(at, [0, 1_000, 2_000, 3_000]);
});

test("thousands of keys with nothing to wait for do not keep timers from running", async () => {
  const { clock } = realWorld();
  const world = { ...virtualWorld(1), clock };
  const controllers = new Controllers({ world, log: silentLog, metrics: newRegistry() }, { manager: "test", gate: openGate() });
  const total = 300;
  let reconciled = 0;
  let reconciledAtTimer: number | undefined;
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  clock.after(1, () => {
    reconciledAtTimer = reconciled;
  });
  controllers.start(
    controller(
      async () => {
        const until = clock.monotonic() + 0.5;
        while (clock.monotonic() < until);
        if (++reconciled === total) resolve();
        return done;
      },
      keys(...Array.from({ length: total }, (_, i) => `key-${i}`)),
      3,
    ),
  );
  await finished;
  assert.ok(reconciledAtTimer !== undefined && reconciledAtTimer < total / 2, `${reconciledAtTimer} keys were done before the timer ran`);
});

test("a key that always wants to come again at once does not shut out the rest", async () => {
  const { world, controllers } = bench();
  let runs = 0;
  controllers.start(
    controller(async () => {
      runs++;
      return again(0, "impatient");
    }),
  );
  await world.advance(100);
  assert.ok(runs > 50 && runs <= 101, `${runs} runs in 100 ms`);
});

test("a write refused by a dry run is no failure and is not tried again", async () => {
  const noted: string[] = [];
  const gate = dryRunGate((write) => noted.push(write));
  const { world, controllers, lines } = bench(gate);
  const running = controllers.start(
    controller(async () => {
      try {
        gate.check("delete node a");
      } catch (cause) {
        throw new Error("cannot apply", { cause });
      }
      return done;
    }),
  );
  await world.advance(60_000);
  assert.deepEqual(noted, ["delete node a"]);
  assert.deepEqual(lines, []);
  assert.equal(running.progress().failing, 0);
});

test("a write refused because the lease is gone stops the controller and is not logged as an error", async () => {
  const { world, controllers, lines, metrics } = bench();
  const runs: string[] = [];
  controllers.start(
    controller(
      async (key) => {
        runs.push(key);
        throw new WriteRefused("patch node a", "not-leading");
      },
      keys("a", "b", "c"),
    ),
  );
  await world.advance(60_000);
  assert.deepEqual(runs, ["a"]);
  assert.deepEqual(
    lines.filter((line) => line.level === "error"),
    [],
  );
  assert.match(await metrics.metrics(), /running_managed_controllers\{name="test-controller",manager="cloud-controller-manager"\} 0\n/);
});

test("a lost lease cuts the work in hand at once", async () => {
  const lost = new AbortController();
  const { world, controllers } = bench({ check() {}, lost: lost.signal });
  let cutAt: number | undefined;
  controllers.start(
    controller(async (_key, signal) => {
      await sleep(world.clock, 60_000, signal).catch((error) => {
        cutAt = world.clock.monotonic();
        throw error;
      });
      return done;
    }),
  );
  await world.advance(500);
  lost.abort();
  await world.advance(0);
  assert.equal(cutAt, 500);
});

test("a controller started after the lease was lost does nothing", async () => {
  const { world, controllers } = bench({ check() {}, lost: AbortSignal.abort() });
  const runs: string[] = [];
  const running = controllers.start(
    controller(async (key) => {
      runs.push(key);
      return done;
    }),
  );
  await world.advance(1_000);
  await running.synced;
  assert.deepEqual(runs, []);
});

test("a source that cannot start is a clear error, not an unhandled one", async () => {
  const { world, controllers, lines } = bench();
  const broken: Source = {
    name: "nodes",
    start() {
      throw new Error("nodes is forbidden");
    },
  };
  const running = controllers.start(controller(async () => done, broken));
  await world.advance(0);
  await assert.rejects(running.synced, (error) => {
    assert.ok(error instanceof ControllerFailed);
    assert.equal(error.message, "controller test-controller: source nodes cannot start: nodes is forbidden");
    return true;
  });
  assert.equal(lines[0]?.message, "controller cannot start");
});

test("zero workers are refused instead of leaving everything undone", () => {
  const { controllers } = bench();
  assert.throws(() => controllers.start(controller(async () => done, keys(), 0)), /concurrency must be a positive number, but got 0/);
});

test("stopping lets work in hand finish and starts nothing new", async () => {
  const { world, controllers } = bench();
  const finished: string[] = [];
  const running = controllers.start(
    controller(
      async (key, signal) => {
        await sleep(world.clock, 1_000, signal);
        finished.push(key);
        return done;
      },
      keys("a", "b"),
    ),
  );
  await world.advance(500);
  let stoppedAt: number | undefined;
  void running.stop(5_000).then(() => {
    stoppedAt = world.clock.monotonic();
  });
  await world.advance(20_000);
  assert.deepEqual(finished, ["a"]);
  assert.equal(stoppedAt, 1_000);
});

test("work that does not finish by the deadline is cut, and stopping does not wait for ever", async () => {
  const { world, controllers, lines } = bench();
  let cut = false;
  const running = controllers.start(
    controller(async (_key, signal) => {
      signal.addEventListener("abort", () => {
        cut = true;
      });
      return new Promise(() => {});
    }),
  );
  await world.advance(0);
  let stoppedAt: number | undefined;
  void running.stop(5_000).then(() => {
    stoppedAt = world.clock.monotonic();
  });
  await world.advance(20_000);
  assert.equal(cut, true);
  assert.equal(stoppedAt, 6_000);
  assert.equal(lines.find((line) => line.level === "warn")?.fields.key, "a");
});

test("progress names the key that has been in work longest", async () => {
  const { world, controllers } = bench();
  const running = controllers.start(controller(() => new Promise(() => {}), keys("default/web", "default/api")));
  await world.advance(15 * 60_000);
  assert.deepEqual(running.progress().oldestRunning, { key: "default/web", ms: 15 * 60_000 });
  assert.equal(running.progress().lastSuccessMsAgo, undefined);
});

test("an error that hides a real failure beside a refusal is not taken for a refusal", () => {
  const refused = new WriteRefused("x", "dry-run");
  assert.equal(refusalIn(new AggregateError([refused, refused])), refused);
  assert.equal(refusalIn(new AggregateError([refused, new Error("boom")])), undefined);
  assert.equal(refusalIn(new Error("outer", { cause: new Error("inner", { cause: refused }) })), refused);
});

test("metrics carry the names that dashboards know", async () => {
  const { world, controllers, metrics } = bench();
  controllers.start({ ...controller(async () => done), name: "cloud-node-controller" }, { managed: "cloud-node", queue: "Nodes" });
  controllers.start({ ...controller(async () => done), name: "tagging" }, { managed: null, queue: "tagging-controller" });
  await world.advance(10);
  const text = await metrics.metrics();
  assert.match(text, /running_managed_controllers\{name="cloud-node",manager="cloud-controller-manager"\} 1\n/);
  assert.doesNotMatch(text, /running_managed_controllers\{name="tagging"/);
  assert.match(text, /workqueue_adds_total\{name="Nodes"\} 1\n/);
  assert.match(text, /workqueue_adds_total\{name="tagging-controller"\} 1\n/);
});
