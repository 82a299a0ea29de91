import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeView, type SeenNode } from "../../identity/node-view.ts";
import type { BindingSpec } from "./binding.ts";
import { type Backend, concernsNodes, isSuitable, resolveEndpoints, type Surroundings } from "./endpoints.ts";
import type { SeenPod } from "./pods.ts";
import { matchesSelector, selectorProblem } from "./selector.ts";
import type { SliceEndpoint } from "./slices.ts";

const meta = (name: string) => ({ name, namespace: "shop", uid: name, resourceVersion: "1", creationTimestamp: "2026-01-02T03:04:05Z" });

function node(
  name: string,
  ready: string | undefined,
  rest: { labels?: Record<string, string>; taints?: SeenNode["taints"]; providerId?: string } = {},
): SeenNode {
  const { labels = {}, taints = [], providerId = `aws:///us-east-1a/i-${name}` } = rest;
  return nodeView({
    metadata: { ...meta(name), labels },
    spec: { providerID: providerId, taints: [...taints] },
    status: { conditions: ready === undefined ? [] : [{ type: "Ready", status: ready }] },
  });
}

const pod = (name: string, on: string, containersReady = true): SeenPod => ({
  metadata: meta(name),
  ip: "",
  node: on,
  containersReady,
  graceSeconds: 30,
  ports: {},
  gates: [],
  conditions: [],
});

const nodes = [node("up", "True"), node("lost", "Unknown"), node("down", "False")];
const pods = new Map([
  ...["a", "b"].map((name) => [`shop/${name}`, pod(name, "up")] as const),
  ["shop/starting", pod("starting", "up", false)],
  ["shop/lost", pod("lost", "lost")],
  ["shop/down", pod("down", "down")],
]);

const end = (podName: string, address: string, ready: boolean, terminating = false): SliceEndpoint => ({
  address,
  ready,
  terminating,
  pod: `shop/${podName}`,
});

const backend = (type: string, ports: Backend["ports"]): Backend => ({ namespace: "shop", name: "web", type, ports });

function around(endpoints: readonly SliceEndpoint[], rest: Partial<Surroundings> = {}): Surroundings {
  return {
    service: backend("ClusterIP", [{ name: "http", port: 80, nodePort: 0 }]),
    slices: [{ addressType: "IPv4", ports: [{ name: "http", port: 8080 }], endpoints }],
    nodes,
    pod: (key) => pods.get(key),
    node: (name) => nodes.find((each) => each.metadata.name === name),
    failOpen: true,
    ...rest,
  };
}

const spec: BindingSpec = { targetType: "ip", serviceRef: { name: "web", port: 80 } };

function ids(where: Surroundings, wish: BindingSpec = spec): readonly string[] {
  const resolved = resolveEndpoints("shop", wish, where);
  assert.equal(resolved.kind, "endpoints");
  return resolved.kind === "endpoints" ? resolved.endpoints.map(({ id, port }) => `${id}:${port}`) : [];
}

test("ready endpoints are taken, and those that are ready but for us; nothing that ends, starts, or is on a node that is down", () => {
  const all = [
    end("a", "10.0.0.1", true),
    end("b", "10.0.0.2", false),
    end("b", "10.0.0.3", false, true),
    end("starting", "10.0.0.4", false),
    end("down", "10.0.0.5", false),
    end("lost", "10.0.0.6", false),
    end("unseen", "10.0.0.7", true),
  ];
  assert.deepEqual(ids(around(all)), ["10.0.0.1:8080", "10.0.0.2:8080"]);
});

test("nodes that are not heard of count where there are no others, unless that is switched off", () => {
  const lost = [end("lost", "10.0.0.6", false)];
  assert.deepEqual(ids(around(lost)), ["10.0.0.6:8080"]);
  assert.deepEqual(ids(around(lost, { failOpen: false })), []);
});

test("only slices of the family count, and only the port of the Service; an endpoint that is named twice is one", () => {
  const one = around([end("a", "10.0.0.1", true)]).slices![0]!;
  const slices = [
    { ...one, ports: [...one.ports, { name: "admin", port: 9000 }] },
    { ...one, addressType: "IPv6", endpoints: [end("b", "fd00::1", true)] },
    one,
  ];
  assert.deepEqual(ids(around([], { slices })), ["10.0.0.1:8080"]);
  assert.deepEqual(ids(around([], { slices }), { ...spec, ipAddressType: "ipv6" }), ["fd00::1:8080"]);
  const unnamed = backend("ClusterIP", [{ name: "", port: 80, nodePort: 0 }]);
  assert.deepEqual(ids(around([], { slices, service: unnamed })), ["10.0.0.1:8080", "10.0.0.1:9000"]);
});

test("a Service or port that is not there is not found; one without endpoints has none", () => {
  const why = (wish: Partial<BindingSpec>, rest: Partial<Surroundings> = {}) => {
    const resolved = resolveEndpoints("shop", { ...spec, ...wish }, around([], rest));
    return resolved.kind === "endpoints" ? resolved.endpoints : `${resolved.kind}: ${resolved.why}`;
  };
  assert.match(String(why({}, { service: undefined })), /^not-found: backend not found: .*"shop\/web" not found/);
  assert.equal(
    why({ serviceRef: { name: "web", port: "grpc" } }),
    "not-found: backend not found: unable to find port grpc on service shop/web",
  );
  assert.deepEqual(why({ serviceRef: { name: "web", port: "http" } }), []);
  assert.match(String(why({ targetType: "instance" })), /^invalid: service type must be either 'NodePort' or 'LoadBalancer'/);
});

test("instances are ready nodes that nothing excludes; if none is, those that are not heard of", () => {
  const service = backend("NodePort", [{ name: "http", port: 80, nodePort: 30080 }]);
  const instance: BindingSpec = { ...spec, targetType: "instance" };
  assert.deepEqual(ids(around([], { service }), instance), ["i-up:30080"]);
  const lost = nodes.filter(({ metadata }) => metadata.name !== "up");
  assert.deepEqual(ids(around([], { service, nodes: lost }), instance), ["i-lost:30080"]);
  assert.deepEqual(ids(around([], { service, nodes: lost, failOpen: false }), instance), []);
  const odd = resolveEndpoints(
    "shop",
    instance,
    around([], { service, nodes: [...nodes, node("odd", "True", { providerId: "eks-hybrid:///x/mi-1" })] }),
  );
  assert.match(
    odd.kind === "endpoints" ? odd.problems.join() : "",
    /Node odd is not a target: providerID "eks-hybrid:\/\/\/x\/mi-1" names no instance/,
  );
  const bad = resolveEndpoints(
    "shop",
    { ...instance, nodeSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
    around([], { service }),
  );
  assert.match(
    bad.kind === "invalid" ? bad.why : "",
    /spec\.nodeSelector: operator "Like" of a: allowed are In, NotIn, Exists, DoesNotExist/,
  );
});

test("labels and taints exclude nodes", () => {
  const labelled = (key: string, value = "") => isSuitable(node("x", "True", { labels: { [key]: value } }));
  assert.equal(labelled("team"), true);
  for (const key of [
    "node-role.kubernetes.io/master",
    "node.kubernetes.io/exclude-from-external-load-balancers",
    "alpha.service-controller.kubernetes.io/exclude-balancer",
  ])
    assert.equal(labelled(key), false, key);
  assert.equal(labelled("eks.amazonaws.com/compute-type", "fargate"), false);
  assert.equal(labelled("eks.amazonaws.com/compute-type", "ec2"), true);
  const tainted = (key: string, effect: string) => isSuitable(node("x", "True", { taints: [{ key, effect }] }));
  assert.equal(tainted("ToBeDeletedByClusterAutoscaler", "PreferNoSchedule"), false);
  assert.deepEqual([tainted("karpenter.sh/disrupted", "NoSchedule"), tainted("karpenter.sh/disrupted", "NoExecute")], [false, true]);
});

test("a Node's change concerns a binding as the matrix of suitability and readiness says", () => {
  const fit = (ready: string | undefined) => node("x", ready);
  const unfit = (ready: string | undefined) => node("x", ready, { labels: { "node-role.kubernetes.io/master": "" } });
  const cases: readonly (readonly [SeenNode | undefined, SeenNode | undefined, boolean])[] = [
    [fit("True"), fit("True"), false],
    [fit("True"), fit("Unknown"), true],
    [fit(undefined), fit("False"), false],
    [fit("True"), unfit("True"), true],
    [fit("False"), unfit("False"), false],
    [unfit("True"), fit("True"), true],
    [unfit("True"), fit("False"), false],
    [unfit("True"), unfit("False"), false],
    [undefined, fit("True"), true],
    [undefined, fit("False"), false],
    [fit("Unknown"), undefined, true],
    [undefined, unfit("True"), false],
    [unfit("True"), undefined, false],
    ...everyTransition(fit, unfit),
  ];
  for (const [before, after, concerned] of cases)
    assert.equal(concernsNodes(before, after, spec), concerned, JSON.stringify([before, after]));
});

type Made = (ready: string | undefined) => SeenNode;

/** All changes between fit and unfit, and between all that a Node can say of its readiness; saying nothing is False. */
function everyTransition(fit: Made, unfit: Made): readonly (readonly [SeenNode, SeenNode, boolean])[] {
  const says = ["True", "False", "Unknown", undefined];
  return says.flatMap((was) =>
    says.flatMap((is): readonly (readonly [SeenNode, SeenNode, boolean])[] => [
      [fit(was), fit(is), (was ?? "False") !== (is ?? "False")],
      [fit(was), unfit(is), (was ?? "False") !== "False"],
      [unfit(was), fit(is), (is ?? "False") !== "False"],
      [unfit(was), unfit(is), false],
    ]),
  );
}

test("selectors are read as Kubernetes does", () => {
  const labels = { role: "edge" };
  const one = (operator: string, ...values: readonly string[]) => ({ matchExpressions: [{ key: "role", operator, values }] });
  const matched = [{}, { matchLabels: labels }, one("In", "edge"), one("NotIn", "core"), one("Exists")].map((each) =>
    matchesSelector(each, labels),
  );
  assert.deepEqual(matched, [true, true, true, true, true]);
  const missed = [{ matchLabels: { role: "core" } }, one("In", "core"), one("NotIn", "edge"), one("DoesNotExist")].map((each) =>
    matchesSelector(each, labels),
  );
  assert.deepEqual(missed, [false, false, false, false]);
  assert.match(selectorProblem(one("In")) ?? "", /operator In of role needs values/);
  assert.match(selectorProblem(one("Exists", "x")) ?? "", /takes no values/);
});
