import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../kube/errors.ts";
import { realWorld } from "../runtime/world.ts";
import { balancerName } from "./balancers.ts";
import { cases } from "./cases.ts";
import { hasEnded, putBack } from "./cases-interruptions.ts";
import { cleanUp } from "./clean-up.ts";
import { type Context, hostOf } from "./context.ts";
import { printedReport } from "./report.ts";
import { casesNamed, deniedIn, withFreeRun } from "./run.ts";

test("cases are chosen by name, and a name that there is not is told of", () => {
  assert.equal(casesNamed([]).chosen.length, cases.length);
  assert.deepEqual(
    casesNamed(["nlb-udp", "clb-default", "nothing"]).chosen.map(({ name }) => name),
    ["clb-default", "nlb-udp"],
    "in the order of the suite",
  );
  assert.deepEqual(casesNamed(["nothing"]).unknown, ["nothing"]);
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length);
});

test("every case of the reference's suite is there, or said not to be", () => {
  const reference = [
    "clb-default",
    "clb-internal-hairpin",
    "nlb-default",
    "nlb-target-node-labels",
    "nlb-internal-hairpin",
    "nlb-own-security-group",
    "nlb-managed-to-own-group",
    "nlb-own-to-managed-group",
    "nodes-zone-id",
    "nodes-network-topology",
    "ecr-pull",
  ];
  const names = cases.map(({ name }) => name);
  assert.deepEqual(
    reference.filter((name) => !names.includes(name)),
    [],
  );
});

test("actions that were denied are found in what AWS and the controllers say", () => {
  const texts = [
    "User: arn:aws:sts::1:x is not authorized to perform: elasticloadbalancing:CreateTargetGroup on resource: *",
    "You are not authorized to perform: ec2:CreateSecurityGroup",
    "a load balancer with 2 listeners",
  ];
  assert.deepEqual(deniedIn([...texts, ...texts]), ["ec2:CreateSecurityGroup", "elasticloadbalancing:CreateTargetGroup"]);
});

test("a load balancer is named after the Service's UID, in 32 characters", () => {
  assert.equal(balancerName("0e1c2f3a-4b5c-6d7e-8f90-a1b2c3d4e5f6"), "a0e1c2f3a4b5c6d7e8f90a1b2c3d4e5f");
});

test("the report names what failed, what was denied and what is left", () => {
  const outcome = { name: "nlb-udp", checks: "a listener | for UDP", seconds: 3 };
  const about = { version: "v0.1.0", commit: "abc", server: "v1.36.3", region: "us-east-1" };
  const report = {
    run: "1c114",
    outcomes: [{ ...outcome, result: "failed" as const, why: "no\nlistener" }],
    warnings: [],
    denied: ["ec2:X"],
    left: ["load balancer a1"],
  };
  const text = printedReport(report, about, "text");
  assert.match(text, /^0 passed, 1 failed, 0 skipped\.$/m);
  assert.match(text, /^\| nlb-udp \| failed \| 3 s \| no listener \|$/m);
  assert.match(text, /^- ec2:X: see/m);
  assert.match(text, /^## LEFT BEHIND/m);
  const good = printedReport({ ...report, outcomes: [{ ...outcome, result: "passed", why: "" }], denied: [], left: [] }, about, "text");
  assert.match(good, /a listener \\\| for UDP/);
  assert.match(good, /^Nothing is left of this run\.$/m);
});

test("however much there is to tell, the report is whole, and names no account", () => {
  const about = { version: "v0.1.0", commit: "abc", server: "v1.36.3", region: "us-east-1" };
  const refused = "User: arn:aws:sts::123456789012:assumed-role/ops/me is not authorized to perform: ec2:X";
  const warnings = Array.from({ length: 300 }, (_, n) => `e2e-1c114-${n}: SyncLoadBalancerFailed: ${refused}`);
  const report = { run: "1c114", outcomes: [], warnings, denied: [], left: ["load balancer last"] };
  assert.match(printedReport(report, about, "text"), /load balancer last\n$/);
  const json = printedReport(report, about, "json");
  assert.equal(JSON.parse(json).warnings.length, warnings.length);
  assert.doesNotMatch(json, /123456789012/);
});

test("a Node is put back as it was, and what others did to it meanwhile stays", () => {
  const taint = (key: string) => ({ key, effect: "NoSchedule" });
  const before = {
    metadata: { name: "n", annotations: { other: "1" }, labels: {} },
    spec: { taints: [taint("theirs")] },
  };
  const now = {
    metadata: {
      name: "n",
      resourceVersion: "7",
      annotations: { "interruption.fairlead.io/simulate": "{}", "interruption.fairlead.io/plan": "{}", new: "1" },
      labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "aws-node-termination-handler" },
    },
    spec: { unschedulable: true, taints: [taint("theirs"), taint("aws-node-termination-handler/spot-itn"), taint("new")] },
  };
  assert.deepEqual(putBack(before, now), {
    metadata: {
      resourceVersion: "7",
      annotations: { "interruption.fairlead.io/simulate": null, "interruption.fairlead.io/plan": null },
      labels: { "node.kubernetes.io/exclude-from-external-load-balancers": null },
    },
    spec: { unschedulable: null, taints: [taint("theirs"), taint("new")] },
  });
  const excluded = { ...before, metadata: { ...before.metadata, labels: now.metadata.labels } };
  assert.deepEqual(putBack(excluded, { ...now, spec: { unschedulable: true, taints: before.spec.taints } }), {
    metadata: {
      resourceVersion: "7",
      annotations: { "interruption.fairlead.io/simulate": null, "interruption.fairlead.io/plan": null },
    },
    spec: { unschedulable: null },
  });
});

test("a drain has ended when the plan says so of this very event", () => {
  const plan = (events: readonly object[]) => JSON.stringify({ events });
  assert.equal(hasEnded(plan([{ id: "a", end: "drained" }]), "a"), true);
  assert.equal(hasEnded(plan([{ id: "a" }, { id: "b", end: "drained" }]), "a"), false);
  for (const nothing of [undefined, "", "no plan", "[]"]) assert.equal(hasEnded(nothing, "a"), false);
});

test("an address becomes part of commands and URLs only when it is a name", () => {
  assert.equal(hostOf("a1-b2.elb.us-east-1.amazonaws.com", "Service x"), "a1-b2.elb.us-east-1.amazonaws.com");
  for (const bad of ["$(reboot)", "a b", "a/b", "a:80", "-a", "a;b", "a@b"]) assert.throws(() => hostOf(bad, "Service x"), /no name/, bad);
  assert.throws(() => hostOf(undefined, "Service x"), /Service x has no address/);
});

interface Named {
  readonly plural: string;
  readonly name: string;
}

/** A run in a cluster of these objects, some of which nobody may delete, and an account without anything. */
function runIn(objects: readonly Named[], kept: readonly string[] = []): { readonly context: Context; left(): readonly string[] } {
  const there = new Set(objects);
  const signal = new AbortController().signal;
  const kube = {
    list: async ({ plural }: Named) => ({
      items: [...there].filter((each) => each.plural === plural).map(({ name }) => ({ metadata: { name, uid: `uid-${name}` } })),
    }),
    async delete({ plural }: Named, { name }: Named, { uid }: { readonly uid: string }) {
      assert.equal(uid, `uid-${name}`, "this incarnation and no other");
      if (kept.includes(name)) throw new ApiError({ reason: "forbidden", status: 403, asked: `delete ${name}`, said: "no" });
      for (const each of there) if (each.plural === plural && each.name === name) there.delete(each);
    },
  };
  const nothing = async () => [];
  const noun = { list: nothing, tagged: nothing, targetGroups: nothing };
  const cloud = { classicLoadBalancers: noun, loadBalancers: noun, securityGroups: noun, volumes: noun, snapshots: noun };
  const context = {
    ...{ kube, cloud, world: realWorld(), ask: { signal }, run: "1c114", namespace: "default", vpc: "vpc-1" },
    ...{ pollMs: 1, timeoutMs: 5, made: new Map(), undo: new Map() },
  } as object as Context;
  return { context, left: () => [...there].map(({ name }) => name) };
}

test("what cannot be deleted keeps nothing else from being deleted, and is named", async () => {
  const objects = [
    { plural: "ingresses", name: "e2e-1c114-web" },
    { plural: "services", name: "e2e-1c114-red" },
    { plural: "persistentvolumeclaims", name: "e2e-1c114-data" },
    { plural: "storageclasses", name: "e2e-1c114-life" },
  ];
  const { context, left } = runIn(objects, ["e2e-1c114-web"]);
  const named = await cleanUp(context);
  assert.deepEqual(left(), ["e2e-1c114-web"]);
  assert.equal(named[0], "Ingress e2e-1c114-web");
  const all = runIn(objects);
  assert.deepEqual(await cleanUp(all.context), []);
  assert.deepEqual(all.left(), []);
});

test("what has to be put back and cannot be is named", async () => {
  const { context } = runIn([]);
  context.undo.set("Node n as it was", () => Promise.reject(new Error("forbidden")));
  assert.deepEqual(await cleanUp(context), ["not put back: Node n as it was", "put back Node n as it was: after 0 s: forbidden"]);
});

test("a run takes no id whose things are there already", async () => {
  const taken = runIn([{ plural: "services", name: "e2e-1c114-red" }]).context;
  const free = runIn([]).context;
  const offered = [taken, taken, free];
  assert.equal(await withFreeRun(() => offered.shift()!), free);
  await assert.rejects(
    withFreeRun(() => taken),
    /another run that is also called 1c114: Service e2e-1c114-red/,
  );
});
