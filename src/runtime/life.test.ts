import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { again, type Controller } from "./controller.ts";
import { Controllers } from "./controllers.ts";
import { Election, LeadershipLost } from "./election.ts";
import { defaultTimings } from "./election-timings.ts";
import { LeaseConflict, type LeaseRecord, type LeaseStore } from "./lease.ts";
import { type Life, leaderPart, live, type Part, secondLeasePart } from "./life.ts";
import { silentLog } from "./log.ts";
import { newRegistry } from "./metrics.ts";
import { exitStatus, type ProcessEdge, runProcess, statusOf } from "./process.ts";
import { sleep } from "./world.ts";

function bench() {
  const world = virtualWorld(1);
  const said: string[] = [];
  const host = { world, log: silentLog, metrics: newRegistry() };
  const stop = new AbortController();
  const part = (name: string, options: Partial<Part> = {}): Part => ({
    name,
    async start() {
      said.push(`start ${name}`);
    },
    async stop() {
      said.push(`stop ${name}`);
    },
    ...options,
  });
  /** Lives with these parts; the result is there when it has ended. */
  const begin = (...parts: Part[]) => {
    const ended: { at?: number; error?: unknown } = {};
    void live(host, parts, stop.signal).then(
      () => {
        ended.at = world.clock.monotonic();
      },
      (error) => {
        ended.at = world.clock.monotonic();
        ended.error = error;
      },
    );
    return ended;
  };
  return { world, host, said, stop, part, begin };
}

test("parts start in order, one after the other, and stop in reverse", async () => {
  const { world, said, stop, part, begin } = bench();
  const ended = begin(part("serving"), part("election", { start: () => sleep(world.clock, 1_000) }), part("controllers"));
  await world.advance(999);
  assert.deepEqual(said, ["start serving"]);
  await world.advance(10);
  assert.deepEqual(said, ["start serving", "start controllers"]);
  stop.abort();
  await world.settle();
  assert.deepEqual(said.slice(2), ["stop controllers", "stop election", "stop serving"]);
  assert.ok(ended.at !== undefined && ended.error === undefined);
});

test("asked to end while a part still starts, the rest never starts and all that has begun is stopped", async () => {
  const { world, said, stop, part, begin } = bench();
  const waits = part("election", { start: (life: Life) => sleep(world.clock, 60_000, life.stopping) });
  const ended = begin(part("serving"), waits, part("controllers"));
  await world.advance(100);
  stop.abort(new Error("received SIGTERM"));
  await world.settle();
  assert.deepEqual(said, ["start serving", "stop election", "stop serving"]);
  assert.equal(ended.error, undefined);
});

test("a part that does not stop is cut at its deadline and does not keep the others from stopping", async () => {
  const { world, said, stop, part, begin } = bench();
  let cutAt: number | undefined;
  const stuck = part("stuck", {
    stopLimitMs: 3_000,
    stop: (deadline) =>
      new Promise(() => {
        deadline.addEventListener("abort", () => {
          cutAt = world.clock.monotonic();
        });
      }),
  });
  const ended = begin(part("serving"), stuck);
  await world.advance(0);
  stop.abort();
  await world.advance(10_000);
  assert.equal(cutAt, 3_000);
  assert.equal(ended.at, 4_000);
  assert.equal(said.at(-1), "stop serving");
});

test("a part that cannot start ends the process with its error, after the others were stopped in order", async () => {
  const { world, said, part, begin } = bench();
  const broken = part("controllers", { start: () => Promise.reject(new Error("no such zone")) });
  const ended = begin(part("serving"), part("election"), broken);
  await world.settle();
  assert.match(String(ended.error), /no such zone/);
  assert.deepEqual(said.slice(-2), ["stop election", "stop serving"]);
});

test("a lost lease ends the process at once: nothing is stopped first", async () => {
  const { world, said, part, begin } = bench();
  let life: Life | undefined;
  const ended = begin(part("serving"), {
    name: "election",
    async start(given) {
      life = given;
    },
  });
  await world.settle();
  life!.fail(new LeadershipLost("leaderelection lost"));
  await world.settle();
  assert.ok(ended.error instanceof LeadershipLost);
  assert.deepEqual(said, ["start serving"]);
  assert.equal(statusOf(ended.error), 1);
  assert.equal(statusOf(new Error("boom")), 255);
});

class MemoryStore implements LeaseStore {
  readonly name: string;
  record: LeaseRecord | undefined;
  #version = 0;
  constructor(name: string) {
    this.name = name;
  }
  async read() {
    return this.record && { record: this.record, version: String(this.#version) };
  }
  async create(record: LeaseRecord) {
    if (this.record !== undefined) throw new LeaseConflict("there is one");
    return this.#put(record);
  }
  async update(record: LeaseRecord, version: string) {
    if (version !== String(this.#version)) throw new LeaseConflict("too late");
    return this.#put(record);
  }
  #put(record: LeaseRecord): string {
    this.record = record;
    return String(++this.#version);
  }
}

test("on SIGTERM work in hand finishes, Events are flushed, the lease is released, in this order", async () => {
  const { world, host, said, stop, part, begin } = bench();
  const store = new MemoryStore("kube-system/cloud-controller-manager");
  const election = new Election(host, {
    store,
    identity: "me",
    timings: defaultTimings,
    name: "cloud-controller-manager",
    lostMessage: "leaderelection lost",
  });
  const controllers = new Controllers(host, { manager: "cloud-controller-manager", gate: election.gate });
  const controller: Controller = {
    name: "nodes",
    concurrency: 1,
    sources: [
      {
        name: "once",
        async start(enqueue) {
          enqueue("a");
        },
      },
    ],
    async reconcile(_key, signal) {
      await sleep(world.clock, 2_000, signal);
      election.gate.check("write the result");
      said.push("work finished");
      return again(1, "for ever");
    },
  };
  const ended = begin(part("serving"), leaderPart(election), part("events"), {
    name: "controllers",
    stopLimitMs: 20_000,
    async start() {
      controllers.start(controller);
    },
    stop: () => controllers.stop(15_000),
  });
  await world.advance(1_000);
  assert.equal(store.record?.holderIdentity, "me");
  stop.abort(new Error("received SIGTERM"));
  await world.settle();
  assert.equal(store.record?.holderIdentity, "me", "kept while work is in hand");
  await world.advance(5_000);
  assert.deepEqual(said, ["start serving", "start events", "work finished", "stop events", "stop serving"]);
  assert.equal(store.record?.holderIdentity, "");
  assert.ok(ended.at !== undefined && ended.error === undefined);
});

test("the second lease is fought for beside what runs, and losing it ends the process", async () => {
  const { world, host, part, said, begin } = bench();
  const store = new MemoryStore("kube-system/cloud-provider-extraction-migration");
  store.record = { holderIdentity: "other", leaseDurationSeconds: 15, acquireTime: "", renewTime: "", leaseTransitions: 0 };
  const election = new Election(host, {
    store,
    identity: "me",
    timings: defaultTimings,
    name: "cloud-provider-extraction-migration",
    lostMessage: "migration leaderelection lost",
  });
  const migrated = secondLeasePart(election, async () => {
    said.push("migrated controllers start");
  });
  const ended = begin(migrated, part("controllers"));
  await world.advance(1_000);
  assert.deepEqual(said, ["start controllers"]);
  await world.advance(16_000);
  assert.deepEqual(said, ["start controllers", "migrated controllers start"]);
  store.record = { ...store.record!, holderIdentity: "thief" };
  store.update = () => Promise.reject(new LeaseConflict("too late"));
  await world.advance(3_000);
  assert.equal((ended.error as Error).message, "migration leaderelection lost");
});

class TestEdge implements ProcessEdge {
  readonly exits: number[] = [];
  signal: (signal: "SIGTERM" | "SIGINT") => void = () => {};
  crash: (error: unknown) => void = () => {};
  onSignal(tell: (signal: "SIGTERM" | "SIGINT") => void) {
    this.signal = tell;
  }
  onCrash(tell: (error: unknown) => void) {
    this.crash = tell;
  }
  exit(status: number) {
    this.exits.push(status);
  }
}

test("the first signal asks, the second ends at once with the status of that signal", async () => {
  const edge = new TestEdge();
  let stop: AbortSignal | undefined;
  void runProcess(
    edge,
    (given) => {
      stop = given;
      return new Promise(() => {});
    },
    () => {},
  );
  edge.signal("SIGTERM");
  assert.equal(stop?.aborted, true);
  assert.deepEqual(edge.exits, []);
  edge.signal("SIGINT");
  edge.signal("SIGINT");
  assert.deepEqual(edge.exits, [130]);
});

test("what nobody caught is one message without secrets, and status 255", async () => {
  const edge = new TestEdge();
  const messages: string[] = [];
  void runProcess(
    edge,
    () => new Promise(() => {}),
    (message) => messages.push(message),
  );
  edge.crash(new TypeError("cannot use Bearer PLANTED-token-1"));
  edge.crash(new Error("and another"));
  assert.deepEqual(messages, ["TypeError: cannot use Bearer [redacted]"]);
  assert.deepEqual(edge.exits, [exitStatus.fatal]);
});

test("a real process ends with 0 after SIGTERM, and with 255 and one masked line after an unhandled rejection", async () => {
  const script = (body: string) => `
    import { runProcess, realEdge } from ${JSON.stringify(new URL("./process.ts", import.meta.url).href)};
    await runProcess(realEdge(), async (stop) => { ${body} }, (message) => console.error("fatal: " + message));`;
  const run = (body: string, onReady?: (kill: (signal: NodeJS.Signals) => void) => void) =>
    new Promise<{ status: number | null; err: string }>((resolve) => {
      const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script(body)], { stdio: ["ignore", "pipe", "pipe"] });
      let err = "";
      child.stderr.on("data", (chunk: Buffer) => {
        err += chunk;
      });
      child.stdout.on("data", () => onReady?.((signal) => child.kill(signal)));
      child.on("close", (status) => resolve({ status, err }));
    });
  const graceful = await run(
    `setInterval(() => {}, 1000); console.log("ready"); await new Promise((done) => stop.addEventListener("abort", done)); return 0;`,
    (kill) => kill("SIGTERM"),
  );
  assert.deepEqual(graceful, { status: 0, err: "" });
  const crashed = await run(`Promise.reject(new Error("password=PLANTED")); await new Promise(() => setInterval(() => {}, 1000));`);
  assert.deepEqual(crashed, { status: 255, err: "fatal: Error: password=[redacted]\n" });
});
