import assert from "node:assert/strict";
import { test } from "node:test";
import { done } from "../runtime/controller.ts";
import { Controllers } from "../runtime/controllers.ts";
import { openGate } from "../runtime/gate.ts";
import { HealthChecks } from "../runtime/health.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { sleep } from "../runtime/world.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import type { ControllerEntry } from "./program.ts";
import { startControllers } from "./start-controllers.ts";

test("a controller that works on one key for hours is slow, not dead: no probe has the process started anew", async () => {
  const world = virtualWorld(1);
  const host = { world, log: silentLog, metrics: newRegistry() };
  const health = new HealthChecks(host);
  const begun: string[] = [];
  const slow = {
    name: "node-route-controller",
    concurrency: 1,
    sources: [
      {
        name: "keys",
        async start(enqueue: (key: string) => void) {
          for (const key of ["periodic", "node_change"]) enqueue(key);
        },
      },
    ],
    reconcile: (key: string) => {
      begun.push(key);
      return new Promise<never>(() => {});
    },
  };
  const entry: ControllerEntry = {
    name: "node-route-controller",
    client: "route-controller",
    eventSource: "route_controller",
    metric: "route",
    queue: "Routes",
    make: async () => ({ kind: "run", controllers: [{ controller: slow }] }),
  };
  await startControllers([entry], {
    manager: "test",
    intervalMs: 0,
    world,
    log: silentLog,
    controllers: new Controllers(host, { manager: "cloud-controller-manager", gate: openGate() }),
    health,
    signal: new AbortController().signal,
    contextFor: () => undefined as never,
    apart: false,
    onFailure: (error) => assert.fail(error),
  });
  await world.advance(3 * 3600_000);
  assert.deepEqual(begun, ["periodic"]);
  for (const probe of ["livez", "healthz", "readyz"] as const) {
    const { healthy, text } = health.answer(probe, { verbose: true, exclude: [] });
    assert.ok(healthy, text);
    assert.match(text, /\[\+\]node-route-controller ok/, "the reference's users know a line for each controller");
  }
});

test("where controllers stand apart, one that cannot be made is named by readiness and tried again, and the next one runs", async () => {
  const world = virtualWorld(1);
  const host = { world, log: silentLog, metrics: newRegistry() };
  const health = new HealthChecks(host);
  const reconciled: string[] = [];
  let broken = true;
  let tries = 0;
  const entry = (name: string): ControllerEntry => ({
    name,
    client: name,
    eventSource: name,
    metric: name,
    queue: name,
    make: async () => {
      if (name === "bad" && tries++ >= 0 && broken) throw new Error("its file cannot be read");
      const sources = [{ name: "keys", start: async (enqueue: (key: string) => void) => enqueue(name) }];
      return { kind: "run", controllers: [{ controller: { name, concurrency: 1, sources, reconcile: async () => said(name) } }] };
    },
  });
  const said = (name: string) => {
    reconciled.push(name);
    return done;
  };
  await startControllers([entry("bad"), entry("good")], {
    manager: "test",
    intervalMs: 0,
    world,
    log: silentLog,
    controllers: new Controllers(host, { manager: "test", gate: openGate() }),
    health,
    signal: new AbortController().signal,
    contextFor: () => undefined as never,
    apart: true,
    onFailure: (error) => assert.fail(error),
  });
  const ready = () => health.answer("readyz", { verbose: true, exclude: [] });
  await world.advance(60_000);
  assert.deepEqual(reconciled, ["good"]);
  assert.deepEqual([ready().healthy, health.answer("livez", { verbose: false, exclude: [] }).healthy], [false, true]);
  assert.match(ready().text, /\[-\]bad-start failed/);
  assert.ok(tries > 1 && tries < 10, `${tries} tries in a minute`);

  broken = false;
  await world.advance(600_000);
  assert.deepEqual(reconciled, ["good", "bad"]);
  assert.ok(ready().healthy, ready().text);
});

test("one that is still being made when the process is asked to stop is not started any more", async () => {
  const world = virtualWorld(1);
  const host = { world, log: silentLog, metrics: newRegistry() };
  const controllers = new Controllers(host, { manager: "test", gate: openGate() });
  const stop = new AbortController();
  let tries = 0;
  const reconciled: string[] = [];
  await startControllers(
    [
      {
        name: "late",
        client: "late",
        eventSource: "late",
        metric: "late",
        queue: "late",
        make: async () => {
          if (++tries === 1) throw new Error("its file cannot be read");
          await sleep(world.clock, 30_000);
          const sources = [{ name: "keys", start: async (enqueue: (key: string) => void) => enqueue("key") }];
          const reconcile = async (key: string) => {
            reconciled.push(key);
            return done;
          };
          return { kind: "run", controllers: [{ controller: { name: "late", concurrency: 1, sources, reconcile } }] };
        },
      },
    ],
    {
      manager: "test",
      intervalMs: 0,
      world,
      log: silentLog,
      controllers,
      health: new HealthChecks(host),
      signal: stop.signal,
      contextFor: () => undefined as never,
      apart: true,
      onFailure: (error) => assert.fail(error),
    },
  );
  await world.runUntil(() => tries === 2, 60_000, "it is tried again");
  stop.abort(new Error("stop"));
  await controllers.stop(1_000);
  await world.advance(600_000);
  assert.deepEqual([controllers.all().length, reconciled, tries], [0, [], 2]);
});
