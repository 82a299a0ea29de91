import assert from "node:assert/strict";
import { test } from "node:test";
import { planJson } from "../../aws/plan.ts";
import { groupNameOf, planBinding, splitSurplus } from "./binding-plan.ts";
import type { Endpoint } from "./endpoints.ts";
import { pollMs, verdictOf } from "./gates.ts";
import { matchTargets, type SeenTarget } from "./group-targets.ts";
import { groupOf, rulesFor } from "./networking.ts";
import { bindingsOf, podState } from "./pods.ts";

const end = (id: string): Endpoint => ({ id, port: 80, createdAt: 0 });
const seen = (id: string, state = "healthy"): SeenTarget => ({ id, port: 80, state, reason: "", description: "" });
const group = { arn: "arn:aws:elasticloadbalancing:us-east-1:1:targetgroup/web/0123", name: "web", service: "shop/web" };

test("a target on its way out is gone, and registered again if it is wanted", () => {
  const { matched, missing, surplus } = matchTargets(
    [end("a"), end("b"), end("c")],
    [seen("a"), seen("b", "draining"), seen("d"), seen("e", "unhealthy.draining")],
  );
  assert.deepEqual([matched.map(([{ id }]) => id), missing.map(({ id }) => id), surplus.map(({ id }) => id)], [["a"], ["b", "c"], ["d"]]);
  const quic = { ...end("a"), quicServerId: "0x01" };
  assert.equal(matchTargets([quic], [seen("a")]).missing.length, 1, "another server id is another target");
});

test("registration comes first, two hundred a call, with the zone of those outside the VPC", () => {
  const steps = planBinding(
    group,
    Array.from({ length: 201 }, (_, i) => end(`10.0.0.${i}`)),
    [{ ...seen("x"), zone: "us-east-1a" }],
    ({ id }) => (id === "10.0.0.0" ? "all" : undefined),
  );
  const inputs = planJson(steps) as { action: string; input: { Targets: readonly object[] } }[];
  assert.deepEqual(
    inputs.map(({ action, input }) => [action, input.Targets.length]),
    [
      ["elbv2:RegisterTargets", 200],
      ["elbv2:RegisterTargets", 1],
      ["elbv2:DeregisterTargets", 1],
    ],
  );
  assert.deepEqual(inputs[0]?.input.Targets[0], { Id: "10.0.0.0", Port: 80, AvailabilityZone: "all" });
  assert.deepEqual(inputs[2]?.input.Targets, [{ Id: "x", Port: 80, AvailabilityZone: "us-east-1a" }]);
  assert.deepEqual(
    planBinding(group, [], [], () => undefined),
    [],
  );
  assert.equal(groupNameOf(group.arn), "web");
});

test("what serves waits for those that are starting, and for nobody else", () => {
  const held = (endpoints: readonly Endpoint[], targets: readonly SeenTarget[], waits = true) =>
    splitSurplus(matchTargets(endpoints, targets), ({ id }) => waits && id.startsWith("old")).held.map(({ id }) => id);
  assert.deepEqual(held([end("new")], [seen("old"), seen("gone")]), ["old"], "not registered yet");
  assert.deepEqual(held([end("new")], [seen("old"), seen("new", "initial")]), ["old"]);
  assert.deepEqual(held([end("new")], [seen("old"), seen("new")]), [], "healthy");
  assert.deepEqual(held([end("new")], [seen("old"), seen("new", "unused")]), [], "nothing forwards to the group");
  assert.deepEqual(held([end("new")], [seen("old"), seen("new", "unhealthy")]), [], "it would wait for ever");
  assert.deepEqual(held([], [seen("old")]), [], "it has no successor");
  assert.deepEqual(held([end("new")], [seen("old")], false), [], "it has waited long enough");
});

test("a gate says what AWS says", () => {
  assert.deepEqual(verdictOf(seen("a")), { status: "True", reason: "", message: "" });
  const failing = { ...seen("a", "unhealthy"), reason: "Target.FailedHealthChecks", description: "Health checks failed" };
  assert.deepEqual(verdictOf(failing), { status: "False", reason: "Target.FailedHealthChecks", message: "Health checks failed" });
  assert.equal(verdictOf(undefined).reason, "Elb.RegistrationInProgress");
  assert.equal(verdictOf(seen("a", "")).status, "Unknown");
});

test("HTTP is asked about sooner than TCP, and whoever has waited long less often", () => {
  const pauses = (protocol: string) => [0, 60_000, 3_600_000].map((waited) => pollMs(protocol, waited));
  assert.deepEqual(
    [pauses("HTTP"), pauses("TCP")],
    [
      [3_000, 7_500, 30_000],
      [10_000, 10_000, 30_000],
    ],
  );
});

const pod = (rest: object) =>
  podState({ metadata: { name: "p", namespace: "shop", uid: "p", resourceVersion: "1" }, ...rest } as Parameters<typeof podState>[0], "ID");

test("of a pod only what is read is kept: gates that name a binding, named ports, its own interface", () => {
  const gates = [
    "target-health.elbv2.k8s.aws/web",
    "target-health.alb.ingress.k8s.aws/web",
    "target-health.elbv2.k8s.aws/",
    "target-health.elbv2.k8s.aws/No!",
    "other/x",
  ];
  const kept = pod({
    spec: {
      readinessGates: gates.map((conditionType) => ({ conditionType })),
      containers: [{ ports: [{ name: "web", containerPort: 80 }, { containerPort: 81 }] }],
      initContainers: [
        { restartPolicy: "Always", ports: [{ name: "side", containerPort: 82 }] },
        { ports: [{ name: "init", containerPort: 83 }] },
      ],
    },
    status: { podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
  });
  assert.deepEqual([kept.ports, kept.conditions, kept.containersReady], [{ web: 80, side: 82 }, [], false]);
  assert.deepEqual(bindingsOf(kept), ["shop/web"]);
  const annotated = (text: string) =>
    pod({
      metadata: { name: "p", uid: "p", resourceVersion: "1", annotations: { "vpc.amazonaws.com/pod-eni": text } },
      status: { podIP: "fd00::1" },
    }).eni;
  assert.equal(annotated('[{"eniId":"eni-1","privateIp":"10.0.0.1"},{"eniId":"eni-2","ipv6Addr":"fd00::1"}]'), "eni-2");
  for (const text of ["[", "{}", "[null]", '[{"eniId":7,"ipv6Addr":"fd00::1"}]']) assert.equal(annotated(text), undefined, text);
});

test("ports by name are those of the pods behind a group; what cannot be is named, and the rest is let in", () => {
  const named = (port: number): Endpoint => ({ ...end("a"), pod: { ...pod({}), ports: { web: port } } });
  const peer = { ipBlock: { cidr: "10.0.0.0/8" } };
  const ingress = [
    { from: [peer], ports: [{ port: "web" }, { port: "admin" }, {}] },
    { from: [{ ipBlock: { cidr: "all" } }], ports: [{ port: 1 }] },
  ];
  const { rules, problems } = rulesFor({ targetType: "ip", networking: { ingress } }, [named(8080), named(8081), named(8080)]);
  assert.deepEqual(
    rules.map(({ fromPort, toPort }) => [fromPort, toPort]),
    [
      [8080, 8080],
      [8081, 8081],
      [0, 65_535],
    ],
  );
  assert.deepEqual(
    problems.map((text) => /port named admin|"all" is not a CIDR block/.test(text)),
    [true, true],
  );
  assert.match(
    rulesFor({ targetType: "instance", networking: { ingress } }, [end("i-1")]).problems[0] ?? "",
    /only be used with pod endpoints/,
  );
});

test("of several groups of an interface the one that is the cluster's is taken, if it is one", () => {
  const known = (id: string, tags: Record<string, string>) => ({ id, name: id, vpc: "vpc-1", tags, sources: [], descriptions: [] });
  const parts = { clusterTag: "kubernetes.io/cluster/test", groupTags: { team: "a" } };
  const choose = (...groups: readonly ReturnType<typeof known>[]) =>
    groupOf({ id: "eni-1", groups: groups.map(({ id }) => id) }, groups, parts);
  assert.deepEqual(choose(known("sg-1", {})), { id: "sg-1" }, "the only one is it, whatever its tags");
  const own = known("sg-1", { "kubernetes.io/cluster/test": "owned", team: "a" });
  assert.deepEqual(choose(own, known("sg-2", { "kubernetes.io/cluster/test": "owned" })), { id: "sg-1" });
  assert.match(
    JSON.stringify(choose(own, { ...own, id: "sg-3" })),
    /expected exactly one securityGroup tagged with .* for eni eni-1, got: \[sg-1 sg-3\]/,
  );
});
