import assert from "node:assert/strict";
import { test } from "node:test";
import type { InterruptionEvent } from "./event.ts";
import { nextStep } from "./next-step.ts";
import { changedNode } from "./node-change.ts";
import type { NodePlan, PlannedEvent } from "./plan.ts";
import type { PodView } from "./pods.ts";
import type { InterruptionSettings } from "./settings.ts";
import type { PlannedNode, Situation, Step } from "./situation.ts";
import { WorkingMemory } from "./working-memory.ts";

const now = Date.UTC(2026, 0, 5, 18, 0, 0);
const settings: InterruptionSettings = {
  policies: {
    spot: "drain",
    reservation: "drain",
    "capacity-block": "drain",
    rebalance: "drain",
    maintenance: "drain",
    "state-change": "drain",
    termination: "drain",
  },
  drain: {
    ignoreDaemonSets: true,
    deleteLocalData: true,
    podGraceSeconds: -1,
    ownPod: { name: "", namespace: "" },
    overrideBudgetsMs: undefined,
    shortenGraceMs: undefined,
  },
  graceMs: 120_000,
  scheduleMaintenance: false,
  taintEffect: undefined,
  excludeFromLoadBalancers: false,
  loadBalancerWaitMs: 0,
  outOfServiceTaint: false,
  heartbeat: undefined,
  completionDelayMs: 0,
  restartLabels: false,
  webhook: false,
  podEvents: false,
};
const spot: InterruptionEvent = {
  id: "spot-1",
  kind: "spot",
  monitor: "SQS_MONITOR",
  instanceId: "i-1",
  description: "spot \n",
  startTime: now,
  deadline: now + 120_000,
};
const hook = { group: "g", hook: "h", instanceId: "i-1", token: "t" };
const termination: InterruptionEvent = { ...spot, id: "term-1", kind: "termination", deadline: undefined as never, hook };
delete (termination as { deadline?: number }).deadline;

const bare: PlannedNode = { instanceId: "i-1", unschedulable: false, taints: [], labels: {}, bootId: "boot-1", plan: undefined };
const pod = (name: string, more: Partial<PodView> = {}): PodView => ({
  metadata: { name, namespace: "default", uid: name, resourceVersion: "1" },
  node: "n",
  created: 0,
  daemonSet: undefined,
  mirror: false,
  finished: false,
  localData: false,
  graceSeconds: 30,
  ...more,
});
const situation = (more: Partial<Situation> = {}): Situation => ({
  now,
  me: "a",
  settings,
  node: bare,
  arrived: [],
  over: new Set(),
  holderAlive: false,
  pods: [],
  orphanedDaemonSets: new Set(),
  bootedAt: undefined,
  instanceGone: false,
  memory: new WorkingMemory(),
  ...more,
});
const planned = (more: Partial<NodePlan> = {}, events: readonly Partial<PlannedEvent>[] = [{}]): NodePlan => ({
  revision: 1,
  phase: "draining",
  holder: "a",
  events: events.map((event) => ({
    id: "spot-1",
    kind: "spot",
    policy: "drain",
    description: "spot",
    startTime: now,
    deadline: now + 120_000,
    ...event,
  })),
  cordonedByUs: true,
  bootId: "boot-1",
  since: now,
  drainSince: now,
  ...more,
});
const cordonedNode = (plan: NodePlan): PlannedNode => ({ ...bare, unschedulable: true, plan });
const asWrite = (step: Step) => {
  assert.equal(step.kind, "write", JSON.stringify(step));
  return step as Extract<Step, { kind: "write" }>;
};

test("a new event cordons the Node and enters its plan in one write; who writes it works on it", () => {
  const { plan, change, reports } = asWrite(nextStep(situation({ arrived: [spot] })));
  assert.deepEqual(change, { unschedulable: true });
  assert.deepEqual([plan.phase, plan.holder, plan.cordonedByUs, plan.revision], ["draining", "a", true, 1]);
  assert.deepEqual(
    reports.map(({ reason }) => reason),
    ["SpotInterruption", "PreDrain"],
  );
});

test("a Node that somebody had cordoned is not ours to uncordon", () => {
  const { plan, change } = asWrite(nextStep(situation({ arrived: [spot], node: { ...bare, unschedulable: true } })));
  assert.deepEqual([change, plan.cordonedByUs], [{}, false]);
});

test("an event that lies ahead is cordoned for now and drained for later", () => {
  const later = { ...spot, startTime: now + 600_000, deadline: now + 720_000 };
  const { plan } = asWrite(nextStep(situation({ arrived: [later] })));
  assert.equal(plan.phase, "cordoned");
  const waiting = nextStep(situation({ arrived: [later], node: cordonedNode(plan) }));
  assert.deepEqual([waiting.kind, waiting.kind === "wait" && waiting.until], ["wait", now + 480_000]);
  assert.equal(asWrite(nextStep(situation({ now: now + 480_000, arrived: [later], node: cordonedNode(plan) }))).plan.phase, "draining");
});

test("maintenance is drained for at once, or at its own time less the grace period", () => {
  const maintenance: InterruptionEvent = { ...spot, id: "m", kind: "maintenance", deadline: now + 86_400_000 };
  assert.equal(asWrite(nextStep(situation({ arrived: [maintenance] }))).plan.phase, "draining");
  const scheduled = { ...settings, scheduleMaintenance: true };
  const { plan } = asWrite(nextStep(situation({ arrived: [maintenance], settings: scheduled })));
  const step = nextStep(situation({ settings: scheduled, node: cordonedNode(plan) }));
  assert.equal(step.kind === "wait" && step.until, now + 86_400_000 - 120_000);
});

test("load balancers get their time before the first pod goes, but never more than a third of it", () => {
  const { plan } = asWrite(nextStep(situation({ arrived: [spot], settings: { ...settings, loadBalancerWaitMs: 60_000 } })));
  assert.equal(plan.phase, "cordoned");
  const step = nextStep(situation({ node: cordonedNode(plan), settings: { ...settings, loadBalancerWaitMs: 60_000 } }));
  assert.equal(step.kind === "wait" && step.until, now + 40_000);
});

test("what is ignored by policy is acknowledged and touches nothing", () => {
  const ignoring = { ...settings, policies: { ...settings.policies, spot: "ignore" as const } };
  assert.deepEqual(nextStep(situation({ arrived: [spot], settings: ignoring })), {
    kind: "acknowledge",
    eventIds: ["spot-1"],
    reached: "ignored",
  });
});

test("another holder that is there works on; one that is gone is succeeded, from where it was", () => {
  const plan = planned({ holder: "b" });
  const waiting = nextStep(situation({ node: cordonedNode(plan), holderAlive: true, arrived: [spot] }));
  assert.deepEqual([waiting.kind, waiting.kind === "wait" && waiting.until], ["wait", now + 2_000]);
  const taken = asWrite(nextStep(situation({ node: cordonedNode(plan), holderAlive: false }))).plan;
  assert.deepEqual([taken.holder, taken.phase, taken.drainSince], ["a", "draining", now]);
});

test("an event that comes to another's Node enters its plan, and the other goes on", () => {
  const plan = planned({ holder: "b" });
  const second = { ...spot, id: "spot-2" };
  const { plan: joined } = asWrite(nextStep(situation({ node: cordonedNode(plan), holderAlive: true, arrived: [second] })));
  assert.deepEqual([joined.holder, joined.events.map(({ id }) => id), joined.drainSince], ["b", ["spot-1", "spot-2"], now]);
});

test("pods are evicted, looked after until they are gone, and then the Node is drained", () => {
  const node = cordonedNode(planned());
  const first = nextStep(situation({ node, pods: [pod("web"), pod("ds", { daemonSet: "agent" }), pod("static", { mirror: true })] }));
  assert.deepEqual(first.kind === "remove-pods" && first.removals.map(({ how, pod: { metadata } }) => [how, metadata.name]), [
    ["evict", "web"],
  ]);
  const memory = new WorkingMemory();
  memory.attempts.set("web", { how: "evict", accepted: true, retryAt: now + 60_000 });
  assert.equal(nextStep(situation({ node, pods: [pod("web")], memory })).kind, "wait");
  const { plan, reports } = asWrite(nextStep(situation({ node, pods: [pod("ds", { daemonSet: "agent" })], memory })));
  assert.deepEqual([plan.phase, plan.drainedAt, plan.events[0]?.end, plan.revision], ["ended", now, "done", 2]);
  assert.deepEqual(
    reports.map(({ reason }) => reason),
    ["CordonAndDrain", "PostDrain"],
  );
});

test("a Node that is drained while a hook waits is said to be, before the hook goes", () => {
  const node = cordonedNode(planned({}, [{ id: "term-1", kind: "termination", hook }]));
  const { plan } = asWrite(nextStep(situation({ node, pods: [] })));
  assert.deepEqual([plan.phase, plan.drainedAt, plan.events[0]?.end], ["drained", now, undefined]);
});

test("pods that are not known are waited for, never taken for none", () => {
  assert.equal(nextStep(situation({ node: cordonedNode(planned()), pods: undefined })).kind, "wait");
});

test("the end of an event in order: hook, webhook, plan, message", () => {
  const plan = planned({ phase: "drained", drainedAt: now }, [{ id: "term-1", kind: "termination", hook }]);
  const memory = new WorkingMemory();
  const more = { node: cordonedNode(plan), arrived: [termination], memory, settings: { ...settings, webhook: true } };
  const completing = nextStep(situation(more));
  assert.deepEqual(completing.kind === "complete" && completing.result, "CONTINUE");
  memory.hooksDone.add("term-1");
  assert.equal(nextStep(situation(more)).kind, "notify");
  memory.notified.add("term-1");
  const { plan: ended } = asWrite(nextStep(situation(more)));
  assert.deepEqual([ended.phase, ended.events[0]?.end], ["ended", "done"]);
  const last = nextStep(situation({ ...more, node: cordonedNode(ended) }));
  assert.deepEqual(last, { kind: "acknowledge", eventIds: ["term-1"], reached: "ended" });
  assert.equal(nextStep(situation({ node: cordonedNode(ended) })).kind, "wait");
});

test("no message is acknowledged while its event has not ended", () => {
  for (const phase of ["cordoned", "draining", "drained"] as const) {
    const step = nextStep(situation({ node: cordonedNode(planned({ phase })), arrived: [spot], pods: [pod("web")] }));
    assert.notEqual(step.kind, "acknowledge", phase);
  }
});

test("the completion of a hook waits for its delay, and heartbeats go on meanwhile", () => {
  const plan = planned({ phase: "drained", drainedAt: now }, [{ id: "term-1", kind: "termination", hook }]);
  const delayed = { ...settings, completionDelayMs: 90_000, heartbeat: { intervalMs: 30_000, untilMs: 600_000 } };
  const node = cordonedNode(plan);
  const step = nextStep(situation({ node, settings: delayed }));
  assert.equal(step.kind === "wait" && step.until, now + 30_000);
  assert.equal(nextStep(situation({ node, settings: delayed, now: now + 30_000 })).kind, "heartbeat");
  const memory = new WorkingMemory();
  memory.heartbeats.set("term-1", now + 60_000);
  assert.equal(nextStep(situation({ node, settings: delayed, now: now + 90_000 - 1, memory })).kind, "wait");
  memory.heartbeats.set("term-1", now + 90_000);
  assert.equal(nextStep(situation({ node, settings: delayed, now: now + 90_000, memory })).kind, "complete");
});

test("no heartbeat is sent beyond its limit", () => {
  const plan = planned({}, [{ id: "term-1", kind: "termination", hook }]);
  const beating = { ...settings, heartbeat: { intervalMs: 30_000, untilMs: 60_000 } };
  const step = nextStep(situation({ node: cordonedNode(plan), settings: beating, now: now + 60_001, pods: [pod("web")] }));
  assert.notEqual(step.kind, "heartbeat");
});

test("a drain that takes longer than the grace period is said to, once, and goes on", () => {
  const memory = new WorkingMemory();
  memory.attempts.set("web", { how: "evict", accepted: false, refusal: "the budget forbids it", retryAt: now + 200_000 });
  const plan = planned({}, [{ deadline: now + 600_000 }]);
  const late = situation({ now: now + 120_000, node: cordonedNode(plan), pods: [pod("web")], memory });
  const { plan: overdue, reports } = asWrite(nextStep(late));
  assert.match(reports[0]?.message ?? "", /default\/web \(the budget forbids it\)/);
  assert.equal(nextStep({ ...late, node: cordonedNode({ ...overdue, renewedAt: late.now }) }).kind, "wait");
});

test("an event whose time is over has failed: its hook is abandoned, it is said why, and only then is it acknowledged", () => {
  const memory = new WorkingMemory();
  memory.hookDeadlines.set("term-1", now + 300_000);
  const node = cordonedNode(planned({ overdue: true }, [{ id: "term-1", kind: "termination", hook, deadline: undefined as never }]));
  const late = situation({ now: now + 295_000, node, pods: [pod("web")], memory, arrived: [termination] });
  const step = nextStep(late);
  assert.deepEqual(step.kind === "complete" && [step.result, /default\/web/.test(step.why)], ["ABANDON", true]);
  memory.hooksDone.add("term-1");
  const { plan } = asWrite(nextStep(late));
  assert.deepEqual([plan.phase, plan.events[0]?.end], ["ended", "failed"]);
});

test("a notice that came too late is tried for its grace period all the same", () => {
  const late = { ...spot, startTime: now - 300_000, deadline: now - 180_000 };
  const { plan } = asWrite(nextStep(situation({ arrived: [late] })));
  assert.equal(nextStep(situation({ node: cordonedNode(plan), pods: [pod("web")] })).kind, "remove-pods");
});

test("a pod that makes a drain impossible is named, and nothing is evicted", () => {
  const strict = { ...settings, drain: { ...settings.drain, ignoreDaemonSets: false, deleteLocalData: false } };
  const pods = [pod("ds", { daemonSet: "agent" }), pod("db", { localData: true }), pod("web")];
  const { reports, plan } = asWrite(nextStep(situation({ node: cordonedNode(planned()), pods, settings: strict })));
  assert.match(reports[0]?.message ?? "", /DaemonSet-managed Pods .*default\/ds.*local storage .*default\/db/);
  assert.equal(nextStep(situation({ node: cordonedNode(plan), pods, settings: strict })).kind, "wait");
});

test("two events of one Node: one drain, and each has its own end", () => {
  const plan = planned({ phase: "drained", drainedAt: now }, [{}, { id: "term-1", kind: "termination", hook }]);
  const memory = new WorkingMemory();
  memory.hooksDone.add("term-1");
  const { plan: ended } = asWrite(nextStep(situation({ node: cordonedNode(plan), memory })));
  assert.deepEqual(
    ended.events.map(({ end }) => end),
    ["done", "done"],
  );
});

test("what only cordons ends with the cordon, and its hook goes", () => {
  const cordoning = { ...settings, policies: { ...settings.policies, rebalance: "cordon" as const } };
  const rebalance: InterruptionEvent = { ...spot, id: "r", kind: "rebalance" };
  const { plan } = asWrite(nextStep(situation({ arrived: [rebalance], settings: cordoning })));
  assert.equal(plan.phase, "cordoned");
  const { plan: ended, reports } = asWrite(nextStep(situation({ settings: cordoning, node: cordonedNode(plan) })));
  assert.deepEqual([ended.phase, reports[0]?.reason], ["ended", "Cordon"]);
});

test("a new event of a Node whose plan has ended is worked on anew", () => {
  const plan = planned({ phase: "ended", holder: "b" }, [{ end: "done" }]);
  const { plan: next } = asWrite(
    nextStep(situation({ node: cordonedNode(plan), holderAlive: true, arrived: [{ ...spot, id: "spot-2" }] })),
  );
  assert.deepEqual([next.holder, next.phase], ["a", "draining"]);
});

test("maintenance that is called off lets the Node serve again, once, and only if nothing else holds it", () => {
  const maintenance = { id: "m", kind: "maintenance" as const };
  const node = cordonedNode(planned({}, [maintenance]));
  const { plan, change } = asWrite(nextStep(situation({ node, over: new Set(["m"]) })));
  assert.deepEqual([change.unschedulable, plan.events[0]?.end, plan.phase], [false, "over", "ended"]);
  const after = changedNode({ ...node, plan }, change);
  assert.equal(nextStep(situation({ node: { ...after, plan }, over: new Set(["m"]) })).kind, "wait");
  const both = cordonedNode(planned({}, [maintenance, { id: "spot-1" }]));
  assert.equal(asWrite(nextStep(situation({ node: both, over: new Set(["m"]) }))).change.unschedulable, undefined);
});

test("a machine that came back from its maintenance serves again, and the same notice does not drain it twice", () => {
  const plan = planned({ phase: "ended" }, [{ id: "m", kind: "maintenance", restarts: true, end: "done" }]);
  const node = { ...cordonedNode(plan), bootId: "boot-2" };
  const { plan: back, change } = asWrite(nextStep(situation({ node })));
  assert.equal(change.unschedulable, false);
  const again = { ...spot, id: "m", kind: "maintenance" as const };
  const step = nextStep(situation({ node: { ...bare, bootId: "boot-2", plan: back }, arrived: [again] }));
  assert.equal(step.kind, "acknowledge");
});

test("a notice that comes with the restart does not make the maintenance before it last for ever", () => {
  const plan = planned({ phase: "ended" }, [{ id: "m", kind: "maintenance", restarts: true, end: "done" }]);
  const { plan: next } = asWrite(nextStep(situation({ node: { ...cordonedNode(plan), bootId: "boot-2" }, arrived: [spot] })));
  assert.deepEqual(
    next.events.map(({ id, end }) => [id, end]),
    [
      ["m", "over"],
      ["spot-1", undefined],
    ],
  );
  assert.equal(next.bootId, "boot-2");
});

test("a Node whose instance is gone is out of service, where that is wanted", () => {
  const wanted = { ...settings, outOfServiceTaint: true };
  const { change, plan } = asWrite(
    nextStep(situation({ node: cordonedNode(planned()), instanceGone: true, settings: wanted, pods: [pod("web")] })),
  );
  assert.deepEqual(
    change.taints?.map(({ key }) => key),
    ["node.kubernetes.io/out-of-service"],
  );
  assert.equal(plan.events[0]?.end, "failed");
});

test("of a Node that is gone the hook is let go and the message acknowledged", () => {
  const memory = new WorkingMemory();
  const gone = situation({ node: undefined, arrived: [termination], memory });
  assert.equal(nextStep(gone).kind, "complete");
  memory.hooksDone.add("term-1");
  assert.deepEqual(nextStep(gone), { kind: "acknowledge", eventIds: ["term-1"], reached: "gone" });
});

test("an event of another instance never touches the Node that has its name now; its hook is let go", () => {
  const memory = new WorkingMemory();
  const another = situation({ node: { ...bare, instanceId: "i-2" }, arrived: [{ ...termination, instanceId: "i-1" }], memory });
  assert.equal(nextStep(another).kind, "complete");
  memory.hooksDone.add("term-1");
  assert.deepEqual(nextStep(another), { kind: "acknowledge", eventIds: ["term-1"], reached: "gone" });
  // A Node that does not say yet what it runs on is the one of its name.
  assert.equal(nextStep(situation({ node: { ...bare, instanceId: "" }, arrived: [spot] })).kind, "write");
});

test("taints, the label of load balancers and the marks of a restart come with the cordon, each once", () => {
  const marking = { ...settings, taintEffect: "NoExecute" as const, excludeFromLoadBalancers: true, restartLabels: true };
  const maintenance: InterruptionEvent = { ...spot, id: "instance-event-1", kind: "maintenance", restarts: true };
  const { change } = asWrite(nextStep(situation({ arrived: [maintenance], settings: marking })));
  assert.deepEqual(change, {
    unschedulable: true,
    taints: [{ key: "aws-node-termination-handler/scheduled-maintenance", value: "instance-event-1", effect: "NoExecute" }],
    labels: {
      "node.kubernetes.io/exclude-from-external-load-balancers": "aws-node-termination-handler",
      "aws-node-termination-handler/event-id": "instance-event-1",
      "aws-node-termination-handler/action": "UncordonAfterReboot",
      "aws-node-termination-handler/action-time": String(now / 1000),
    },
  });
  const node = { ...changedNode(bare, change), plan: undefined };
  assert.deepEqual(
    asWrite(nextStep(situation({ arrived: [maintenance], settings: { ...marking, restartLabels: false }, node }))).change,
    {},
  );
});

test("who works on a plan for long changes it before others take it for abandoned, and wakes up for that", () => {
  const node = (plan: NodePlan) => cordonedNode(plan);
  const endless = [{ id: "term-1", kind: "termination" as const, deadline: undefined as never, hook }];
  const plan = planned({ drainSince: now - 60_000, since: now - 60_000 }, endless);
  const delayed = { ...settings, completionDelayMs: 3_600_000 };
  const drained = { ...plan, phase: "drained" as const, drainedAt: now };
  const step = nextStep(situation({ node: node(drained), settings: delayed }));
  assert.deepEqual([step.kind, step.kind === "wait" && step.until], ["wait", now + 120_000]);
  const written = asWrite(nextStep(situation({ node: node(drained), settings: delayed, now: now + 120_000 })));
  assert.deepEqual([written.plan.renewedAt, written.plan.revision, written.change, written.reports], [now + 120_000, 2, {}, []]);
  const after = nextStep(situation({ node: node(written.plan), settings: delayed, now: now + 120_000 }));
  assert.deepEqual([after.kind, after.kind === "wait" && after.until], ["wait", now + 240_000]);
});

test("a plan whose drain lies ahead is taken from nobody, dead or alive, until it is due; one with a hook to keep waiting is", () => {
  const ahead = { kind: "maintenance" as const, startTime: now + 3_600_000, deadline: now + 3_600_000 };
  const asked = (events: readonly Partial<PlannedEvent>[], at = now) =>
    nextStep(situation({ node: cordonedNode(planned({ phase: "cordoned", holder: "b" }, events)), holderAlive: false, now: at }));
  assert.equal(asked([ahead]).kind, "wait");
  assert.equal(asWrite(asked([ahead], now + 3_480_000)).plan.holder, "a");
  assert.equal(asWrite(asked([{ ...ahead, hook }])).plan.holder, "a");
  assert.equal(asWrite(asked([ahead, { id: "r", kind: "rebalance", policy: "cordon" }])).plan.holder, "a");
});

test("a plan that nobody works on and whose reason is over is not left until its drain would be due: the Node serves again", () => {
  const ahead = { id: "m", kind: "maintenance" as const, startTime: now + 86_400_000, deadline: now + 86_400_000, restarts: true };
  const node = cordonedNode(planned({ phase: "cordoned", holder: "b" }, [ahead]));
  const served = (at: PlannedNode, over: ReadonlySet<string>) => {
    const { plan: mine } = asWrite(nextStep(situation({ node: at, over })));
    return [mine.holder, asWrite(nextStep(situation({ node: { ...at, plan: mine }, over }))).change.unschedulable];
  };
  assert.deepEqual(served({ ...node, bootId: "boot-2" }, new Set()), ["a", false], "the machine was started anew before its time");
  assert.deepEqual(served(node, new Set(["m"])), ["a", false], "AWS took it back");
  assert.equal(nextStep(situation({ node, over: new Set(["m"]), holderAlive: true })).kind, "wait");
});

test("whose clock is behind that of who began a plan, or was set back, shows all the same that it works on it, and not more often", () => {
  const memory = new WorkingMemory();
  memory.attempts.set("web", { how: "evict", accepted: true, retryAt: now + 600_000 });
  const ahead = planned({ since: now + 900_000, drainSince: now + 900_000 }, [{ deadline: now + 3_600_000 }]);
  const at = (plan: NodePlan, time = now) => nextStep(situation({ node: cordonedNode(plan), pods: [pod("web")], memory, now: time }));
  const { plan } = asWrite(at(ahead));
  assert.equal(plan.renewedAt, now);
  assert.equal(at(plan).kind, "wait");
  assert.equal(asWrite(at(plan, now + 120_000)).plan.renewedAt, now + 120_000);
});
