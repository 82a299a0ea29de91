/** Every alert fires on its fault and on nothing else: real controllers on virtual time, judged by Prometheus's own engine. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { NoDebianPackages, promtool } from "../../deploy/build/debian.ts";
import type { Source } from "../../src/runtime/controller.ts";
import { Controllers } from "../../src/runtime/controllers.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { exportBuildInfo } from "../../src/runtime/metrics.ts";
import { firingAlerts, type Recording, Scraper, scrapeMs, seriesName } from "../bed/prometheus.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const ruleFile = `${root}deploy/chart/alerts.yaml`;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rules = (parse(await readFile(ruleFile, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const names = rules.map(({ alert }) => alert);

let withoutPrometheus: string | undefined;
before(async () => {
  await promtool().catch((error: unknown) => {
    if (!(error instanceof NoDebianPackages)) throw error;
    withoutPrometheus = error.message;
  });
});

interface Story {
  /** Before the controllers start. */
  readonly before?: (world: ServiceWorld) => void;
  /** After ten good minutes. */
  readonly fault?: (world: ServiceWorld) => Promise<void> | void;
  readonly minutes?: number;
  readonly flags?: readonly string[];
  /** What else runs in the same process. */
  readonly beside?: readonly ((host: Host) => void)[];
}

/** Plays a story on a cluster with two load balancers and records what the controllers serve. */
async function record(t: TestContext, { before: prepare, fault, minutes = 75, flags = [], beside = [] }: Story): Promise<Recording> {
  const world = await serviceWorld();
  t.after(() => world.close());
  prepare?.(world);
  const manager = world.start("--leader-elect=true", ...flags);
  for (const start of beside) start({ world: world.world, log: silentLog, metrics: manager.metrics });
  exportBuildInfo(manager.metrics, { version: "v0.1.0", commit: "abc", buildDate: "2026-01-01T00:00:00Z" });
  const scraper = new Scraper(world.world.clock.now());
  await world.create("web");
  await world.create("shop", { annotations: { type: "nlb" } });
  for (let ms = 0; ms < minutes * 60_000; ms += scrapeMs) {
    if (ms === 10 * 60_000) await fault?.(world);
    await world.world.advance(scrapeMs);
    await scraper.scrape(manager.alive ? manager.metrics : undefined);
  }
  return inUse(scraper.recording());
}

/** Only what the rules read: the rest would be read for nothing. */
function inUse(recording: Recording): Recording {
  const used = new Set(rules.flatMap(({ expr }) => expr.match(/\w+/g) ?? []));
  return new Map([...recording].filter(([series]) => used.has(series.split("{")[0]!)));
}

const faults: Readonly<Record<string, Story>> = {
  FairleadNobodyLeads: {
    fault: (world) =>
      world.say(
        "PATCH",
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager",
        { spec: { holderIdentity: "somebody", leaseDurationSeconds: 36_000, renewTime: new Date(world.world.clock.now()).toISOString() } },
        "merge",
      ),
    minutes: 20,
  },
  FairleadKeepsFailing: { fault: oneServiceFails, minutes: 45 },
  FairleadDenied: { fault: oneServiceFails, minutes: 45 },
  FairleadThrottled: { fault: throttle },
  // Every call to AWS has a time limit: only a defect of a controller holds a worker for so long.
  FairleadWorkTakesLong: { beside: [hangingController], minutes: 30 },
  FairleadQueueGrows: { flags: ["--concurrent-service-syncs=1"], fault: slow, minutes: 45 },
  // The first watches work; when they end after some minutes, none follows.
  FairleadWatchDown: { before: (world) => refuse(world, (request, nth) => nth > 200 && isWatch(request.url)) },
  FairleadEventsDropped: {
    before: (world) => refuse(world, ({ method, url }) => method === "POST" && url.pathname.endsWith("/events")),
    async fault(world) {
      world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer");
      for (let i = 0; i < 12; i++) await world.create(`failing-${i}`);
    },
  },
};

/** The API server answers some requests with 403. */
function refuse({ cluster }: ServiceWorld, whether: (request: HttpRequest, nth: number) => boolean): void {
  const { send } = cluster;
  let nth = 0;
  const body = JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", message: "not allowed", code: 403 });
  const headers = { "content-type": "application/json" };
  const guarded: typeof send = async (request) => {
    if (!whether(request, nth++)) return send(request);
    return {
      status: 403,
      headers,
      body: (async function* () {
        yield Buffer.from(body);
      })(),
    };
  };
  Object.assign(cluster, { send: guarded });
}

/** One Service alone is enough: its load balancer may not be made. */
async function oneServiceFails(world: ServiceWorld): Promise<void> {
  world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer");
  await world.create("failing");
}

function hangingController(host: Host): void {
  const started: Source = { name: "once", start: async (enqueue) => enqueue("a") };
  const controllers = new Controllers(host, { manager: "test", gate: openGate() });
  controllers.start({ name: "hanging", sources: [started], concurrency: 1, reconcile: () => new Promise(() => {}) });
}

/** AWS answers, but only just in time, and there is much to do. */
async function slow(world: ServiceWorld): Promise<void> {
  world.aws.controls.change({ latency: { minMs: 29_000, maxMs: 29_000 }, quotas: { networkLoadBalancers: 200 } });
  for (let i = 0; i < 150; i++) await world.create(`late-${i}`, { annotations: { type: "nlb" } });
}

/** Somebody else uses up the account's limit, and many Services are created. */
async function throttle(world: ServiceWorld): Promise<void> {
  world.aws.controls.change({ buckets: { "elasticloadbalancing:*": { capacity: 1, refillPerSecond: 0.001 } } });
  for (let i = 0; i < 80; i++) await world.create(`late-${i}`);
}

const isWatch = (url: URL) => url.pathname.endsWith("/services") && url.searchParams.has("watch");

test("a sound cluster sets off no alert, and neither do other programs that have metrics of the same names", async (t) => {
  if (withoutPrometheus) return t.skip(withoutPrometheus);
  const sound = await record(t, {});
  const count = [...sound.values()][0]!.length;
  const other = (name: string, labels: Record<string, string>, value: (i: number) => number) =>
    [
      seriesName(name, { job: "kube-controller-manager", instance: "10.0.0.1:10257", ...labels }),
      Array.from({ length: count }, (_, i) => value(i)),
    ] as const;
  const strangers = new Map([
    other("workqueue_depth", { name: "deployment" }, () => 5_000),
    other("workqueue_longest_running_processor_seconds", { name: "deployment" }, (i) => i * 30),
    other("workqueue_retries_total", { name: "deployment" }, (i) => i * 100),
    other("leader_election_master_status", { name: "kube-controller-manager" }, () => 1),
  ]);
  assert.deepEqual(await firingAlerts(ruleFile, names, new Map([...sound, ...strangers])), []);
});

for (const [alert, story] of Object.entries(faults)) {
  test(`${alert} fires on its fault`, async (t) => {
    if (withoutPrometheus) return t.skip(withoutPrometheus);
    const firing = await firingAlerts(ruleFile, names, await record(t, story));
    t.diagnostic(`fires: ${firing.join(", ")}`);
    assert.ok(firing.includes(alert), `${firing}`);
  });
}

test("FairleadEventLoopSlow fires when the process is held up, as its gauge then says", async (t) => {
  if (withoutPrometheus) return t.skip(withoutPrometheus);
  // Virtual time is never held up: the gauge is what src/runtime/event-loop.test.ts holds to the machine.
  const held = new Map([
    [seriesName("fairlead_event_loop_longest_delay_seconds", { job: "fairlead", instance: "a" }), [...Array(60)].map(() => 3)],
  ]);
  assert.ok((await firingAlerts(ruleFile, names, held)).includes("FairleadEventLoopSlow"));
});

test("every alert has a fault that it is tried on", () => {
  assert.deepEqual([...Object.keys(faults), "FairleadEventLoopSlow"].sort(), [...names].sort());
});

test("alerts and dashboard take no series but our own", async () => {
  const dashboard = JSON.parse(await readFile(`${root}docs/grafana-dashboard.json`, "utf8")) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  for (const expr of [...panels, ...rules.map((rule) => rule.expr)]) {
    const shared =
      expr.match(/\b(?<!fairlead_)(workqueue|leader_election|rest_client|process|actions|events_error|\w+_controller)_\w+/g) ?? [];
    const joined = expr.match(/and on \(job, instance\) fairlead_build_info/g) ?? [];
    assert.equal(joined.length, shared.length, expr);
    assert.ok(shared.length > 0 || /\bfairlead_\w+/.test(expr), expr);
  }
});

test("every alert has a runbook", () => {
  for (const { alert, annotations } of rules) {
    assert.equal(annotations.runbook_url, `docs/runbooks/${alert}.md`);
    assert.ok(existsSync(root + annotations.runbook_url), alert);
  }
});
